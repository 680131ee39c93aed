"""An operator of random nets is the same function in every framework that has it, with the same gradient."""

from itertools import product
from pathlib import Path
from random import Random

import pytest

from explorer.fuzz.operators import DEFINITIONS, OPENINGS, OPERATORS
from explorer.fuzz.program import Program, Step, drawn_values
from explorer.fuzz.search import NetRunner
from explorer.model.engines import FRAMEWORKS, NEEDED, REFEREES
from explorer.model.fuzz import Sighting
from explorer.workers.workers import Workers
from tests.support.samples import sampled

IN_ALL = [name for name, operator in OPERATORS.items() if operator.is_in(FRAMEWORKS)]

TAPES = tuple(f"{framework}-tape" for framework in REFEREES)
"""An engine of each framework whose net the oracle can run: both compute operator by operator."""

SHAPES = ((2, 3), (3,), (3, 2), (4,), (2, 3, 2), (2, 2, 3), (1, 4), ())


def alone(name: str) -> Program:
    """A net of one operator, on operands of the first shapes that it takes."""
    operator, rng = OPERATORS[name], Random(name)
    for shapes in product(SHAPES, repeat=operator.arity):
        fits = operator.fit(shapes, rng)
        if fits is None:
            continue
        operands = tuple("abc"[: operator.arity])
        return Program(
            dtype="float32",
            inputs=dict(zip(operands, shapes, strict=True)),
            values={
                operand: drawn_values(shape, rng)
                for operand, shape in zip(operands, shapes, strict=True)
            },
            steps=(Step("t0", name, operands, fits[1], fits[0]),),
            # The slope of a square is another at each element.
            results={"t0": "squares"},
        )
    raise AssertionError(name)


def test_each_operator_is_in_the_frameworks_that_every_scenario_is_compared_in() -> None:
    assert all(operator.is_in(NEEDED) for operator in OPERATORS.values())


def test_all_operators_but_those_that_are_named_are_in_every_framework() -> None:
    assert set(OPERATORS) - set(IN_ALL) == {"data"}


def test_each_framework_has_its_imports_and_what_operators_need() -> None:
    assert set(OPENINGS) == set(FRAMEWORKS)
    for name, operator in OPERATORS.items():
        if operator.needs:
            assert set(DEFINITIONS[operator.needs]) == set(operator.texts), name


def test_an_operator_has_the_same_operands_in_every_framework() -> None:
    for name, operator in OPERATORS.items():
        for framework, text in operator.texts.items():
            for place in range(4):
                assert (f"{{{place}}}" in text) == (place < operator.arity), (name, framework)


@pytest.fixture(scope="module")
def runner(workers: Workers, tmp_path_factory: pytest.TempPathFactory) -> NetRunner:
    folder: Path = tmp_path_factory.mktemp("nets")
    return NetRunner(workers, folder, TAPES)


# On a tape everything runs but what a compiler refuses.
@pytest.mark.torch
@pytest.mark.jax
@pytest.mark.parametrize("name", sampled(IN_ALL, 16))
def test_an_operator_has_the_same_value_and_gradient_in_every_framework(
    name: str, runner: NetRunner
) -> None:
    assert runner.run(alone(name), graphs=False) == Sighting("agrees")
