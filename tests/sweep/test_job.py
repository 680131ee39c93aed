"""The row that tells a scenario's report."""

import msgspec
import pytest

from explorer.model.results import Failure, Outcome
from explorer.sweep.job import row_of_report
from explorer.sweep.records import SweepJob
from tests.support.sample_report import report

JOB = SweepJob(scenario="dense_mse", file="dense_mse.py", timeout=60)


@pytest.mark.parametrize(
    ("outcome", "is_unanswered"),
    [
        ("crashed", True),
        ("timed_out", True),
        ("not_asked", True),
        ("raised", False),
        ("unsupported", False),
        ("not_defined", False),
    ],
)
def test_a_case_that_an_engine_was_asked_in_vain_is_named(
    outcome: Outcome, is_unanswered: bool
) -> None:
    whole = report(foreseen=False)
    case = whole.cases[6]
    result = msgspec.structs.replace(
        case.results["torch-tape"], outcome=outcome, error=Failure("Lost", "signal 11")
    )
    changed = msgspec.structs.replace(case, results={**case.results, "torch-tape": result})
    cases = (*whole.cases[:6], changed, *whole.cases[7:])
    row = row_of_report(msgspec.structs.replace(whole, cases=cases), JOB, from_store=False)
    assert row.unanswered == ((case.case.label,) if is_unanswered else ())
    assert row_of_report(whole, JOB, from_store=False).unanswered == ()
