"""What is tried with windows: other padding than an op can be given, such as more at the end of an axis."""

from collections.abc import Iterator
from typing import NamedTuple

from explorer.model.causes import InputChange, InputHow, Trial
from explorer.model.graph import Arguments, Node, Output

PADDED: dict[str, InputHow] = {
    "aten.convolution.default": "padded",
    "aten.max_pool2d_with_indices.default": "padded_below",
    "aten.max_pool2d.default": "padded_below",
    "aten.max_pool1d.default": "padded_below",
}
"""The operators with windows, by their names in PyTorch's graphs, and how their inputs are padded."""


class _Names(NamedTuple):
    """What the arguments of windows are called: their lengths, their steps, and those inside them."""

    window: str
    stride: str
    dilation: str


NAMES = _Names("kernel_size", "stride", "dilation")

WITH_ENDS: dict[str, _Names] = dict.fromkeys(
    ("reduce_window_max", "reduce_window_min", "reduce_window_sum"),
    _Names("window_dimensions", "window_strides", "window_dilation"),
)
"""The operations, by their names in JAX's graphs, that are given the padding of both ends of each axis."""


def padded(node: Node, read: dict[int, Output], target: Output) -> Iterator[Trial]:
    """An op with its input padded so that it yields as many windows as ``target`` has.

    ``read`` are the tensors that the op reads, by their place among them. More is added at the end than
    at the beginning, as "same" padding does, or all of it there; and the other way round.
    """
    own, how, names = node.arguments.get("padding"), PADDED.get(node.op), WITH_ENDS.get(node.op)
    if not isinstance(own, tuple) or 0 not in read:
        return
    if names is not None:
        missing = _missing(node, read, target, len(own) // 2, names)
        for ends in _ends(missing, own):
            yield Trial(node.id, {"padding": ends})
    elif how is not None:
        missing = _missing(node, read, target, len(own), NAMES)
        for ends in _ends(missing, tuple(number for number in own for _end in "ab")):
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


def _missing(
    node: Node, read: dict[int, Output], target: Output, axes: int, names: _Names
) -> list[int]:
    """How many elements each axis lacks for the windows that are wanted; [] where that is not known."""
    lengths, wanted = read[0].shape[-axes:], target.shape[-axes:]
    windows = _along(names.window, node.arguments, axes)
    if not windows and 1 in read:
        windows = read[1].shape[-axes:]
    strides = _along(names.stride, node.arguments, axes) or windows
    steps = _along(names.dilation, node.arguments, axes) or (1,) * axes
    if not len(lengths) == len(wanted) == len(windows) == len(strides) == len(steps) == axes:
        return []
    missing = []
    for length, count, window, stride, step in zip(
        lengths, wanted, windows, strides, steps, strict=True
    ):
        missing.append((count - 1) * stride + step * (window - 1) + 1 - length)
    return missing


def _along(name: str, arguments: Arguments, axes: int) -> tuple[int, ...]:
    """An argument of windows as one number for each axis; () where there is none."""
    value = arguments.get(name, ())
    given = value if isinstance(value, tuple) else (value,)
    numbers = tuple(number for number in given if isinstance(number, int))
    return numbers * axes if len(numbers) == 1 else numbers
