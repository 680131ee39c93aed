"""Pairs that values decide: nets of a few lines of numpy, run from the starts that they are given."""

from collections.abc import Callable, Mapping

import msgspec
import numpy as np
import pytest

from explorer.model.arrays import AnyArray, pack, unpack
from explorer.model.failures import Failure
from explorer.model.requests import Description, ParameterSpec, Responses
from explorer.scenario.counterparts import counterparts
from explorer.scenario.pairing import candidates
from explorer.scenario.value_matching import Likeness, Starts, Who, distance, drawn, likeliest
from tests.scenario.test_correspondence import spec

Net = Callable[[Mapping[str, AnyArray], AnyArray], AnyArray]
"""The forward of a net: of its parameters by its own names, and its input."""

X = np.random.default_rng(0).standard_normal((2, 4))


def square(path: str) -> ParameterSpec:
    """A weight that all others could be."""
    return spec(f"{path}.weight", shape=(4, 4))


def matched(mindspore: tuple[str, ...], torch: tuple[str, ...], mine: Net, theirs: Net) -> Likeness:
    """The likeliest pairs of two nets of square weights."""
    own, others = list(map(square, mindspore)), list(map(square, torch))

    def ask(who: Who, names: Mapping[str, str], starts: Starts) -> Responses:
        outputs = []
        values: dict[str, AnyArray] = {}
        for start in starts:
            values.update({name: unpack(array) for name, array in start.items()})
            if who == "leading":
                outputs.append(theirs(values, X))
            else:
                outputs.append(mine({path: values[name] for path, name in names.items()}, X))
        return Responses(tuple((pack(output),) for output in outputs))

    return likeliest(candidates(own, others), ask)


def names(likeness: Likeness) -> dict[str, str]:
    """The names of modules, without the ends."""
    pairs = likeness.pairing.names.items()
    return {name.removesuffix(".weight"): other.removesuffix(".weight") for name, other in pairs}


def gated(value: str, gate: str) -> Net:
    """A product of two branches, of which one ends in a sigmoid."""

    def forward(weights: Mapping[str, AnyArray], x: AnyArray) -> AnyArray:
        opened = 1 / (1 + np.exp(-x @ weights[f"{gate}.weight"].T))
        return np.asarray((x @ weights[f"{value}.weight"].T) * opened)

    return forward


def chain(*modules: str) -> Net:
    """Layers one after the other, with a tanh behind each."""

    def forward(weights: Mapping[str, AnyArray], x: AnyArray) -> AnyArray:
        for module in modules:
            x = np.tanh(x @ weights[f"{module}.weight"].T)
        return x

    return forward


def changed(net: Net, change: Callable[[AnyArray], AnyArray]) -> Net:
    """A net whose output is changed."""
    return lambda weights, x: np.asarray(change(net(weights, x)))


KEYS = "enc.key enc.query | encoder.query encoder.key"


@pytest.mark.parametrize(
    ("make", "declared", "runs"),
    [
        (chain, "f.0 f.1 | a b", "f.0 f.1 | a b"),
        # Two branches of one shape are declared in another order.
        (gated, "branches.0 branches.1 | gate up", "branches.0 branches.1 | up gate"),
        (gated, "left right | gate up", "left right | up gate"),
        # Layers run in another order than they are declared.
        (chain, "f.0 f.1 f.2 | a b c", "f.2 f.0 f.1 | a b c"),
        # Where names and order disagree, values decide for either.
        (gated, KEYS, "enc.key enc.query | encoder.key encoder.query"),
        (gated, KEYS, KEYS),
    ],
)
def test_pairs_with_which_both_nets_compute_the_same_are_found_and_confirmed(
    make: Callable[..., Net], declared: str, runs: str
) -> None:
    own, torch = (tuple(side.split()) for side in declared.split(" | "))
    mine, theirs = (side.split() for side in runs.split(" | "))
    likeness = matched(own, torch, make(*mine), make(*theirs))
    assert names(likeness) == dict(zip(mine, theirs, strict=True))
    assert likeness.is_confirmed


def test_a_port_with_a_mistake_keeps_its_order_and_is_not_confirmed() -> None:
    wrong = changed(chain("f.0", "f.1"), lambda y: 2 * y)
    likeness = matched(("f.0", "f.1"), ("a", "b"), wrong, chain("a", "b"))
    assert names(likeness) == {"f.0": "a", "f.1": "b"}
    assert not likeness.is_confirmed
    assert likeness.difference == pytest.approx(0.5)


@pytest.mark.parametrize("mistake", [lambda y: -y, lambda y: y + 1, np.tanh, lambda y: y[::-1]])
@pytest.mark.parametrize("own", [("enc.key", "enc.query"), ("enc.first", "enc.second")])
def test_a_port_with_a_mistake_is_paired_by_what_its_modules_do(
    mistake: Callable[[AnyArray], AnyArray], own: tuple[str, str]
) -> None:
    torch = ("encoder.query", "encoder.key")
    likeness = matched(own, torch, changed(gated(*own), mistake), gated(*reversed(torch)))
    assert names(likeness) == dict(zip(own, reversed(torch), strict=True))
    assert not likeness.is_confirmed


def test_outputs_that_are_nearly_alike_with_any_pairs_do_not_decide() -> None:
    own, torch = ("enc.key", "enc.query"), ("encoder.query", "encoder.key")
    mine = changed(gated("enc.key", "enc.query"), lambda y: 100 - y)
    theirs = changed(gated("encoder.key", "encoder.query"), lambda y: 100 + y)
    likeness = matched(own, torch, mine, theirs)
    assert names(likeness) == {"enc.key": "encoder.key", "enc.query": "encoder.query"}
    assert not likeness.is_confirmed


@pytest.mark.parametrize(
    ("begins", "moved"), [([0, 1, 1, 0], [1, 2]), ([0, 0, 0, 0], [0, 1, 2, 3])]
)
def test_rows_that_begin_at_zero_among_others_are_those_of_padding_and_stay(
    begins: list[int], moved: list[int]
) -> None:
    rows = np.outer(begins, np.ones(4))
    values = drawn("table", msgspec.structs.replace(square("table"), value=pack(rows)))
    assert np.flatnonzero(values.any(axis=1)).tolist() == moved


def test_zeros_in_a_part_of_a_row_do_not_stay() -> None:
    kernels = np.ones((2, 2, 3))
    kernels[0, 1] = 0
    assert drawn("conv", msgspec.structs.replace(square("conv"), value=pack(kernels))).all()


def test_a_name_that_is_given_is_that_of_no_other_that_begins_so() -> None:
    own = Description((msgspec.structs.replace(square("fc"), name="head.weight"), square("fc1")))
    torch = Description((square("head"), square("last")))
    found = counterparts(own, torch, {"fc": "head"}, lambda who, names, starts: None)
    assert found.names["fc1.weight"] == "last.weight"


def test_equal_names_need_no_decision() -> None:
    wrong = changed(gated("norm2", "norm3"), lambda y: -y)
    own, torch = ("norm2", "norm3", "last"), ("norm3", "norm2", "end")
    likeness = matched(own, torch, wrong, gated("norm3", "norm2"))
    assert names(likeness) == {"norm2": "norm2", "norm3": "norm3", "last": "end"}


def test_a_net_that_cannot_be_run_confirms_nothing() -> None:
    choices = candidates([square("f.0")], [square("a")])
    failed = Responses(error=Failure("ValueError", "no"))
    for answer in (failed, None):
        likeness = likeliest(choices, lambda who, names, starts, answer=answer: answer)  # type: ignore[misc]
        assert (likeness.difference, likeness.is_confirmed) == (None, False)
        assert names(likeness) == {"f.0": "a"}


def test_outputs_of_zeros_or_without_a_number_say_nothing() -> None:
    zeros, ones = np.zeros(3), np.ones(3)
    assert distance(zeros, zeros) == np.inf
    assert distance(ones, np.full(3, np.nan)) == np.inf
    assert distance(ones, np.ones(4)) == np.inf
    assert distance(ones, ones) == 0
    assert distance(ones, 2 * ones) == pytest.approx(0.5)
