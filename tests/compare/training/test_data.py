"""Data of which one side has recorded more, passes of equally many rows, and states of generators."""

import math

import msgspec
import numpy as np
import pytest

from explorer.compare.training.comparison import compare
from explorer.compare.training.moments import Noise, moments
from explorer.model.arrays import AnyArray, pack
from explorer.model.results import Leaf
from explorer.model.trace import Start
from explorer.model.training import Batch, Drift, Group, Training, TrainingStep
from explorer.numeric.summaries import brief
from explorer.words.training import details, headline
from tests.support.narrowing import present

WEIGHT = pack(np.ones(3, np.float32))
X = np.arange(12, dtype=np.float32).reshape(4, 3)
LABELS = np.arange(4)


def batch(data: dict[str, AnyArray], loss: float = 1.0) -> Batch:
    return Batch(tuple(Leaf(name, pack(array)) for name, array in data.items()), loss)


def training(*batches: Batch, steps: int = 1) -> Training:
    made = (
        TrainingStep(number=number, batches=batches, weights=(Leaf("w", WEIGHT),))
        for number in range(1, steps + 1)
    )
    return Training(
        name="program",
        framework="torch",
        engine="torch-tape",
        start=(Start("w", "parameter", WEIGHT, trained=True),),
        steps=tuple(made),
    )


@pytest.mark.parametrize("names", [("input", "x", "labels"), ("x", "labels", "x")])
def test_labels_that_one_side_alone_has_recorded_are_no_difference(names: tuple[str, ...]) -> None:
    alone, one, other = names
    values = {"x": X, "input": X, "labels": LABELS}
    fewer = training(batch({alone: values["x" if alone != "labels" else "labels"]}))
    more = training(batch({one: values[one], other: values[other]}))
    for sides in ((fewer, more), (more, fewer)):
        comparison = compare(*sides)
        assert comparison.difference is None
        answers = {answer.question: answer.status for answer in comparison.answers}
        assert answers["data"] == "in_part"


def read(*arrays: AnyArray, has_more: bool = False) -> Training:
    """A training whose losses have read these beside the data."""
    leaves = tuple(Leaf(f"sub {number}", pack(array)) for number, array in enumerate(arrays))
    plain = batch({"x": X})
    return training(msgspec.structs.replace(plain, read=leaves, has_read_more=has_more))


SOFT = np.linspace(0, 1, 8, dtype=np.float32).reshape(4, 2)


@pytest.mark.parametrize(
    ("one", "other", "status"),
    [
        (read(SOFT), read(SOFT), "same"),
        (read(SOFT), read(SOFT + 1), "different"),
        (read(SOFT, X), read(X, SOFT), "same"),
        (read(SOFT), read(LABELS), "in_part"),
        (read(SOFT), read(), "in_part"),
        (read(SOFT), training(batch({"x": X, "y": SOFT})), "same"),
        # It may have made its own of the other side's.
        (read(SOFT), training(batch({"x": X, "y": SOFT + 1})), "in_part"),
        (read(SOFT, has_more=True), read(SOFT + 1), "in_part"),
        (read(has_more=True), read(has_more=True), "in_part"),
        (training(batch({"x": X, "y": np.ones(4)})), training(batch({"x": X})), "same"),
    ],
)
def test_what_a_loss_has_read_is_compared_as_far_as_both_sides_have_it(
    one: Training, other: Training, status: str
) -> None:
    for sides in ((one, other), (other, one)):
        answers = {answer.question: answer.status for answer in compare(*sides).answers}
        assert answers["data"] == status


def test_labels_that_one_side_flattens_are_the_same() -> None:
    tokens = 20 + np.arange(12).reshape(4, 3)
    whole, flat = (training(batch({"x": X, "y": y})) for y in (tokens, tokens.ravel()))
    other = training(batch({"x": X, "y": tokens.ravel()[::-1].copy()}))
    assert compare(whole, flat).difference is None
    difference = present(compare(whole, other).difference)
    assert (difference.question, difference.names) == ("data", ("y",))


@pytest.mark.parametrize("size", [3, 40])
def test_images_with_their_channels_last_are_the_same_and_reshaped_ones_are_not(size: int) -> None:
    images = np.random.default_rng(0).normal(size=(4, 2, size, size)).astype(np.float32)
    images = np.concatenate([images, images], axis=1)
    last = images.transpose(0, 2, 3, 1)
    first, turned, other = (
        training(Batch((Leaf("x", brief(values, "float32")),), 1.0))
        for values in (images, np.ascontiguousarray(last), last + np.float32(0.1))
    )
    for sides in ((first, turned), (turned, first)):
        assert compare(*sides).difference is None
    assert present(compare(first, other).difference).question == "data"
    reshaped = training(batch({"x": images.reshape(last.shape)}))
    difference = present(compare(training(batch({"x": images})), reshaped).difference)
    assert (difference.question, difference.reason) == ("data", "values")


@pytest.mark.parametrize(("steps", "reason"), [(1, "decay"), (3, "values")])
def test_an_average_of_the_weights_before_each_update_is_not_one_with_another_decay(
    steps: int, reason: str
) -> None:
    draws = np.random.default_rng(0).normal(size=(steps, 3))
    weights = np.array([np.ones(3), *draws])

    def averaged(late: int) -> Training:
        average, made = weights[0], []
        for number in range(1, steps + 1):
            weight = weights[number - late]
            average = weight if number == 1 else 0.9 * average + 0.1 * weight
            leaves = [
                (Leaf("w", pack(it.astype(np.float32))),) for it in (weights[number], average)
            ]
            made.append(TrainingStep(number=number, weights=leaves[0], averages=leaves[1]))
        return msgspec.structs.replace(training(), steps=tuple(made))

    difference = present(compare(averaged(0), averaged(1)).difference)
    assert (difference.step, difference.question, difference.reason) == (1, "averages", reason)


@pytest.mark.parametrize("momentum", [0.1, 0.03])
def test_the_unbiased_variance_is_named_of_layers_with_unlike_numbers_of_values(
    momentum: float,
) -> None:
    draws = np.random.default_rng(0)
    rows = {"bn1.running_var": 288, "bn2.running_var": 72}
    variances = {name: draws.uniform(0.05, 2, 4) for name in rows}

    def kept(*share: float) -> Training:
        ones = pack(np.ones(4, np.float32))
        after = {
            name: 1 + momentum * (variances[name] * (count / (count - 1)) ** np.array(share) - 1)
            for name, count in rows.items()
        }
        leaves = tuple(Leaf(name, pack(it.astype(np.float32))) for name, it in after.items())
        plain = training(batch({"x": X}))
        start = (*plain.start, *(Start(name, "buffer", ones) for name in rows))
        step = msgspec.structs.replace(plain.steps[0], buffers=leaves)
        return msgspec.structs.replace(plain, start=start, steps=(step,))

    difference = present(compare(kept(1), kept(0)).difference)
    assert (difference.question, difference.reason) == ("buffers", "variance")
    assert (difference.side, difference.numbers) == ("left", (288.0,))
    assert present(compare(kept(1), kept(0, 0, 0, -2)).difference).reason == "values"


def test_data_of_another_size_have_the_sizes_of_what_differs() -> None:
    one, other = (training(batch({"x": X, "y": LABELS[:rows]})) for rows in (4, 2))
    difference = present(compare(one, other).difference)
    assert (difference.reason, difference.numbers) == ("other_size", (4, 2))


STATE = Leaf("state", pack(np.ones((1, 4, 2), np.float32)))


@pytest.mark.parametrize(
    ("carried", "given", "status"),
    [
        (STATE, STATE, "different"),
        (STATE, Leaf("state", pack(np.ones((4, 2), np.float32))), "different"),
        (STATE, Leaf("labels", pack(LABELS)), "in_part"),  # it may hold its state itself
        (STATE, None, "same"),
    ],
)
def test_a_state_that_one_side_alone_carries_on_is_reset_where_the_other_is_given_its_like(
    carried: Leaf, given: Leaf | None, status: str
) -> None:
    plain = batch({"x": X})
    keeps = training(msgspec.structs.replace(plain, carried=(carried,)))
    data = (*plain.data, *((given,) if given else ()))
    resets = training(msgspec.structs.replace(plain, data=data))
    for sides, side in (((keeps, resets), "right"), ((resets, keeps), "left")):
        comparison = compare(*sides)
        answers = {answer.question: answer.status for answer in comparison.answers}
        assert answers["data"] == status
        if comparison.difference is not None and status == "different":
            found = comparison.difference
            assert (found.reason, found.side, found.names) == ("reset", side, ("state",))
            assert "resets a state that" in headline(comparison)


@pytest.mark.slow
def test_a_loss_of_many_steps_has_no_stated_noise_behind_the_first_ones() -> None:
    left, right = (training(batch({"x": X}, loss), steps=1100) for loss in (1.0, 1.0 + 1e-7))
    comparison = compare(left, right)
    assert comparison.difference is None
    answers = {answer.question: answer.status for answer in comparison.answers}
    assert answers["loss"] == "no_noise"


def test_other_data_beside_labels_are_a_difference() -> None:
    fewer = training(batch({"input": X + 1}))
    more = training(batch({"labels": LABELS, "x": X}))
    for sides, name in (((fewer, more), "input"), ((more, fewer), "x")):
        difference = present(compare(*sides).difference)
        assert (difference.question, difference.reason) == ("data", "stretched")
        assert difference.names == (name,)


def test_the_same_data_of_a_later_step_are_found_where_one_side_has_labels_too() -> None:
    other = X + 100 * X**2
    first, second = (batch({"x": array, "labels": LABELS}) for array in (X, other))
    two = training(first, steps=2)
    steps = (two.steps[0], msgspec.structs.replace(two.steps[1], batches=(second,)))
    left, right = training(batch({"input": other})), msgspec.structs.replace(two, steps=steps)
    difference = present(compare(left, right).difference)
    assert (difference.question, difference.reason) == ("data", "of_another_step")


def test_passes_of_equally_many_rows_are_weighted_alike_by_both_ways() -> None:
    """Losses that rounding parts, behind the first step, where no noise was measured."""
    halves = [batch({"x": half}, 20.0) for half in (X[:2], X[2:])]
    moved = [batch({"x": half}, 20.0 + 4e-6) for half in (X[:2], X[2:])]
    left, right = training(*halves, steps=3), training(*moved, steps=3)
    comparison = compare(left, right)
    assert comparison.difference is None
    answers = {answer.question: answer.status for answer in comparison.answers}
    assert answers["loss"] == "same"


@pytest.mark.parametrize(("loss", "is_same"), [(20.00001, True), (20.02, False), (math.nan, False)])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_loss_is_judged_behind_the_first_step_where_no_noise_was_measured(
    loss: float, is_same: bool, sign: int
) -> None:
    def losing(loss: float) -> Training:
        loss *= sign
        steps = training(batch({"x": X}, sign * 20.0), steps=3).steps
        last = msgspec.structs.replace(steps[-1], batches=(batch({"x": X}, loss),))
        return msgspec.structs.replace(training(), steps=(*steps[:-1], last))

    for sides in ((20.0, loss), (loss, 20.0)):
        comparison = compare(*map(losing, sides))
        difference = comparison.difference
        assert (difference is None) == is_same
        assert difference is None or (difference.question, difference.step) == ("loss", 3)
        assert any("losses lie at most" in line for line in details(comparison)) != math.isnan(loss)


@pytest.mark.parametrize(("number", "status"), [(10, "different"), (30, "no_noise")])
def test_a_noise_of_losses_that_is_not_measured_is_taken_to_be_known_for_some_steps(
    number: int, status: str
) -> None:
    plain = training(batch({"x": X}, 20.0), steps=number)
    last = msgspec.structs.replace(plain.steps[-1], batches=(batch({"x": X}, 21.0),))
    other = msgspec.structs.replace(plain, steps=(*plain.steps[:-1], last))
    answers = {answer.question: answer.status for answer in compare(plain, other).answers}
    assert answers["loss"] == status


@pytest.mark.parametrize(("units", "is_same"), [(2, True), (200, False)])
def test_a_pass_is_judged_beside_one_whose_loss_is_not_finite(units: int, is_same: bool) -> None:
    passes = [batch({"x": X[:2]}, math.nan), batch({"x": X[2:]}, 0.5)]
    other = batch({"x": X[2:]}, 0.5 * (1 + units * 2.0**-24))
    difference = compare(training(*passes), training(passes[0], other)).difference
    assert (difference is None) == is_same


def test_passes_of_other_widths_and_in_another_order_are_the_same_data() -> None:
    wide, narrow = batch({"x": X}), batch({"x": X[:, :2] + 20})
    for sides in (((wide, narrow), (wide, narrow)), ((wide, narrow), (narrow, wide))):
        assert compare(*(training(*passes) for passes in sides)).difference is None
    # The same pass twice, in the place of two, is another step.
    once, twice = (batch({"x": X[:2]}), batch({"x": X[2:]})), (batch({"x": X[:2]}),) * 2
    for sides in ((once, twice), (twice, once)):
        difference = present(compare(*(training(*passes) for passes in sides)).difference)
        assert difference.question == "data"
    difference = present(
        compare(training(wide, narrow), training(wide, batch({"x": -X[:, :2]}))).difference
    )
    assert (difference.question, difference.names) == ("data", ("x (2)",))


def test_labels_of_passes_in_another_order_are_no_difference() -> None:
    first, second = ({"x": half, "labels": of} for half, of in ((X[:2], [0, 1]), (X[2:], [2, 3])))
    labelled = training(
        *(batch({k: np.asarray(v) for k, v in it.items()}) for it in (first, second))
    )
    bare = training(batch({"x": X[2:]}), batch({"x": X[:2]}))
    for sides in ((labelled, bare), (bare, labelled)):
        assert compare(*sides).difference is None


def test_losses_of_other_passes_are_compared_by_their_sum_or_mean() -> None:
    whole, mean = training(batch({"x": X}, 4.5)), training(batch({"x": X}, 9.0))
    passes = training(batch({"x": X[:2]}, 4.0), batch({"x": X[2:]}, 5.0))
    other = training(batch({"x": X}, 1.0))
    for one in (whole, mean):
        assert compare(one, passes).difference is None
        assert compare(passes, one).difference is None
    for sides in ((other, passes), (passes, other)):
        difference = present(compare(*sides).difference)
        assert difference.question == "loss"


def test_what_comes_behind_a_difference_is_not_reached_and_the_start_was() -> None:
    gradient = (Leaf("w", WEIGHT),)
    same = training(batch({"x": X}, 1.0), steps=2)
    same = msgspec.structs.replace(
        same, steps=tuple(msgspec.structs.replace(it, gradients=gradient) for it in same.steps)
    )
    for question, last in (("loss", batch({"x": X}, 2.0)), ("data", batch({"x": 3 * X}, 1.0))):
        steps = (same.steps[0], msgspec.structs.replace(same.steps[1], batches=(last,)))
        comparison = compare(same, msgspec.structs.replace(same, steps=steps))
        answers: dict[str, str] = {it.question: it.status for it in comparison.answers}
        assert answers[question] == "different"
        assert answers["start"] == "same"
        assert {answers["gradients"], answers["skipped"]} == {"not_reached"}


def test_the_start_to_load_is_that_of_the_program_that_takes_no_other() -> None:
    one = training(batch({"x": X}))
    start = (Start("w", "parameter", pack(np.zeros(3, np.float32)), trained=True),)
    jax = msgspec.structs.replace(one, name="jax", framework="jax", start=start)
    for sides in ((one, jax), (jax, one)):
        assert list(details(compare(*sides)))[-2:] == [
            "to give both programs the start of jax.training, load it before the first step:",
            "  PyTorch: net.load_state_dict(explorer.start('jax.training', net))",
        ]


def test_what_one_side_alone_holds_is_named_without_a_start_to_load() -> None:
    one = training(batch({"x": X}))
    more = (*one.start, Start("v", "parameter", WEIGHT, trained=True))
    comparison = compare(one, msgspec.structs.replace(one, start=more))
    assert list(details(comparison)) == ["in 1 of 2: v"]


def test_the_side_that_does_not_train_a_parameter_is_named() -> None:
    def grouped(*names: str) -> Training:
        plain = training(batch({"x": X}))
        step = msgspec.structs.replace(plain.steps[0], groups=(Group(names),))
        start = tuple(Start(name, "parameter", WEIGHT, trained=True) for name in ("w", "v"))
        return msgspec.structs.replace(plain, steps=(step,), start=start)

    for sides, side in (
        ((grouped("w", "v"), grouped("w")), "right"),
        ((grouped("w"), grouped("w", "v")), "left"),
    ):
        difference = present(compare(*sides).difference)
        assert (difference.question, difference.names, difference.side) == ("trained", ("v",), side)


def test_the_noise_of_what_is_called_otherwise_goes_with_it() -> None:
    def moving(name: str, by: float) -> Training:
        plain = training(batch({"x": X}), steps=2)
        gradient = (Leaf(name, pack(np.ones(3, np.float32) + np.float32(by))),)
        weight = (Leaf(name, WEIGHT),)
        steps = (
            msgspec.structs.replace(step, gradients=gradient, weights=weight)
            for step in plain.steps
        )
        jittered = (Drift((0.0, 0.0), {name: (0.0, 0.0)}, {name: (1e-6, 1e-6)}),)
        start = (Start(name, "parameter", WEIGHT, trained=True),)
        return msgspec.structs.replace(plain, steps=tuple(steps), jittered=jittered, start=start)

    comparison = compare(moving("w", 0.0), moving("v", 1e-6))
    assert comparison.names == {"v": "w"}
    assert comparison.difference is None


def drawing(losses: tuple[float, ...], states: tuple[str, ...]) -> Training:
    """A training with the states of a generator at each step, and of one that nothing draws from."""
    steps = []
    for number, (loss, state) in enumerate(zip(losses, states, strict=True), 1):
        (step,) = training(batch({"x": X}, loss)).steps
        random = {"torch": state, "other": "same"}
        steps.append(msgspec.structs.replace(step, number=number, random=random))
    jittered = (Drift((0.0, 1e-6), {"w": (0.0, 0.0)}),)
    return msgspec.structs.replace(training(), steps=tuple(steps), jittered=jittered)


@pytest.mark.parametrize(
    ("states", "others", "reason"),
    [
        (("a", "b"), ("a", "c"), "random"),  # drawn from, and in another state at the second step
        (("a", "b"), ("c", "d"), "random"),
        (("a", "a"), ("c", "c"), "values"),  # seeded otherwise, and drawn from by neither
        (("a", "b"), ("a", "b"), "values"),
    ],
)
def test_a_generator_that_nothing_is_drawn_from_explains_nothing(
    states: tuple[str, ...], others: tuple[str, ...], reason: str
) -> None:
    difference = present(
        compare(drawing((1.0, 0.5), states), drawing((1.0, 0.6), others)).difference
    )
    assert (difference.question, difference.step, difference.reason) == ("loss", 2, reason)


def test_generators_of_two_frameworks_explain_no_difference() -> None:
    left, right = drawing((1.0, 0.5), ("a", "b")), drawing((1.0, 0.6), ("c", "d"))
    found = present(compare(left, msgspec.structs.replace(right, framework="mindspore")).difference)
    assert (found.question, found.reason) == ("loss", "values")


def test_noise_grows_with_all_that_rounding_has_moved_a_parameter_by() -> None:
    jittered = (Drift((0.0, 0.0), {"w": (1e-6, 1e-6)}),)
    plain = msgspec.structs.replace(training(steps=2), jittered=jittered)
    noise = Noise(plain, plain)
    noises = []
    for moment in moments(plain).values():
        noise.widen(moment, "w", 1e-6)
        noises.append(present(noise.of("weights", moment, "w")))
    assert noises[1] == pytest.approx(2 * noises[0])
