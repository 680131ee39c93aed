"""Random settings of a row: its arguments from their domains, its operands from their shapes."""

import math
import zlib
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from explorer.model.engines import NEEDED, Framework
from explorer.operators.records import CONSTANTS, Absent, Argument, Operand, Row, Value
from explorer.operators.translation import translate
from explorer.operators.ways import PADS_FIRST

COUNT = 20
"""Settings of each row."""

SIZES = {"n": (2, 4), "c": (2, 5), "h": (6, 9), "w": (6, 9)}
"""The least and the greatest size that a letter of a shape is for."""

Array = np.ndarray[tuple[int, ...], np.dtype[np.generic]]


class Call(NamedTuple):
    """A call of one side, as its worker gets it."""

    callable: str
    is_layer: bool
    arguments: dict[str, Value]
    operands: dict[str, list[Array]]
    lists: frozenset[str]
    constants: frozenset[str]
    pads_first: Value
    fill: float
    mode: str
    compared: str
    seed: int


class Setting(NamedTuple):
    """One setting, on either side."""

    row: Row
    mindspore: Call
    torch: Call


def settings(row: Row, count: int = COUNT) -> Iterator[Setting]:
    """Settings of a row; the same at each call."""
    for number in range(count):
        seed = zlib.crc32(f"{' '.join(map(row.name, NEEDED))} {number}".encode())
        yield _setting(row, np.random.default_rng(seed), seed)


def _setting(row: Row, rng: np.random.Generator, seed: int) -> Setting:
    arguments = _arguments(row, rng)
    operands = _operands(row, arguments, rng)
    mode = str(rng.choice(row.modes))
    shapes = tuple(operands[operand.name("torch")][0].shape for operand in _given(row, operands))
    translated = translate(row, "mindspore", arguments, shapes)
    pads_first = translated.pop(PADS_FIRST, ())
    is_layer = row.kind == "layer"

    def call(framework: Framework, given: dict[str, Value]) -> Call:
        named: dict[str, list[Array]] = {}
        for operand in _given(row, operands):
            named[operand.name(framework)] = operands[operand.name("torch")]
        return Call(
            row.name(framework),
            is_layer,
            _without_defaults(row, framework, given),
            named,
            frozenset(operand.name(framework) for operand in row.operands if operand.count),
            frozenset(each.name(framework) for each in row.operands if is_constant(each)),
            pads_first if framework == "torch" else (),
            -math.inf if row.family.startswith("max_pool") else 0.0,
            mode,
            row.compared,
            seed,
        )

    return Setting(row, call("mindspore", arguments), call("torch", translated))


def is_constant(operand: Operand) -> bool:
    """Whether the results are not differentiated with respect to an operand."""
    return operand.drawn in CONSTANTS or operand.name("torch").startswith("running")


def _given(row: Row, operands: Mapping[str, list[Array]]) -> list[Operand]:
    return [operand for operand in row.operands if operand.name("torch") in operands]


def _arguments(row: Row, rng: np.random.Generator) -> dict[str, Value]:
    drawn: dict[str, Value] = {}
    for argument in row.arguments:
        name = argument.name("mindspore")
        if name and argument.values:
            drawn[name] = argument.values[rng.integers(len(argument.values))]
    if "begin_norm_axis" in drawn:
        # A weight has the axes that are normalized.
        drawn["begin_params_axis"] = drawn["begin_norm_axis"]
    return {name: value for name, value in drawn.items() if _is_allowed(row, name, drawn)}


def _is_allowed(row: Row, name: str, drawn: Mapping[str, Value]) -> bool:
    for argument in row.arguments:
        if argument.name("mindspore") == name and argument.only_if:
            other, value = argument.only_if
            return drawn.get(other, _default(row, other)) == value
    return True


def _default(row: Row, name: str) -> Value:
    for argument in row.arguments:
        default = argument.default("mindspore")
        if argument.name("mindspore") == name and not isinstance(default, Absent):
            return default
    return None


def _without_defaults(
    row: Row, framework: Framework, arguments: Mapping[str, Value]
) -> dict[str, Value]:
    """The arguments that are not given by leaving them out."""
    defaults: dict[str, Argument] = {each.name(framework): each for each in row.arguments}
    kept: dict[str, Value] = {}
    # PyTorch takes keepdim only where dim is given too.
    needs_axis = framework == "torch" and bool(arguments.get("keepdim"))
    for name, value in arguments.items():
        default = defaults[name].default(framework)
        if name == "dim" and needs_axis:
            kept[name] = value
            continue
        if isinstance(default, Absent) or default != value or type(default) is not type(value):
            kept[name] = value
    return kept


def _operands(
    row: Row, arguments: Mapping[str, Value], rng: np.random.Generator
) -> dict[str, list[Array]]:
    sizes = {letter: int(rng.integers(low, high + 1)) for letter, (low, high) in SIZES.items()}
    drawn: dict[str, list[Array]] = {}
    is_bare = rng.random() < 0.3
    for operand in row.operands:
        # Weight and bias are given together, or neither.
        if operand.is_optional and is_bare:
            continue
        shape = _shape(operand.shape, arguments, sizes)
        arrays = [_drawn(operand, shape, rng) for _time in range(operand.count or 1)]
        drawn[operand.name("torch")] = arrays
    return drawn


def _shape(
    written: str, arguments: Mapping[str, Value], sizes: Mapping[str, int]
) -> tuple[int, ...]:
    shape: list[int] = []
    for word in written.split():
        whole, _slash, divisor = word.partition("/")
        if word == "normalized_shape":
            begin = int(str(arguments.get("begin_norm_axis", 1)))
            shape += (sizes["n"], 3, 4)[begin:]
        elif word in arguments:
            value = arguments[word]
            shape += [int(str(size)) for size in (value if isinstance(value, tuple) else (value,))]
        elif divisor:
            shape.append(int(whole) // int(str(arguments.get(divisor, 1))))
        else:
            shape.append(sizes[word] if word in sizes else int(word))
    return tuple(shape)


def _drawn(operand: Operand, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    if operand.drawn == "indices":
        return rng.integers(operand.below, size=shape)
    if operand.drawn == "mask":
        return rng.random(shape) < 0.5
    return _floats(operand.drawn, shape, rng).astype(np.float32)


def _floats(drawn: str, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    if drawn in ("positive", "factors"):
        return rng.uniform(0.2, 3, shape)
    if drawn in ("unit", "targets"):
        return rng.uniform(0.05, 0.95, shape)
    if drawn == "signs":
        return rng.choice([-1.0, 1.0], shape)
    if drawn == "ones":
        return np.ones(shape)
    if drawn == "distinct":
        return rng.permutation(math.prod(shape)).reshape(shape) / 7 - 3
    if drawn == "probabilities":
        parts = rng.uniform(0.05, 1, shape)
        return np.asarray(parts / parts.sum(-1, keepdims=True))
    normal = rng.normal(size=shape)
    if drawn == "logarithms":
        shifted = normal - normal.max(-1, keepdims=True)
        return np.asarray(shifted - np.log(np.exp(shifted).sum(-1, keepdims=True)))
    return normal
