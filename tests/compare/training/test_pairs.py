"""Planted mistakes in trainings: which step, quantity and rule are named; and right pairs."""

import msgspec
import pytest

from benchmarks.trainings import is_as_expected
from explorer.compare.training.comparison import compare
from explorer.model.training import Training, TrainingStep
from tests.compare.training.conftest import Pairs, sampled
from tests.planted.trainings.library import MISTAKES, RIGHT
from tests.support.narrowing import present

pytestmark = [pytest.mark.torch, pytest.mark.mindspore]

EVERY = {pair.name: pair for pair in (*MISTAKES, *RIGHT)}


@pytest.mark.parametrize("name", sampled(pair.name for pair in MISTAKES))
def test_a_planted_mistake_is_named_from_either_side(name: str, pairs: Pairs) -> None:
    for sides in (pairs[name], pairs[name][::-1]):
        comparison = compare(*sides)
        assert is_as_expected(EVERY[name], comparison), comparison.difference


@pytest.mark.parametrize("name", sampled(pair.name for pair in RIGHT))
def test_two_right_trainings_do_not_differ(name: str, pairs: Pairs) -> None:
    for sides in (pairs[name], pairs[name][::-1]):
        comparison = compare(*sides)
        assert comparison.difference is None
        assert all(answer.status in ("same", "not_recorded") for answer in comparison.answers)


def without_noise(training: Training) -> Training:
    return msgspec.structs.replace(training, jittered=())


@pytest.mark.parametrize("name", sampled(["no bias correction", "dampening", "rows shuffled"]))
def test_what_is_exact_is_judged_without_a_jittered_run(name: str, pairs: Pairs) -> None:
    left, right = map(without_noise, pairs[name])
    assert is_as_expected(EVERY[name], compare(left, right))


@pytest.mark.parametrize("name", sampled(pair.name for pair in RIGHT))
def test_two_right_trainings_do_not_differ_without_a_jittered_run(name: str, pairs: Pairs) -> None:
    difference = compare(*map(without_noise, pairs[name])).difference
    # Where MindSpore adds eps is another rule, which noise covers where it was measured.
    assert difference is None or {one.name for one in difference.unlike} == {"eps_place"}


def test_what_is_not_exact_is_not_judged_without_a_jittered_run(pairs: Pairs) -> None:
    comparison = compare(*map(without_noise, pairs["momentum"]))
    statuses = {answer.question: answer.status for answer in comparison.answers}
    assert comparison.difference is None
    assert not comparison.has_noise
    assert statuses["update"] == "same"
    assert statuses["loss"] == "same"
    assert {statuses[name] for name in ("gradients", "weights")} == {"no_noise"}
    assert comparison.weights.names == ()


def test_the_noise_of_one_side_does_for_both(pairs: Pairs) -> None:
    left, right = pairs["plain descent"]
    comparison = compare(without_noise(left), right)
    assert comparison.has_noise
    assert comparison.difference is None


# A start and a step that are another one


def moved(step: TrainingStep, by: float) -> TrainingStep:
    (batch,) = step.batches
    other = msgspec.structs.replace(batch, loss=present(batch.loss) + by)
    return msgspec.structs.replace(step, batches=(other,))


@pytest.mark.parametrize("has_noise", [True, False])
@pytest.mark.parametrize(("units", "differs"), [(4, False), (400, True)])
def test_the_first_loss_differs_beyond_rounding_alone(
    units: int, differs: bool, has_noise: bool, pairs: Pairs
) -> None:
    left, right = pairs["plain descent"]
    if not has_noise:
        left, right = without_noise(left), without_noise(right)
    steps = (moved(right.steps[0], units * 2.0**-23), *right.steps[1:])
    difference = compare(left, msgspec.structs.replace(right, steps=steps)).difference
    assert (difference is not None) == differs
    if difference:
        assert (difference.step, difference.question, difference.reason) == (1, "loss", "values")


def test_another_start_is_found_before_anything_that_follows_from_it(pairs: Pairs) -> None:
    left, _ = pairs["plain descent"]
    first = left.start[0]
    data = bytearray(first.value.data)
    data[3] ^= 0x80  # the sign of the first element
    value = msgspec.structs.replace(first.value, data=bytes(data))
    start = (msgspec.structs.replace(first, value=value), *left.start[1:])
    difference = present(compare(left, msgspec.structs.replace(left, start=start)).difference)
    assert (difference.question, difference.reason) == ("start", "values")
    assert difference.names == ("fc1.weight",)


def test_a_parameter_that_one_side_lacks_is_named_with_the_side(pairs: Pairs) -> None:
    left, _ = pairs["plain descent"]
    difference = present(
        compare(left, msgspec.structs.replace(left, start=left.start[1:])).difference
    )
    assert (difference.question, difference.reason, difference.side) == (
        "start",
        "missing",
        "right",
    )
    assert difference.names == ("fc1.weight",)


def test_steps_are_paired_by_their_numbers(pairs: Pairs) -> None:
    left, right = pairs["plain descent"]
    fewer = msgspec.structs.replace(right, steps=right.steps[:2])
    assert compare(left, fewer).steps == 2


def test_an_optimizer_that_is_not_known_is_recognised_by_its_updates(pairs: Pairs) -> None:
    left, right = pairs["momentum"]
    comparison = compare(left, msgspec.structs.replace(right, optimizer="program.Descent"))
    assert comparison.difference is None
    assert present(comparison.rule).kind == "SGD"


def test_an_update_that_no_rule_gives_is_said_to_be_unknown(pairs: Pairs) -> None:
    left, right = pairs["plain descent"]
    step, other = right.steps[0], right.steps[1]
    strange = msgspec.structs.replace(step, weights=other.weights)
    difference = present(compare(left, msgspec.structs.replace(right, steps=(strange,))).difference)
    assert (difference.question, difference.reason) == ("update", "unknown_rule")
    assert difference.side == "right"
    assert present(difference.left).kind == "SGD"


def test_a_setting_that_is_no_number_is_left_out_of_the_formula(pairs: Pairs) -> None:
    left, right = pairs["momentum"]
    (group,) = right.steps[0].groups
    strange = msgspec.structs.replace(group, settings={**group.settings, "weight_decay": "text"})
    steps = tuple(msgspec.structs.replace(step, groups=(strange,)) for step in right.steps)
    other = msgspec.structs.replace(right, steps=steps, optimizer="program.Descent")
    assert compare(left, other).difference is None
