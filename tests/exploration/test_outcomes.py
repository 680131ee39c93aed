"""The outcomes of an exploration's jobs, as a report holds them."""

import numpy as np

from explorer.exploration.jobs import JobKey, Jobs
from explorer.exploration.outcomes import Outcomes
from explorer.model.arrays import pack
from explorer.model.cases import GradCase
from explorer.model.requests import CaseRequest, NetRequest
from explorer.model.results import Estimate, OracleResult
from explorer.scenario.common_start import Nets
from explorer.workers.queue import Job

CASE = GradCase("grad", 0)


def test_the_first_net_is_one_of_which_the_oracle_has_estimates() -> None:
    nets = Nets({}, {}, (), 1, False, {})
    outcomes = Outcomes(Jobs(nets=nets, main=CASE, most=CASE, referees=("torch", "jax")))
    failed = OracleResult("timed_out", framework="torch")
    answered = OracleResult("ok", (Estimate("dx", pack(np.ones(2))),), framework="jax")
    request = CaseRequest(NetRequest(scenario="", engine="oracle", parameters={}), CASE)
    for answer in (failed, answered):
        key = JobKey("estimate", f"{answer.framework}-tape", CASE)
        job = Job(key, "", (), "", request, OracleResult)
        outcomes.expect([job])
        outcomes.note(key, answer)
    assert outcomes.estimate(CASE) == answered
