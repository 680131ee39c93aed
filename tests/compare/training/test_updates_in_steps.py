"""Steps of several passes and updates: what is kept, what is left out, and what follows from an update."""

from collections.abc import Mapping
from itertools import permutations
from typing import Any

import msgspec
import numpy as np
import pytest

from explorer.compare.training.comparison import compare
from explorer.model.arrays import AnyArray, pack
from explorer.model.results import Leaf
from explorer.model.trace import Start
from explorer.model.training import Batch, Group, Training, TrainingStep
from explorer.model.training_comparison import TrainingDifference
from tests.support.narrowing import present

FIRST: AnyArray = np.array([0.3, -0.7, 1.1], np.float32)

SECOND: AnyArray = np.array([0.9, 0.2, -0.4], np.float32)

ZERO = np.zeros(3, np.float32)


def leaves(arrays: Mapping[str, AnyArray]) -> tuple[Leaf, ...]:
    return tuple(Leaf(name, pack(array.astype(np.float32))) for name, array in arrays.items())


def step(number: int, gradients: dict[str, AnyArray], **fields: Any) -> TrainingStep:
    """A step of a rate of 0, in which an optimizer was given the gradients."""
    names = tuple(gradients)
    given = {"given": leaves(gradients), "weights": leaves(dict.fromkeys(names, FIRST))}
    groups = tuple(Group((name,), {"lr": 0.0}) for name in names)
    return TrainingStep(
        number=number, gradients=leaves(gradients), **{"groups": groups, **given, **fields}
    )


def training(
    *steps: TrainingStep, begin: AnyArray = FIRST, optimizer: str = "torch.optim.sgd.SGD"
) -> Training:
    names = [leaf.name for leaf in steps[0].weights]
    start = tuple(Start(name, "parameter", pack(begin), trained=True) for name in names)
    return Training(
        name="program",
        framework="torch",
        engine="torch-tape",
        optimizer=optimizer,
        start=start,
        steps=steps,
    )


def difference(left: Training, right: Training) -> TrainingDifference:
    return present(compare(left, right).difference)


def test_nothing_is_clipped_where_both_sides_leave_an_update_out() -> None:
    infinite = {"w": np.array([np.inf, 0, 1])}
    skipped = step(2, infinite, skipped=True, given=())
    plain = training(step(1, {"w": FIRST}), skipped)
    answers = {answer.question: answer.status for answer in compare(plain, plain).answers}
    assert answers["given"] == "same"


def test_an_update_behind_one_that_was_left_out_follows_its_rule() -> None:
    fields: dict[str, Any] = {"groups": (Group(("w",), {"lr": 0.5, "momentum": 0.9}),)}
    first = step(1, {"w": np.array([np.inf, 0, 1])}, skipped=True, given=(), **fields)
    moved = leaves({"w": FIRST - SECOND / 2})
    plain = training(first, step(2, {"w": SECOND}, weights=moved, **fields))
    assert present(compare(plain, plain).rule).settings["momentum"] == 0.9


@pytest.mark.parametrize("are_unscaled", [True, False])
def test_gradients_that_are_kept_may_be_unscaled_or_those_of_a_pass_behind_the_update(
    are_unscaled: bool,
) -> None:
    # What was unscaled and clipped stays, and those of the next pass are multiplied by the scale.
    given: AnyArray = FIRST / 2
    before = given
    passes: tuple[Batch, ...] = ()
    if not are_unscaled:
        given, before = FIRST, 16 * (FIRST + SECOND)
        passes = tuple(Batch((), 1.0, leaves({"w": 16 * added})) for added in (FIRST, SECOND))
    fields: dict[str, Any] = {"scale": 16.0, "given": leaves({"w": given})}
    first = step(1, {"w": 16 * FIRST}, batches=passes, **fields)
    right, wrong = (step(2, {"w": 16 * SECOND + kept}, **fields) for kept in (ZERO, before))
    found = difference(training(first, right), training(first, wrong))
    assert (found.step, found.question, found.reason, found.side) == (
        2,
        "gradients",
        "kept",
        "right",
    )


LIMIT = 0.5

CLIPPED: dict[str, tuple[AnyArray, AnyArray]] = {
    "norm": (FIRST / 4, SECOND / 4),
    "value": (np.clip(FIRST, -LIMIT, LIMIT), np.clip(SECOND, -LIMIT, LIMIT)),
    "norm_each": (FIRST * LIMIT / np.linalg.norm(FIRST), SECOND * LIMIT / np.linalg.norm(SECOND)),
    "norm_before_unscale": (FIRST / 4, SECOND / 4),
    "not_unscaled": (16 * FIRST, 16 * SECOND),
}
"""What is given to the optimizer of two gradients, by the rule that makes it of them."""


@pytest.mark.parametrize("kind", CLIPPED)
def test_what_clips_gradients_is_recognised_by_what_it_makes_of_them(kind: str) -> None:
    plain = {"v": FIRST, "w": SECOND}
    scaled = {name: 16 * array for name, array in plain.items()}
    norm = float(np.linalg.norm(np.concatenate([FIRST, SECOND])))
    is_scaled = kind == "norm_before_unscale"
    clipped = dict(zip(plain, CLIPPED[kind], strict=True))
    fields = {"scale": 16.0, "norm": 16 * norm if is_scaled else norm}
    sides = [training(step(1, scaled, given=leaves(given), **fields)) for given in (plain, clipped)]
    found = difference(*sides)
    assert present(found.right).kind == kind
    reason = kind if kind == "not_unscaled" else "clipping"
    assert (found.question, found.reason) == ("given", reason)


WEIGHTS = {"rows": (3 / 4, 1 / 4), "plain": (1 / 2, 1 / 2), "sum": (1, 1), "last": (0, 1)}
"""The ways to weight a pass of three rows and one of a single row."""


@pytest.mark.parametrize(
    "kinds", [kinds for kinds in permutations(WEIGHTS, 2) if set(kinds) != {"plain", "sum"}]
)
def test_passes_of_unlike_sizes_are_weighted_in_one_of_four_ways(kinds: tuple[str, str]) -> None:
    passes = tuple(
        Batch(leaves({"x": np.ones((rows, 1))}), 1.0, leaves({"w": added}))
        for rows, added in ((3, FIRST), (1, SECOND))
    )
    totals = [WEIGHTS[kind][0] * FIRST + WEIGHTS[kind][1] * SECOND for kind in kinds]
    found = difference(*(training(step(1, {"w": it}, batches=passes)) for it in totals))
    assert (found.question, found.reason) == ("gradients", "passes_weighted")
    assert [rule.kind for rule in (found.left, found.right) if rule] == [*kinds]


@pytest.mark.parametrize("rate", [0.5, 0.0])
def test_a_loss_behind_an_update_of_its_step_follows_from_the_update(rate: float) -> None:
    def one(loss: float, rate: float) -> Training:
        passes = Batch((), 1.0), Batch((), loss)
        groups = Group(("v",), {"lr": 0.0}), Group(("w",), {"lr": rate})
        weights = leaves({"v": FIRST, "w": FIRST - rate * SECOND})
        gradients = {"v": FIRST, "w": SECOND}
        return training(step(1, gradients, batches=passes, groups=groups, weights=weights))

    found = difference(one(2.0, 0.0), one(3.3, rate))
    if rate:
        assert (found.question, found.reason, found.names) == ("update", "rule", ("w",))
    else:
        assert (found.question, found.reason) == ("loss", "values")


@pytest.mark.parametrize(("rate", "shared"), [(0.5, True), (0.25, False)])
def test_the_rule_of_both_has_the_settings_that_all_parameters_share(
    rate: float, shared: bool
) -> None:
    groups = Group(("v",), {"lr": 0.5}), Group(("w",), {"lr": rate})
    weights = leaves({"v": -0.5 * FIRST, "w": -rate * SECOND})
    made = step(1, {"v": FIRST, "w": SECOND}, groups=groups, weights=weights)
    one = training(made, begin=ZERO)
    rule = present(compare(one, msgspec.structs.replace(one, name="other")).rule)
    assert (rule.kind, rule.settings.get("lr")) == ("SGD", 0.5 if shared else None)


@pytest.mark.parametrize("rate", [0.5, 0.25])
def test_the_rule_of_both_has_no_rate_that_a_schedule_changes(rate: float) -> None:
    rates = {1: 0.5, 2: rate}
    weights = {1: -0.5 * FIRST, 2: -0.5 * FIRST - rate * SECOND}
    made = [
        step(
            number,
            {"v": FIRST if number == 1 else SECOND},
            groups=(Group(("v",), {"lr": rates[number]}),),
            weights=leaves({"v": weights[number]}),
        )
        for number in rates
    ]
    one = training(*made, begin=ZERO)
    rule = present(compare(one, msgspec.structs.replace(one, name="other")).rule)
    assert rule.settings.get("lr") == (0.5 if rate == 0.5 else None)


def test_optax_rounds_the_powers_of_a_decay_and_not_the_decay() -> None:
    rate, beta, eps = 1e-2, 0.999, 1e-8
    gradient = FIRST.astype(np.float64)
    root = np.sqrt((1 - beta) * gradient**2 / (1 - np.float64(np.float32(beta)))) + eps
    after = {"w": -rate * gradient / root}
    groups = (Group(("w",), {"lr": rate, "betas": (0.9, beta), "eps": eps}),)
    first = step(1, {"w": FIRST}, groups=groups, weights=leaves(after))
    made = training(first, begin=ZERO, optimizer="optax.adam")
    answers = {answer.question: answer.status for answer in compare(made, made).answers}
    assert answers["update"] == "same"
    comparison = compare(made, msgspec.structs.replace(made, name="other"))
    assert present(comparison.rule).settings["beta2"] == beta


@pytest.mark.parametrize(
    ("beta", "count"), [(1.0, 1.0), (1e200, 9.0), (0.9, np.inf), (0.9, np.nan), (0.9, None)]
)
def test_settings_and_counts_of_no_program_are_compared(beta: float, count: float | None) -> None:
    counted = ZERO[:0] if count is None else np.array([count])
    groups = (Group(("w",), {"lr": 0.1, "betas": (beta, 0.999)}),)
    given = step(1, {"w": FIRST}, groups=groups, state=leaves({"w.step": counted}))
    empty = Batch((Leaf("x", pack(np.zeros((0, 3), np.float32))),), 1.0)
    other = msgspec.structs.replace(given, batches=(empty,))
    made = training(other, optimizer="torch.optim.adam.Adam")
    assert compare(made, training(given)).steps == 1
    assert compare(made, made).difference is None
