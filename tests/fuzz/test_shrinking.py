"""A net is cut down to what shows the mistake, and no further."""

from random import Random

import pytest

from explorer.fuzz.program import Program, drawn, scenario_text
from explorer.fuzz.search import LOOKS, candidates, neighbours, shrunk
from tests.support.programs import program, step


def uses(operator: str) -> object:
    def shows(net: Program) -> bool:
        """Whether the operator is in the net."""
        return operator in net.operators

    return shows


LONG = program(
    step("t0", "sin", "a"),
    step("t1", "cos", "t0"),
    step("t2", "tanh", "t1"),
    step("t3", "exp", "t2"),
    step("t4", "mul", "t3", "t0"),
    dtype="float64",
    order=2,
    results={"t4": "squares"},
)


@pytest.mark.parametrize("operator", ["sin", "cos", "tanh", "exp", "mul"])
def test_one_operator_is_left_where_one_is_to_blame(operator: str) -> None:
    small = shrunk(LONG, uses(operator))  # type: ignore[arg-type]
    assert small.operators == (operator,)
    assert (small.dtype, small.order) == ("float32", 1)
    assert set(small.results.values()) == {"sum"}


def test_what_only_two_together_show_keeps_both() -> None:
    def shows(net: Program) -> bool:
        """Whether tanh is somewhere behind sin."""
        names = list(net.operators)
        return "sin" in names and "tanh" in names and names.index("sin") < names.index("tanh")

    small = shrunk(LONG, shows)
    assert small.operators == ("sin", "tanh")


def test_what_a_dtype_or_an_order_shows_keeps_it() -> None:
    assert shrunk(LONG, lambda net: net.dtype == "float64").dtype == "float64"
    assert shrunk(LONG, lambda net: net.order == 2).order == 2


def test_nothing_smaller_shows_it_and_the_net_stays() -> None:
    seen = []

    def shows(net: Program) -> bool:
        """Never; it counts."""
        seen.append(net)
        return False

    assert shrunk(LONG, shows) is LONG
    assert 0 < len(seen) <= LOOKS


def test_every_candidate_is_a_net_that_can_be_written() -> None:
    for number in range(15):
        net = drawn(Random(f"shrink/{number}"))
        for candidate in candidates(net):
            assert candidate != net
            known = set(candidate.inputs)
            for each in candidate.steps:
                assert known.issuperset(each.operands)
                known.add(each.name)
            assert known.issuperset(candidate.results)
            assert set(candidate.inputs) == set(candidate.values)
            compile(scenario_text(candidate, "t", ""), "net.py", "exec")


def test_neighbours_are_as_far_as_a_hundredth_and_no_further() -> None:
    points = list(neighbours(LONG, 20))
    moved = []
    for net in points:
        assert net.steps == LONG.steps
        for value, near in zip(LONG.values["a"], net.values["a"], strict=True):
            moved.append(abs(near / value - 1))
    assert len({net.values["a"] for net in points}) == 20
    assert min(moved) > 0
    # They are not only a step of rounding away.
    assert 0.005 < max(moved) <= 0.01
