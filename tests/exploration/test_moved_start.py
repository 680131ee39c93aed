"""Gradients that are 0 behind parameters of zeros, and what another start shows of them."""

import msgspec
import numpy as np
import pytest

from explorer.exploration.explore import hiding, seen, without_zeros
from explorer.exploration.outcomes import abridged
from explorer.model.arrays import LARGE, AnyArray, pack, unpack
from explorer.model.cases import GradCase
from explorer.model.findings import ZeroGradients
from explorer.model.report import CaseVerdict, Report
from explorer.model.requests import NetRequest
from explorer.model.trees import branch
from explorer.scenario.common_start import Nets
from tests.support import sample_report as sample
from tests.support.results import answer

ZERO, ONE = np.zeros(3, np.float32), np.ones(3, np.float32)
MAIN = GradCase("grad", 0)
GRADIENTS = branch("da", "db")


def nets(**parameters: AnyArray) -> Nets:
    start = {name: pack(array) for name, array in parameters.items()}
    request = NetRequest(scenario="", engine="torch-tape", parameters=start)
    return Nets({"torch-tape": request}, start, tuple(start), 1, False, {})


def report(*gradients: tuple[AnyArray, AnyArray], verdict: CaseVerdict = "match") -> Report:
    """A report on one case with the gradients of a and b of each engine."""
    results = {
        f"engine {place}": answer(*arrays, structure=GRADIENTS)
        for place, arrays in enumerate(gradients)
    }
    case = msgspec.structs.replace(sample.case_report(MAIN), results=results, verdict=verdict)
    return msgspec.structs.replace(sample.report(), cases=(case,))


def test_gradients_of_zeros_are_named_where_a_parameter_starts_as_zeros() -> None:
    at_zero = report((ZERO, ONE), (ZERO, ONE))
    assert hiding(at_zero, MAIN, nets(a=ONE, b=ZERO)) == ZeroGradients(("a",), ("b",))
    assert hiding(at_zero, MAIN, nets(a=ONE, b=ONE)) is None
    assert hiding(report((ONE, ONE), (ONE, ONE)), MAIN, nets(a=ONE, b=ZERO)) is None
    # Other cases have an answer of their own.
    other = msgspec.structs.replace(at_zero.cases[0], case=GradCase("grad", 1), verdict="differs")
    both = msgspec.structs.replace(at_zero, cases=(*at_zero.cases, other))
    assert hiding(both, MAIN, nets(a=ONE, b=ZERO)) == ZeroGradients(("a",), ("b",))
    # What is 0 in one engine alone is a difference, which the verdict says.
    assert hiding(report((ZERO, ONE), (ONE, ONE)), MAIN, nets(a=ONE, b=ZERO)) is None
    assert hiding(report((ZERO, ONE), verdict="differs"), MAIN, nets(a=ONE, b=ZERO)) is None


@pytest.mark.parametrize("number", [0.0, 1.0, np.nan])
def test_a_large_gradient_is_known_by_its_figures(number: float) -> None:
    large = np.full(LARGE + 1, number, np.float32)
    whole = report((large, ONE))
    brief = msgspec.structs.replace(whole, cases=tuple(map(abridged, whole.cases)))
    assert (hiding(brief, MAIN, nets(a=ONE, b=ZERO)) is None) == bool(number)


def test_the_other_start_is_that_of_every_engine_and_has_no_zeros() -> None:
    moved = without_zeros(nets(a=ONE, b=ZERO), ("b",))
    start = {name: unpack(array) for name, array in moved.parameters.items()}
    assert np.array_equal(start["a"], ONE)
    assert start["b"].all()
    assert start["b"].dtype == ZERO.dtype
    assert moved.requests["torch-tape"].parameters == moved.parameters


def test_what_is_0_from_the_other_start_too_is_not_hidden_by_zeros() -> None:
    hidden = ZeroGradients(("a", "b"), ("b",))
    (finding,) = seen(hidden, report((ZERO, ONE), (ZERO, ONE)), MAIN)
    assert finding.fact == ZeroGradients(("b",), ("b",), agree_elsewhere=True)
    assert seen(hidden, report((ZERO, ZERO)), MAIN) == ()
    (differs,) = seen(hidden, report((ONE, ONE), verdict="differs"), MAIN)
    assert differs.fact == hidden
