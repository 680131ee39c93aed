"""A random net as a record, the text of its scenario, and how one is drawn."""

import textwrap
from collections.abc import Iterable
from math import inf, nan
from random import Random

import msgspec
import numpy as np

from explorer.fuzz.operators import DEFINITIONS, OPENINGS, OPERATORS, Operator
from explorer.fuzz.shapes import Options, Shape
from explorer.model.engines import GIVEN, NEEDED, Framework

INPUT_SHAPES: tuple[Shape, ...] = (
    (3,),
    (2, 3),
    (3, 2),
    (3, 3),
    (4,),
    (2, 3, 2),
    (2, 2, 3),
    (1, 4),
    (),
)
"""The shapes of inputs: small, so that a finding can be read."""

EMPTY_SHAPES: tuple[Shape, ...] = ((0,), (2, 0), (0, 3))
"""The shapes of inputs without elements."""

DTYPES = ("float32", "float32", "float32", "float32", "float64", "float16")
"""The dtypes of nets, each as often as it is drawn in six."""

STEPS = range(2, 9)
"""How many operators a net has."""

GREATEST = 30.0
"""No value of a net may be larger: there rounding says more than the operators do."""

TRIES = 60
"""How many operators and operands are tried for one step."""

EVERY_OPERATOR = tuple(OPERATORS.values())
"""The operators of which steps are drawn."""


class Step(msgspec.Struct, frozen=True):
    """One operator on operands, which are names of inputs or earlier steps; ``shape`` is the result's."""

    name: str
    operator: str
    operands: tuple[str, ...]
    options: Options
    shape: Shape


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """A net: its inputs' shapes and values, its steps, and how its results become the loss.

    ``results`` are names, each of which adds its mean ("mean"), sum ("sum") or sum of squares
    ("squares") to the loss. ``order`` 2 is the gradient of the gradient, by the first input.
    """

    dtype: str
    inputs: dict[str, Shape]
    values: dict[str, tuple[float, ...]]
    steps: tuple[Step, ...]
    results: dict[str, str]
    order: int = 1

    @property
    def operators(self) -> tuple[str, ...]:
        """The names of the operators, each once, in the order of the steps."""
        return tuple(dict.fromkeys(step.operator for step in self.steps))


LOSSES = {"mean": "({0}).mean()", "sum": "({0}).sum()", "squares": "({0} * {0}).sum()"}
"""How a result becomes a number."""


CORNERS: tuple[tuple[float, ...], ...] = (
    (nan,),
    (inf, -inf),
    (0.0,),
    (1.0, -1.0),
)
"""Numbers at which functions have poles, kinks and ties."""


def drawn(rng: Random, frameworks: Iterable[Framework] = NEEDED, corners: bool = False) -> Program:
    """A net that is drawn at random, of operators that each of some frameworks has.

    Nets of a seed are the same for all frameworks as long as none has to do without an operator.

    With ``corners``, an input has elements that are nan, infinite, zero or equal to
    each other, or no element.
    """
    inputs: dict[str, Shape] = {}
    values: dict[str, tuple[float, ...]] = {}
    for name in "abc"[: rng.choice((1, 2, 2, 3))]:
        inputs[name] = rng.choice(INPUT_SHAPES)
        values[name] = drawn_values(inputs[name], rng)
    if corners:
        name = rng.choice(list(inputs))
        inputs[name], values[name] = _cornered(inputs[name], values[name], rng)
    shapes = dict(inputs)
    bounds = dict.fromkeys(inputs, 2.0)
    steps: list[Step] = []
    for number in range(rng.choice(STEPS)):
        made = _step(f"t{number}", shapes, bounds, rng, frameworks)
        if made is None:
            break
        step, bound = made
        steps.append(step)
        shapes[step.name] = step.shape
        bounds[step.name] = bound
    used: set[str] = set()
    for step in steps:
        used.update(step.operands)
    # What nothing uses is a result: no step is without effect.
    results: dict[str, str] = {}
    for name in shapes:
        if name not in used:
            results[name] = rng.choice(list(LOSSES))
    return Program(
        dtype=rng.choice(DTYPES),
        inputs=inputs,
        values=values,
        steps=tuple(steps),
        results=results,
        order=2 if rng.random() < 0.15 else 1,
    )


def drawn_values(shape: Shape, rng: Random) -> tuple[float, ...]:
    """Values of an input, in multiples of 1/64: every float holds them, and they can be read."""
    count = int(np.prod(shape, dtype=int))
    return tuple(rng.choice((-1, 1)) * rng.randrange(8, 128) / 64 for _ in range(count))


def _cornered(
    shape: Shape, values: tuple[float, ...], rng: Random
) -> tuple[Shape, tuple[float, ...]]:
    """An input's shape and values with a corner: one in eight without elements."""
    if rng.random() < 0.125:
        return rng.choice(EMPTY_SHAPES), ()
    corner = rng.choice(CORNERS)
    changed = list(values)
    for place in range(len(changed)):
        # The first always, so that the net has its corner.
        if place == 0 or rng.random() < 0.5:
            changed[place] = rng.choice(corner)
    return shape, tuple(changed)


def _step(
    name: str,
    shapes: dict[str, Shape],
    bounds: dict[str, float],
    rng: Random,
    frameworks: Iterable[Framework],
) -> tuple[Step, float] | None:
    """One more step, with the bound of its values; None where nothing fits."""
    for _ in range(TRIES):
        operator = rng.choice(EVERY_OPERATOR)
        operands = _operands(operator, list(shapes), rng)
        fits = operator.fit([shapes[operand] for operand in operands], rng)
        if fits is None or not operator.is_in(frameworks):
            continue
        bound = operator.bound([bounds[operand] for operand in operands], shapes[operands[0]])
        if bound <= GREATEST:
            shape, options = fits
            return Step(name, operator.name, operands, options, shape), bound
    return None


def _operands(operator: Operator, names: list[str], rng: Random) -> tuple[str, ...]:
    """Names of operands, what was made last more often; one may stand there twice."""
    weights = [1 + place for place in range(len(names))]
    return tuple(rng.choices(names, weights, k=operator.arity))


def pruned(program: Program) -> Program:
    """The net without steps and inputs on which no result depends; one input stays."""
    needed = set(program.results)
    for step in reversed(program.steps):
        if step.name in needed:
            needed.update(step.operands)
    inputs = {name: shape for name, shape in program.inputs.items() if name in needed}
    if not inputs:
        first = next(iter(program.inputs))
        inputs = {first: program.inputs[first]}
    return msgspec.structs.replace(
        program,
        inputs=inputs,
        values={name: program.values[name] for name in inputs},
        steps=tuple(step for step in program.steps if step.name in needed),
    )


# The text of a scenario

SCENARIO = '''"""{title}.

{notes}
"""

import numpy as np
from numpy import inf, nan


def inputs():
    return {{
{inputs}
    }}
'''

NET = """

def {framework}_net():
{opening}
{definitions}    def net({names}):
{body}

    return net
"""


def scenario_text(
    program: Program, title: str, notes: str, frameworks: Iterable[Framework] = NEEDED
) -> str:
    """A scenario file that runs alone; ``title`` and ``notes`` are its docstring."""
    rows = []
    for name, shape in program.inputs.items():
        values = np.array(program.values[name]).reshape(shape).tolist()
        rows.append(f'        "{name}": np.array({values}, np.{program.dtype}),')
    head = SCENARIO.format(
        title=title,
        notes=notes.replace("\\", "\\\\").replace('"""', "'''"),
        inputs="\n".join(rows),
    )
    return head + "".join(_net(program, framework) for framework in frameworks)


def _net(program: Program, framework: Framework) -> str:
    """The function that makes a framework's net."""
    given = ("parameters",) if framework in GIVEN else ()
    return NET.format(
        framework=framework,
        opening=_indented(OPENINGS[framework]),
        definitions=_definitions(program, framework),
        names=", ".join((*given, *program.inputs)),
        body=_body(program, framework),
    )


def _definitions(program: Program, framework: Framework) -> str:
    """What stands before the net: each definition that an operator needs, once."""
    text = ""
    for name in program.operators:
        needs = OPERATORS[name].needs
        if needs:
            text += _indented(DEFINITIONS[needs][framework]) + "\n"
    return text


def _indented(text: str) -> str:
    return textwrap.indent(text, " " * 4)


def _body(program: Program, framework: Framework) -> str:
    lines = []
    for step in program.steps:
        text = OPERATORS[step.operator].texts[framework]
        code = text.format(*step.operands, **step.options, out=step.name)
        if "{out}" not in text:
            code = f"{step.name} = {code}"
        lines.extend(code.split("; "))
    parts = [LOSSES[how].format(name) for name, how in program.results.items()]
    lines.append(f"return {' + '.join(parts)}")
    return textwrap.indent("\n".join(lines), " " * 8)
