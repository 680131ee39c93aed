"""What is tried with windows: other padding than an op can be given, such as more at the end of an axis."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from explorer.compare.graphs.view import Shape
from explorer.model.causes import InputChange, InputHow, Trial
from explorer.model.graph import Arguments, Node

PADDED: dict[str, InputHow] = {
    "aten.convolution.default": "padded",
    "aten.max_pool2d_with_indices.default": "padded_below",
    "aten.max_pool2d.default": "padded_below",
    "aten.max_pool1d.default": "padded_below",
}
"""The operators with windows, by their names in PyTorch's graphs, and how their inputs are padded."""


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


def padded(node: Node, read: Shapes, target: Shape) -> Iterator[Trial]:
    """An op with its input padded so that it yields as many windows as the shape ``target`` has.

    ``read`` are the shapes of what the op reads, by their place among it. More is added at the end than
    at the beginning, as "same" padding does, or all of it there; and the other way round.
    """
    own, how, with_ends = node.arguments.get("padding"), PADDED.get(node.op), WITH_ENDS.get(node.op)
    if not isinstance(own, tuple) or 0 not in read:
        return
    if with_ends is not None:
        for ends in _ends(_missing(with_ends(node, read, target)), own):
            yield Trial(node.id, {"padding": ends})
    elif how is not None:
        windows = _of_torch(node, read, target, len(own))
        for ends in _ends(_missing(windows), tuple(number for number in own for _end in "ab")):
            change = InputChange((0,), how, tuple(map(float, ends)))
            yield Trial(node.id, {"padding": (0,) * len(own)}, inputs=(change,))


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
