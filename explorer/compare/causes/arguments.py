"""Other arguments of an op: those of the other side, near ones, other ones of few, other windows."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import combinations
from typing import NamedTuple

from explorer.compare.causes.kinds import (
    AXES,
    FEW_VALUES,
    FIXED,
    LAST,
    POSITIONS,
    USUAL,
    WINDOW_NAMES,
    WINDOWS,
)
from explorer.compare.graphs.view import Shape
from explorer.model.causes import Edits, Factor, InsertOperator, SetArguments
from explorer.model.graph import Arguments, ArgumentValue, Node

MOST_WINDOWS = 6
"""Padding of more ends than those of three axes is of all axes."""

MOST_CHANGES = 60
"""How many changes of one argument, and of two, are tried at one op."""


def set_arguments(node: Node, arguments: Arguments) -> SetArguments:
    """Other arguments of a node in the place of its own."""
    own = {name: node.arguments[name] for name in arguments if name in node.arguments}
    return SetArguments(node=node.id, own=own, arguments=arguments)


class ArgumentChanges(NamedTuple):
    """Changes of one argument each, of two of a window such as dilation and padding, and of two others."""

    single: list[Arguments]
    windows: list[Arguments]
    double: list[Arguments]


def argument_changes(own: Arguments, pool: Iterable[ArgumentValue], rank: int) -> ArgumentChanges:
    """Changes of an op's ``own`` arguments; ``pool`` is what the other side suggests.

    ``rank`` is the number of axes.
    """
    suggested = list(_changes(own, pool, rank))[:MOST_CHANGES]
    pairs = _pairs(suggested)
    windows = [change for change in pairs if change.keys() <= WINDOW_NAMES]
    double = [change for change in pairs if not change.keys() <= WINDOW_NAMES]
    single = [*suggested, *_usual(own, suggested)]
    return ArgumentChanges(single, windows[:MOST_CHANGES], double[:MOST_CHANGES])


def _pairs(single: list[Arguments]) -> list[Arguments]:
    pairs = combinations(single, 2)
    return [{**one, **other} for one, other in pairs if one.keys() != other.keys()]


def _changes(own: Arguments, pool: Iterable[ArgumentValue], rank: int) -> Iterator[Arguments]:
    """Changes of one argument each, those that the other side suggests first."""
    for name, value in own.items():
        if name in FIXED:
            continue
        seen = [value]
        for other in _alternatives(name, value, pool, rank):
            if other not in seen:
                seen.append(other)
                yield {name: other}


def _usual(own: Arguments, tried: list[Arguments]) -> Iterator[Arguments]:
    """Changes of one argument to a value that it often has, but for those that are tried anyway."""
    for name, value in own.items():
        for other in USUAL.get(name, ()):
            if other != value and {name: other} not in tried:
                yield {name: other}


def _alternatives(
    name: str, value: ArgumentValue, pool: Iterable[ArgumentValue], rank: int
) -> Iterator[ArgumentValue]:
    """Other values that an argument may have."""
    if name in FEW_VALUES:
        yield from FEW_VALUES[name]
    elif isinstance(value, bool):
        yield not value
    elif name in AXES and isinstance(value, int):
        yield from range(rank)
    elif name in AXES and isinstance(value, tuple) and value:
        for count in (len(value), *range(1, rank + 1)):
            yield from combinations(range(rank), count)
    else:
        yield from _near(name, value)
        # A zero last: it bounds variances and fills masks, and an eps near it gives the same.
        for other in sorted(pool, key=lambda other: isinstance(other, float) and not other):
            yield from _in_place_of(value, other)
        if isinstance(value, tuple):
            yield from _of_windows(name, value)


def _near(name: str, value: ArgumentValue) -> Iterator[ArgumentValue]:
    """Places beside a place."""
    if name in POSITIONS and isinstance(value, int):
        yield from (value - 1, value + 1)
        if name == "end":
            yield from (LAST, -1)


def _of_windows(name: str, value: tuple[object, ...]) -> Iterator[ArgumentValue]:
    """Other numbers of a window along all of its axes, and padding at other ends of them."""
    for number in WINDOWS.get(name, ()):
        yield (number,) * len(value)
    if name == "pad":
        yield from _other_ends(value)
    if name == "padding" and len(value) > MOST_WINDOWS:
        for number in WINDOWS[name]:
            yield _at_both_ends(value, number)


def _at_both_ends(padding: tuple[object, ...], number: int) -> tuple[int, ...]:
    """As much padding at both ends of the axes of images, behind those of examples and channels."""
    return (0,) * 4 + (number,) * (len(padding) - 4)


def _other_ends(pad: tuple[object, ...]) -> Iterator[ArgumentValue]:
    """Padding of the ends of axes with the two ends of each exchanged, or half of it at each."""
    pairs = list(zip(pad[::2], pad[1::2], strict=False))
    numbers = [number for pair in pairs for number in pair[::-1] if isinstance(number, int)]
    yield tuple(numbers)
    sums = [sum(it for it in pair if isinstance(it, int)) for pair in pairs]
    yield tuple(number for total in sums for number in (total // 2, total - total // 2))
    yield tuple(number for total in sums for number in (total - total // 2, total // 2))


def _in_place_of(value: ArgumentValue, other: ArgumentValue) -> Iterator[ArgumentValue]:
    """A value of the other side as one of the kind of ``value``; none of another kind."""
    if isinstance(other, bool):
        return
    if value is None or other is None:
        if isinstance(value, float) or isinstance(other, float):
            yield other
        return
    if isinstance(value, float) and isinstance(other, float):
        yield other
        yield 1 - other  # a momentum the other way round
    elif isinstance(value, int) and isinstance(other, int):
        yield other
    elif isinstance(value, tuple):
        yield from _fitted(other, len(value))


def _fitted(value: ArgumentValue, count: int) -> Iterator[tuple[int, ...]]:
    """A number or a sequence as one of ``count`` numbers: strides of four axes end with those of two."""
    if isinstance(value, int):
        yield (value,) * count
    elif isinstance(value, tuple) and len(value) >= count > 0:
        numbers = [item for item in value if isinstance(item, int)]
        if len(numbers) == len(value):
            yield tuple(numbers[-count:])


# A slice at other places

STARTS, LIMITS, STRIDES = "start_indices", "limit_indices", "strides"
"""Where a slice begins along each axis, where it ends, and its steps: arguments of JAX's slices."""

OF_SLICES = (frozenset({"start", "end", "step"}), frozenset({STARTS, LIMITS, STRIDES}))
"""Arguments that are one thing: which elements a slice takes."""


def slices(node: Node, read: Shape, made: Shape) -> Iterator[Arguments]:
    """Other arguments of a slice of a shape ``read``, of which it takes the shape ``made``.

    It then begins at the first or last place of an axis, or one place before or behind where it begins; or
    it takes every second element, or as many in a row as it takes of every second. Nothing of ops that are
    no slices.
    """
    dim, start = node.arguments.get("dim"), node.arguments.get("start")
    if len(made) != len(read):
        return
    if isinstance(dim, int) and isinstance(start, int):
        step = node.arguments.get("step")
        own = start % max(read[dim], 1), step if isinstance(step, int) else 1
        for first, by in _other_slices(own, read[dim], made[dim]):
            changed: Arguments = {"start": first, "end": min(first + by * made[dim], read[dim])}
            yield changed if by == own[1] else {**changed, "step": by}
    starts = _along(STARTS, node.arguments, len(made))
    if len(starts) != len(made):
        return  # convolutions have strides too
    strides = _along(STRIDES, node.arguments, len(made)) or (1,) * len(starts)
    has_limits = LIMITS in node.arguments
    for axis, own in enumerate(zip(starts, strides, strict=True)):
        for first, by in _other_slices(own, read[axis], made[axis]):
            firsts = (*starts[:axis], first, *starts[axis + 1 :])
            steps = (*strides[:axis], by, *strides[axis + 1 :])
            ends = [at + step * n for at, step, n in zip(firsts, steps, made, strict=True)]
            limits = tuple(map(min, ends, read))
            if has_limits:
                yield {STARTS: firsts, LIMITS: limits, **({STRIDES: steps} if by != own[1] else {})}
            elif by == own[1]:
                yield {STARTS: firsts}


def _other_slices(own: tuple[int, int], length: int, count: int) -> Iterator[tuple[int, int]]:
    """Where else a slice may begin that takes ``count`` elements of an axis, and its steps."""
    first, step = own
    last = length - count
    wanted = [(place, 1) for place in (0, last)]
    if step == 1:
        wanted += [(first - 1, 1), (first + 1, 1)]
    if count > 1 and 2 * count in (length, length + 1):
        wanted += [(0, 2), (1, 2)]
    for place, by in dict.fromkeys(wanted):
        if (place, by) != own and 0 <= place <= length - by * (count - 1) - 1:
            yield place, by


# Other padding than an op can be given, such as more at the end of an axis

PADDED: dict[str, float] = {
    "aten.convolution.default": 0.0,
    "aten.max_pool2d_with_indices.default": -math.inf,
    "aten.max_pool2d.default": -math.inf,
    "aten.max_pool1d.default": -math.inf,
}
"""The operators with windows, by their names in PyTorch's graphs, and what their inputs are padded with."""


Shapes = Mapping[int, Shape]


class _Windows(NamedTuple):
    """Windows along some axes: the axes' lengths, how many windows are wanted, and what they are like.

    These are the windows' lengths, the steps between them, and those inside them.
    """

    lengths: tuple[int, ...]
    wanted: tuple[int, ...]
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    steps: tuple[int, ...]


def padded(node: Node, read: Shapes, target: Shape) -> Iterator[Edits]:
    """An op with its input padded so that it yields as many windows as the shape ``target`` has.

    ``read`` are the shapes of what the op reads, by their place among it. More is added at the end than
    at the beginning, as "same" padding does, or all of it there; and the other way round.
    """
    own, number = node.arguments.get("padding"), PADDED.get(node.op)
    with_ends = WITH_ENDS.get(node.op)
    if not isinstance(own, tuple) or 0 not in read:
        return
    if with_ends is not None:
        for ends in _ends(_missing(with_ends(node, read, target)), own):
            yield (set_arguments(node, {"padding": ends}),)
    elif number is not None:
        windows = _of_torch(node, read, target, len(own))
        no_padding = set_arguments(node, {"padding": (0,) * len(own)})
        for ends in _ends(_missing(windows), tuple(number for number in own for _end in "ab")):
            pad = InsertOperator(
                node=node.id, op="pad", slots=(0,), factor=Factor(number), numbers=ends
            )
            yield pad, no_padding


def _ends(missing: list[int], own: tuple[object, ...]) -> Iterator[tuple[int, ...]]:
    """How many elements may be added at the two ends of each axis, which lacks so many of them."""
    if not missing or min(missing) < 0 or not any(missing):
        return
    halves = [(total // 2, total - total // 2) for total in missing]
    at_ends = [(0, total) for total in missing]
    seen = [own]
    for pairs in (halves, at_ends, [it[::-1] for it in halves], [it[::-1] for it in at_ends]):
        ends = tuple(number for pair in pairs for number in pair)
        if ends not in seen:
            seen.append(ends)
            yield ends


def _missing(windows: _Windows | None) -> list[int]:
    """How many elements each axis lacks for the windows that are wanted; [] where that is not known."""
    if windows is None or len(set(map(len, windows))) > 1:
        return []
    missing = []
    for length, count, window, stride, step in zip(*windows, strict=True):
        missing.append((count - 1) * stride + step * (window - 1) + 1 - length)
    return missing


def _of_torch(node: Node, read: Shapes, target: Shape, axes: int) -> _Windows:
    lengths, wanted = read[0][-axes:], target[-axes:]
    sizes = _along("kernel_size", node.arguments, axes)
    if not sizes and 1 in read:
        sizes = read[1][-axes:]
    strides = _along("stride", node.arguments, axes) or sizes
    steps = _along("dilation", node.arguments, axes) or (1,) * axes
    return _Windows(lengths, wanted, sizes, strides, steps)


def _along(name: str, arguments: Arguments, axes: int) -> tuple[int, ...]:
    """An argument of windows as one number for each axis; () where there is none."""
    value = arguments.get(name, ())
    given = value if isinstance(value, tuple) else (value,)
    numbers = tuple(number for number in given if isinstance(number, int))
    return numbers * axes if len(numbers) == 1 else numbers


# Operations that are given the padding of both ends of each axis


def _of_pooling(node: Node, read: Shapes, target: Shape) -> _Windows:
    axes = len(target)
    names = "window_dimensions", "window_strides", "window_dilation"
    sizes, strides, steps = (_along(name, node.arguments, axes) for name in names)
    return _Windows(read[0], target, sizes, strides, steps)


SPECS = re.compile(r"(?:lhs|rhs|out)_spec=\(([\d, ]*)\)")
"""The axes of a convolution's image, kernel and value in the text of its dimensions, spatial ones last."""


def _of_convolution(node: Node, read: Shapes, target: Shape) -> _Windows | None:
    specs = SPECS.findall(str(node.arguments.get("dimension_numbers", "")))
    whole = read[0], read.get(1, ()), target
    if len(specs) != len(whole):
        return None
    shapes = []
    for spec, shape in zip(specs, whole, strict=True):
        axes = [int(axis) for axis in spec.split(",")[2:]]
        if max(axes, default=0) >= len(shape):
            return None
        shapes.append(tuple(shape[axis] for axis in axes))
    lengths, sizes, wanted = shapes
    strides = _along("window_strides", node.arguments, len(wanted))
    steps = _along("rhs_dilation", node.arguments, len(wanted))
    return _Windows(lengths, wanted, sizes, strides, steps)


WITH_ENDS: dict[str, Callable[[Node, Shapes, Shape], _Windows | None]] = {
    "conv_general_dilated": _of_convolution,
    "reduce_window_max": _of_pooling,
    "reduce_window_min": _of_pooling,
    "reduce_window_sum": _of_pooling,
}
"""Those of JAX's graphs, by their names, and what is known of their windows."""
