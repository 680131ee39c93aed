"""What is recorded of the changes that were tried at an op."""

import numpy as np
import pytest

from explorer.compare.causes.candidates import Suspect
from explorer.compare.causes.choice import FEW, attempts_at, cause_of, joined
from explorer.compare.graphs.sameness import is_telling
from explorer.model.arrays import AnyArray
from explorer.model.causes import (
    Edit,
    FromNode,
    ReplaceOperator,
    Rewire,
    SetArguments,
    Trial,
    Tried,
)
from tests.compare.test_causes import LEFT, OTHER, OWN, RIGHT, arguments_of, output, suspect, tried
from tests.support.written_nets import net


def test_changes_that_do_not_give_the_other_value_are_kept_the_nearest_first() -> None:
    farther, nearer = OTHER + np.float32(0.3), OTHER + np.float32(0.1)
    made = attempts_at(suspect(), tried(eps=farther, momentum=nearer), LEFT)
    assert made.tried == len(suspect().trials) - 1
    edits = [edit for it in made.nearest for edit in it.edits if isinstance(edit, SetArguments)]
    assert [list(edit.arguments) for edit in edits] == [["momentum"], ["eps"]]
    assert [it.apart for it in made.nearest] == pytest.approx([0.1, 0.3], rel=1e-5)
    assert made.fitting == ()
    assert cause_of(suspect(), tried(eps=farther, momentum=nearer), LEFT, RIGHT) is None


def test_changes_without_any_effect_and_those_of_one_effect_are_not_repeated() -> None:
    made = attempts_at(suspect(), tried(), LEFT)
    assert (made.nearest, made.fitting, made.is_repeated) == ((), (), True)


def test_a_change_that_gives_the_other_value_is_kept_apart_and_so_are_not_those_that_hold_it() -> (
    None
):
    outputs = [
        (output(OTHER if arguments_of(trial).get("eps") == 1e-3 else OWN),)
        for trial in suspect().trials
    ]
    made = attempts_at(suspect(), Tried(tuple(outputs)), LEFT)
    edits = (SetArguments(own={"eps": 1e-5}, arguments={"eps": 1e-3}),)
    assert [(it.op, it.edits) for it in made.fitting] == [(suspect().node.op, edits)]


@pytest.mark.parametrize(("left_over", "is_near"), [(0.49, True), (0.51, False)])
def test_a_change_that_undoes_less_than_half_of_the_difference_is_not_near(
    left_over: float, is_near: bool
) -> None:
    almost = OTHER + np.float32(left_over) * (OWN - OTHER)
    made = attempts_at(suspect(), tried(eps=almost), LEFT)
    assert bool(made.nearest) == is_near


def test_what_raised_is_counted() -> None:
    same, *others = tried().outputs
    made = attempts_at(suspect(), Tried((same, (), *others[1:])), LEFT)
    assert made.not_computed == 1


def test_nothing_follows_where_the_op_does_not_give_its_own_value_again() -> None:
    outputs = [(output(OTHER),) for _ in suspect().trials]
    made = attempts_at(suspect(), Tried(tuple(outputs)), LEFT)
    assert (made.is_repeated, made.fitting, made.nearest) == (False, (), ())


def test_only_a_few_are_kept() -> None:
    outputs = [
        (output(OTHER + np.float32(place / 100) if place else OWN),)
        for place, _ in enumerate(suspect().trials)
    ]
    assert len(attempts_at(suspect(), Tried(tuple(outputs)), LEFT).nearest) == FEW


def test_what_was_tried_on_both_sides_is_one_list_and_what_tells_nothing_is_left_out() -> None:
    near, far = tried(eps=OTHER + np.float32(0.1)), tried(eps=OTHER + np.float32(0.3))
    one, other = (attempts_at(suspect(), made, LEFT) for made in (far, near))
    silent = attempts_at(suspect(), Tried(tuple((output(OTHER),) for _ in suspect().trials)), LEFT)
    both = joined([silent, one, other])
    assert both
    assert both.is_repeated
    assert both.tried == one.tried + other.tried
    assert [it.apart for it in both.nearest] == pytest.approx([0.1, 0.3], rel=1e-5)
    assert joined([silent]) == silent
    assert joined([]) is None


@pytest.mark.parametrize(
    ("edit", "is_other"),
    [
        (ReplaceOperator(node="n1", op="Sin"), True),
        (Rewire(node="n1", slots=(0,), source=FromNode("n0")), True),
        (SetArguments(node="n1", arguments={"dim": 0}), False),
    ],
)
@pytest.mark.parametrize(
    ("target", "is_varied"),
    [(np.zeros(3), False), (np.zeros(1), False), (np.ones(1), True), (OTHER, True)],
)
def test_another_op_or_input_that_gives_zeros_alone_explains_nothing(
    edit: Edit, is_other: bool, target: AnyArray, is_varied: bool
) -> None:
    graph = net("torch-tape", "out = Tanh @1: np.tanh(x)")
    node, own = graph.nodes[1], output(OWN[: target.size])
    trials = Trial(("n1",)), Trial(("n1",), (edit,))
    suspect = Suspect("left", node, node, own, output(target.astype(np.float32)), trials)
    tried = Tried(((own,), (suspect.target,)))
    is_explained = is_varied or not is_other
    assert bool(cause_of(suspect, tried, graph, graph)) is is_explained
    attempts = attempts_at(suspect, tried, graph)
    assert (len(attempts.fitting), attempts.not_computed) == (is_explained, not is_explained)


@pytest.mark.parametrize(
    ("numbers", "is_one"),
    [([0.0], False), ([0.5], True), ([0.0, 0.0], False), ([2.0, 2.0], False), ([0.0, 1.0], True)],
)
def test_one_zero_says_nothing_and_one_other_number_does(
    numbers: list[float], is_one: bool
) -> None:
    assert is_telling(output(np.array(numbers, np.float32))) is is_one
