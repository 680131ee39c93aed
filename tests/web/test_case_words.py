"""What the app says of cases reads in English as every other face says it."""

import msgspec
import pytest

from explorer.model.engines import ENGINES
from explorer.model.report import CaseReport, Report
from explorer.model.results import Result
from explorer.report.scenario import wording
from explorer.report.scenario.overview import overview
from explorer.web.case_words import described, greatest, oracle_summary, summary, who
from tests.support.sample_report import DIVERGENCE, alignment, report

PARTED = alignment("mindspore-graph", "torch-tape", DIVERGENCE)


def of_one_framework() -> CaseReport:
    """A case to which PyTorch's engines have no answer."""
    case = report().cases[6]
    torch = dict.fromkeys(("torch-tape", "torch-graph"), Result(outcome="timed_out"))
    return msgspec.structs.replace(case, results={**case.results, **torch})


REPORTS = {
    "as foreseen": report(),
    "unexpected": report(unexpected=True),
    "one case": msgspec.structs.replace(report(), cases=report().cases[:1]),
    "nothing compared": msgspec.structs.replace(report(), cases=report().cases[:2]),
    "one framework": msgspec.structs.replace(report(), cases=(of_one_framework(),)),
    "graphs part": msgspec.structs.replace(report(), alignments=(PARTED,)),
    "two pairs part": msgspec.structs.replace(report(), alignments=(PARTED, PARTED)),
}


@pytest.mark.parametrize("whole", REPORTS.values(), ids=list(REPORTS))
def test_a_report_is_summed_up_as_everywhere(whole: Report) -> None:
    assert summary(whole) == overview(whole).summary
    assert oracle_summary(whole.cases) == overview(whole).oracle_summary


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_engines_are_named_as_everywhere(count: int) -> None:
    names = tuple(ENGINES)
    for start in range(len(names)):
        some = tuple(sorted((names * 2)[start : start + count]))
        assert who(some, names) == wording.who(some, names)


def test_a_difference_is_told_in_a_table_as_everywhere() -> None:
    for whole in (report(), report(unexpected=True)):
        for case in whole.cases:
            assert greatest(case.greatest) == wording.greatest(case.greatest)
            if case.greatest:
                noisy = msgspec.structs.replace(case.greatest, noise=1e-6, ratio=240.0)
                assert greatest(noisy) == wording.greatest(noisy)


def test_a_difference_names_its_place_its_size_and_its_engines() -> None:
    found = [case.greatest for case in report(unexpected=True).cases if not case.expected]
    assert found
    for difference in found:
        assert difference is not None
        told = described(difference)
        assert difference.leaf in told
        assert all(engine in told for engine in difference.engines)
        assert f"{difference.abs:.3g}" in told
