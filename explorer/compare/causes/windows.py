"""Windows and slices: which other elements an op may take, and what its input may be padded with."""

import re
from collections.abc import Iterator, Mapping

from explorer.compare.causes.arguments import set_arguments
from explorer.compare.graphs.view import Shape
from explorer.model.causes import Edits, Factor, InsertOperator
from explorer.model.graph import Arguments, Node
from explorer.operators.table import TRIED

Shapes = Mapping[int, Shape]

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
    for axis, own in enumerate(zip(starts, strides, strict=True)):
        for first, by in _other_slices(own, read[axis], made[axis]):
            firsts = (*starts[:axis], first, *starts[axis + 1 :])
            steps = (*strides[:axis], by, *strides[axis + 1 :])
            ends = [at + step * n for at, step, n in zip(firsts, steps, made, strict=True)]
            if LIMITS in node.arguments:
                limits = tuple(map(min, ends, read))
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


def _along(name: str, arguments: Arguments, axes: int) -> tuple[int, ...]:
    """An argument of windows as one number for each axis; () where there is none."""
    value = arguments.get(name, ())
    given = value if isinstance(value, tuple) else (value,)
    numbers = tuple(number for number in given if isinstance(number, int))
    return numbers * axes if len(numbers) == 1 else numbers


# Other padding than an op can be given, such as more at the end of an axis


SPECS = re.compile(r"(?:lhs|rhs|out)_spec=\(([\d, ]*)\)")
"""The axes of a convolution's image, kernel and value in the text of its dimensions, spatial ones last."""


def _missing(node: Node, read: Shapes, target: Shape, padded_axes: int) -> list[int]:
    """How many elements each axis lacks for the windows that are wanted; [] where that is not known."""
    names = TRIED.windowed[node.op]
    whole = read[0], read.get(1, ()), target
    # In PyTorch's graphs the axes of space are the last ones, as many as have padding.
    shapes = [shape[-padded_axes:] for shape in whole]
    if names.number is None:
        shapes = list(whole)
        specs = SPECS.findall(str(node.arguments.get("dimension_numbers", "")))
        if not names.sizes and len(specs) != len(whole):
            return []
        for place, spec in enumerate(specs):
            axes = [int(axis) for axis in spec.split(",")[2:]]
            if max(axes, default=0) >= len(whole[place]):
                return []
            shapes[place] = tuple(whole[place][axis] for axis in axes)
    lengths, kernel, wanted = shapes
    sizes, strides, steps = (
        _along(it, node.arguments, len(wanted)) for it in (names.sizes, names.strides, names.steps)
    )
    sizes = sizes or kernel
    windows = lengths, wanted, sizes, strides or sizes, steps or (1,) * len(wanted)
    if len(set(map(len, windows))) > 1:
        return []
    return [
        (count - 1) * stride + step * (window - 1) + 1 - length
        for length, count, window, stride, step in zip(*windows, strict=True)
    ]


def padded(node: Node, read: Shapes, target: Shape) -> Iterator[Edits]:
    """An op with its input padded so that it yields as many windows as the shape ``target`` has.

    ``read`` are the shapes of what the op reads, by their place among it. More is added at the end than
    at the beginning, as "same" padding does, or all of it there; and the other way round.
    """
    own = node.arguments.get("padding")
    if node.op not in TRIED.windowed or not isinstance(own, tuple) or 0 not in read:
        return
    missing, number = _missing(node, read, target, len(own)), TRIED.windowed[node.op].number
    if not any(missing) or min(missing) < 0:
        return
    halves = [(total // 2, total - total // 2) for total in missing]
    at_ends = [(0, total) for total in missing]
    seen = [own if number is None else tuple(it for it in own for _end in "ab")]
    for pairs in (halves, at_ends, [it[::-1] for it in halves], [it[::-1] for it in at_ends]):
        ends = tuple(it for pair in pairs for it in pair)
        if ends in seen:
            continue
        seen.append(ends)
        if number is None:
            yield (set_arguments(node, {"padding": ends}),)
        else:
            factor = Factor(number)
            pad = InsertOperator(node=node.id, op="pad", slots=(0,), factor=factor, numbers=ends)
            yield pad, set_arguments(node, {"padding": (0,) * len(own)})
