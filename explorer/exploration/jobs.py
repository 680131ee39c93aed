"""The jobs of an exploration: cases for the engines and the oracle, and one case's captures."""

from collections.abc import Collection, Iterable

import msgspec

from explorer.model.cases import GradCase
from explorer.model.engines import ENGINES
from explorer.model.requests import CaseRequest, ProofScope
from explorer.model.results import Captured, OracleResult, Result
from explorer.scenario.settling import Nets
from explorer.workers.queue import Job

ORACLE_STAGE = "central differences"
GRAPHS_STAGE = "graphs"
"""The stages of the oracle's work and of the captures; an engine's answers go by its name."""

COMPILED = "mindspore-graph"
"""The engine whose compiler takes gigabytes for a net of thousands of nodes."""

# A framework whose worker was lost at the first look is asked nothing more: a net that kills its
# worker, or outlives its time, would do so once a case. All its answers are that first loss.


def questions(
    nets: Nets,
    cases: Iterable[GradCase],
    *,
    named: Collection[GradCase],
    has_oracle: bool,
    shared: bool = True,
) -> list[Job]:
    """Each case to every engine, and to the oracle, one case after another.

    Those ``named`` alone are asked of a compiled net with ``return_ids=True`` too. An engine's cases
    are ``shared`` among its workers, or the first of these alone gets them.
    """
    jobs = []
    for case in cases:
        jobs += _answers(nets, case, case in named, shared)
        if has_oracle and "torch" not in nets.lost:
            jobs.append(_estimate(nets, case))
    return jobs


def _answers(nets: Nets, case: GradCase, is_named: bool, shared: bool) -> list[Job]:
    jobs = []
    for name, net in nets.requests.items():
        engine = ENGINES[name]
        if engine.framework in nets.lost:
            continue
        jobs.append(
            Job(
                key=("answer", name, case),
                stage=name,
                kinds=engine.answers_in if shared else engine.answers_in[:1],
                target=f"{engine.module}:answer",
                request=CaseRequest(net, case, ids=is_named or name != COMPILED),
                reply=Result,
                compiles=name == COMPILED,
                isolated=True,
            )
        )
    return jobs


def _estimate(nets: Nets, case: GradCase) -> Job:
    """The oracle's job, which runs PyTorch's net on the CPU whatever the device."""
    # Any engine's request will do: they start alike.
    any_net = next(iter(nets.requests.values()))
    net = msgspec.structs.replace(any_net, engine="torch-tape", device="cpu")
    return Job(
        key=("estimate", case),
        stage=ORACLE_STAGE,
        kinds=("torch",),
        target="explorer.engines.oracle:estimate",
        request=CaseRequest(net, case),
        reply=OracleResult,
        isolated=True,
    )


def captures(nets: Nets, case: GradCase, prove: ProofScope = "small") -> list[Job]:
    """One case's graphs, of every engine; ``prove`` says which have their values proven."""
    jobs = []
    for name, net in nets.requests.items():
        engine = ENGINES[name]
        if engine.framework in nets.lost:
            continue
        jobs.append(
            Job(
                key=("capture", name),
                stage=GRAPHS_STAGE,
                kinds=(engine.captures_in,),
                target=f"{engine.module}:capture",
                request=CaseRequest(net, case, prove=prove),
                reply=Captured,
                compiles=name == COMPILED,
                isolated=True,
            )
        )
    return jobs
