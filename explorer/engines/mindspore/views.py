"""The operators of MindSpore's graphs that give views of their operand, computed with numpy.

The kernel of a view writes nothing: its output is the memory of its operand, from the operand's
first element to its last, and that is what it dumps (2.10.0).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import ceil
from typing import Any, TypeAlias

import numpy as np

from explorer.engines.mindspore.ir.records import (
    NodeRef,
    Scalar,
    SequenceValue,
    TensorShape,
    Value,
)
from explorer.engines.mindspore.ir_statements import IRStatement
from explorer.engines.mindspore.operators import HANDING_ON, IDENTITIES
from explorer.model.arrays import AnyArray

RESHAPE = "Reshape"
"""The operator that hands the memory of a view on, as a view of its own (2.10.0)."""

Axes: TypeAlias = Sequence[int]


def _broadcast(array: AnyArray, shape: Axes) -> list[AnyArray]:
    # A size of -1 is that of the operand.
    own = (1,) * (len(shape) - array.ndim) + array.shape
    sizes = [mine if size == -1 else size for size, mine in zip(shape, own, strict=True)]
    return [np.broadcast_to(array, sizes)]


def _chunk(array: AnyArray, chunks: int, axis: int = 0) -> list[AnyArray]:
    return _split(array, max(1, ceil(array.shape[axis] / chunks)), axis)


def _diagonal(array: AnyArray, offset: int = 0, first: int = 0, second: int = 1) -> list[AnyArray]:
    return [np.diagonal(array, offset, first, second)]


def _expand_dims(array: AnyArray, axis: int) -> list[AnyArray]:
    return [np.expand_dims(array, axis)]


def _narrow(array: AnyArray, axis: int, start: int, length: int) -> list[AnyArray]:
    return _slice(array, axis, start, start + length)


def _reshape(array: AnyArray, shape: Axes) -> list[AnyArray]:
    return [array.reshape(shape)]


def _select(array: AnyArray, axis: int, index: int) -> list[AnyArray]:
    return [array.take(index, axis)]


def _slice(array: AnyArray, axis: int, start: int, end: int, step: int = 1) -> list[AnyArray]:
    rows = np.arange(array.shape[axis])[start:end:step]
    return [array.take(rows, axis)]


def _split(array: AnyArray, size: int, axis: int = 0) -> list[AnyArray]:
    return np.split(array, range(size, array.shape[axis], size), axis)


def _split_with_size(array: AnyArray, sizes: Axes, axis: int = 0) -> list[AnyArray]:
    ends = np.cumsum(sizes)[:-1]
    return np.split(array, ends, axis)


def _swap(array: AnyArray, first: int, second: int) -> list[AnyArray]:
    return [array.swapaxes(first, second)]


def _transpose(array: AnyArray, axes: Axes) -> list[AnyArray]:
    return [array.transpose(axes)]


def _unstack(array: AnyArray, axis: int = 0) -> list[AnyArray]:
    return [array.take(index, axis) for index in range(array.shape[axis])]


VIEWS: dict[str, Callable[..., list[AnyArray]]] = {
    "BroadcastToView": _broadcast,
    "ChunkView": _chunk,
    "DiagonalView": _diagonal,
    "ExpandDimsView": _expand_dims,
    "NarrowView": _narrow,
    "SelectExtView": _select,
    "SliceExtView": _slice,
    "SplitTensorView": _split,
    "SplitWithSizeView": _split_with_size,
    "TransposeExtView": _swap,
    "TransposeView": _transpose,
    "UnstackExtView": _unstack,
    "View": _reshape,
}
"""What each operator yields for its operand and its other arguments, in their order."""


def chain_of_views(
    statement: IRStatement, by_number: Mapping[int, IRStatement]
) -> list[IRStatement]:
    """The operators from memory that is no view's to a statement that yields a view of it.

    It is empty for any other statement. ``by_number`` are those of the subgraph.
    """
    chain: list[IRStatement] = []
    link = statement
    while link.op in VIEWS or link.op == RESHAPE or (chain and link.op in HANDING_ON | IDENTITIES):
        if link.op not in HANDING_ON | IDENTITIES:
            chain.insert(0, link)
        operand = link.operands[0]
        if not isinstance(operand, NodeRef):
            break
        link = by_number[operand.index]
    return chain if any(link.op in VIEWS for link in chain) else []


def values_of_views(memory: AnyArray, chain: Sequence[IRStatement]) -> list[AnyArray]:
    """What the last operator of a chain yields of the memory of the first one's operand.

    It is empty where the memory is not all of that operand.
    """
    shape = chain[0].node.inputs[0].shape
    if not isinstance(shape, TensorShape) or memory.size != int(np.prod(shape.sizes)):
        return []
    views = [memory.reshape(shape.sizes)]
    for link in chain:
        if link.op == RESHAPE:
            sizes, _ = link.outputs[0]
            views = [views[0].reshape(sizes)]
        else:
            views = VIEWS[link.op](views[0], *_numbers(link.operands[1:]))
    return views


def _numbers(values: Iterable[Value]) -> list[Any]:
    """Numbers and sequences of numbers as Python has them; anything else is left out."""
    numbers: list[Any] = []
    for value in values:
        if isinstance(value, Scalar):
            numbers.append(value.value)
        elif isinstance(value, SequenceValue):
            numbers.append(tuple(_numbers(value.values)))
    return numbers
