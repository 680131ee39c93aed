"""A finding is known where the recorded list has a reason for each engine that is to blame."""

import math

import pytest

from explorer.fuzz.sightings import known_reasons
from explorer.model.fuzz import Sighting
from tests.support.programs import program, step

NET = program(step("t0", "tanh", "a"), step("t1", "branch", "t0"), order=2)

NO_SECOND = "RuntimeError: Illegal primitive: Primitive ReLU6Grad's bprop not defined"
NO_BRANCH = "UserError: Data-dependent branching is not supported"

MINDSPORE = ("mindspore-graph", "mindspore-tape")


@pytest.mark.parametrize(
    ("engines", "detail", "words"),
    [
        (MINDSPORE, NO_SECOND, ["no second derivative"]),
        (("torch-graph",), NO_BRANCH, ["no branch"]),
        (
            (*MINDSPORE, "torch-graph"),
            f"{NO_SECOND} | {NO_BRANCH}",
            ["no second derivative", "no branch"],
        ),
    ],
)
def test_what_is_recorded_for_each_engine_is_known(
    engines: tuple[str, ...], detail: str, words: list[str]
) -> None:
    reasons = known_reasons(NET, Sighting("raises", engines, (detail,)))
    assert len(reasons) == len(words)
    for word, reason in zip(words, reasons, strict=True):
        assert word in reason


@pytest.mark.parametrize(
    "sighting",
    [
        Sighting("raises", (*MINDSPORE, "torch-graph"), (NO_SECOND,)),
        Sighting("raises", (*MINDSPORE, "torch-tape"), (NO_SECOND, NO_BRANCH)),
        Sighting("raises", MINDSPORE, ("RuntimeError: another one",)),
        Sighting("raises", MINDSPORE, (NO_SECOND, "TypeError: another one")),
        Sighting("values", MINDSPORE, (NO_SECOND,)),
    ],
)
def test_what_is_recorded_for_some_of_the_engines_alone_is_not_known(sighting: Sighting) -> None:
    assert known_reasons(NET, sighting) == ()


@pytest.mark.parametrize(
    ("operator", "dtype", "is_known"),
    [
        ("log_softmax", "float64", True),
        ("log_softmax", "float32", False),
        ("softmax", "float64", False),
        ("tanhshrink", "float32", True),
        ("tanhshrink", "float64", False),
    ],
)
def test_an_operator_is_known_in_its_dtype(operator: str, dtype: str, is_known: bool) -> None:
    net = program(step("t0", operator, "a"), dtype=dtype)
    sighting = Sighting("differs", (*MINDSPORE, "torch-tape", "torch-graph"), leaf="da")
    assert bool(known_reasons(net, sighting)) == is_known


FUNCTIONS = ("jax-tape", "jax-graph")


@pytest.mark.parametrize(
    ("operator", "values", "engines", "is_known"),
    [
        ("max", (1.0, 1.0, 0.5), FUNCTIONS, True),
        ("max", (0.0, 1.0, 0.5), FUNCTIONS, True),
        ("max", (1.0, -1.0, 0.5), FUNCTIONS, False),
        ("amax", (1.0, 1.0, 0.5), FUNCTIONS, False),
        ("relu", (math.nan, -1.0, 0.5), FUNCTIONS, True),
        ("relu", (math.nan, -1.0, 0.5), ("torch-tape", "torch-graph"), False),
        ("relu", (0.0, -1.0, 0.5), FUNCTIONS, False),
        ("amin", (math.nan, -1.0, 0.5), ("jax-graph",), True),
        ("norm", (0.0, 0.0, 0.0), (*MINDSPORE, *FUNCTIONS), False),
    ],
)
def test_a_convention_is_known_at_its_corner_alone(
    operator: str, values: tuple[float, ...], engines: tuple[str, ...], is_known: bool
) -> None:
    net = program(step("t0", operator, "a"), values={"a": values})
    assert bool(known_reasons(net, Sighting("differs", engines, leaf="da"))) == is_known


def test_an_engine_of_an_environment_is_known_by_its_own_name() -> None:
    net = program(step("t0", "branch", "a", "a"))
    sighting = Sighting("raises", ("torch-graph@torch26",), (NO_BRANCH,))
    assert known_reasons(net, sighting) != ()


@pytest.mark.parametrize(("operator", "dtype"), [("mish", "float32"), ("hardsigmoid", "float64")])
@pytest.mark.parametrize(("others", "is_known"), [(3, True), (4, False)])
def test_what_many_causes_could_have_is_known_only_once_the_net_is_cut_down(
    operator: str, dtype: str, others: int, is_known: bool
) -> None:
    names = [operator, "tanh", "sin", "cos", "exp"]
    steps = [step(f"t{place}", name, "a") for place, name in enumerate(names[: 1 + others])]
    net = program(*steps, dtype=dtype)
    assert (
        bool(known_reasons(net, Sighting("values", ("mindspore-graph", "torch-tape")))) == is_known
    )


@pytest.mark.parametrize(("dtype", "is_known"), [("float16", True), ("float32", False)])
def test_an_oracle_that_disagrees_is_explained_by_selu_in_float16_alone(
    dtype: str, is_known: bool
) -> None:
    net = program(step("t0", "selu", "a"), dtype=dtype)
    assert bool(known_reasons(net, Sighting("oracle", MINDSPORE))) == is_known
