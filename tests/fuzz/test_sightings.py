"""What is seen of a report on a net, and who is to blame for it."""

import msgspec
import pytest

from explorer.compare.results.verdicts import judge
from explorer.fuzz.sightings import seen
from explorer.model.arrays import pack, unpack
from explorer.model.cases import GradCase
from explorer.model.failures import Failure
from explorer.model.fuzz import Sighting
from explorer.model.report import CaseReport, Report
from explorer.model.results import OracleResult, Result
from tests.support.sample_report import case_report, report


def report_on(case: CaseReport) -> Report:
    """A report on a case, in which all graphs are there and alike."""
    return msgspec.structs.replace(report(), cases=(case,), ungraphed={}, alignments=())


@pytest.mark.parametrize(
    ("factor", "confirmed", "blamed"),
    [
        # An oracle that contradicts everybody leaves the one that is apart from all others.
        (7, (False, False), ("torch-tape",)),
        # Whom it alone contradicts is to blame, however many they are.
        (2, (False, True), ("mindspore-graph", "mindspore-tape", "torch-graph")),
    ],
)
def test_an_oracle_says_who_is_to_blame_where_it_confirms_somebody(
    factor: float, confirmed: tuple[bool, bool], blamed: tuple[str, ...]
) -> None:
    case = case_report(GradCase("grad", 0), wrong="torch-tape", factor=2.0)
    elsewhere = []
    for estimate in case.oracle.estimates:
        value = pack(unpack(estimate.value) * factor)
        elsewhere.append(msgspec.structs.replace(estimate, value=value))
    case = judge(case.case, case.results, OracleResult("ok", tuple(elsewhere)))
    assert tuple(group.oracle_agrees for group in case.groups) == confirmed
    assert seen(report_on(case)) == Sighting("differs", blamed, leaf="dx")


@pytest.mark.parametrize("of_torch_tape", [None, True])
def test_who_differs_from_whom_the_oracle_confirms_is_to_blame_even_if_it_does_not_contradict_him(
    of_torch_tape: bool | None,
) -> None:
    case = case_report(GradCase("grad", 0), wrong="torch-tape", factor=2.0)
    groups = []
    for group in case.groups:
        agrees = of_torch_tape if "torch-tape" in group.engines else True
        groups.append(msgspec.structs.replace(group, oracle_agrees=agrees))
    case = msgspec.structs.replace(case, groups=tuple(groups))
    assert seen(report_on(case)) == Sighting("differs", ("torch-tape",), leaf="dx")


@pytest.mark.parametrize(
    ("unjudged", "blamed"),
    [
        (("mindspore-tape", "jax-tape"), ("torch-tape", "torch-graph")),
        (("mindspore-graph", "mindspore-tape"), ("mindspore-graph", "mindspore-tape")),
        (("jax-tape", "jax-graph"), ("jax-tape", "jax-graph")),
    ],
)
def test_where_nets_compute_other_values_those_of_most_frameworks_are_right(
    unjudged: tuple[str, ...], blamed: tuple[str, ...]
) -> None:
    case = case_report(GradCase("grad", 0))
    (result, *_) = case.results.values()
    doubled = [
        msgspec.structs.replace(leaf, value=pack(unpack(leaf.value) * 2)) for leaf in result.leaves
    ]
    other = msgspec.structs.replace(result, leaves=tuple(doubled))
    results = dict.fromkeys(("torch-tape", "torch-graph"), result)
    results.update(dict.fromkeys(unjudged, other))
    case = judge(case.case, results, case.oracle)
    groups = [
        msgspec.structs.replace(
            group, oracle_agrees=True if "torch-tape" in group.engines else None
        )
        for group in case.groups
    ]
    case = msgspec.structs.replace(case, groups=tuple(groups))
    assert seen(report_on(case)) == Sighting("differs", blamed, leaf="dx")


def test_an_engine_that_raises_comes_before_an_oracle_that_disagrees() -> None:
    case = case_report(GradCase("grad", 0))
    raises = Result(outcome="raised", error=Failure("ValueError", "no"))
    results = {**case.results, "torch-graph": raises}
    case = msgspec.structs.replace(case, results=results, verdict="some_raise", oracle_agrees=False)
    assert seen(report_on(case)) == Sighting("raises", ("torch-graph",), ("ValueError: no",))


def test_a_framework_whose_forward_raises_is_refused_and_no_finding() -> None:
    case = case_report(GradCase("grad", 0))
    raises = Result(outcome="raised", error=Failure("TypeError", "no such operator"))
    both = dict.fromkeys(("mindspore-graph", "mindspore-tape"), raises)
    stopped = msgspec.structs.replace(case, results={**case.results, **both}, verdict="some_raise")
    sighting = seen(report_on(stopped))
    assert (sighting.kind, sighting.errors) == ("refused", ("no such operator",))
    # The same of calls that were made is a finding.
    called = msgspec.structs.replace(raises, code="ms.grad(net, 0)(x)")
    both = dict.fromkeys(both, called)
    stopped = msgspec.structs.replace(case, results={**case.results, **both}, verdict="some_raise")
    assert seen(report_on(stopped)).kind == "raises"
