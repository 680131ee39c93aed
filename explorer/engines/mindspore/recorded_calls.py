"""The calls of operators in a recorded step, made anew from its record: the program itself is elsewhere."""

from collections.abc import Iterator, Mapping
from typing import Any

import mindspore as ms
from mindspore._c_expression import op_enum

from explorer.engines.capture.recorded_values import RecordedValues
from explorer.engines.mindspore.enumerations import DTYPES, ENUMERATIONS
from explorer.engines.mindspore.net import tensor_like
from explorer.engines.mindspore.operator_arguments import names_of
from explorer.engines.mindspore.operators import draws_random_numbers
from explorer.engines.mindspore.proof import RecordedCall
from explorer.model.arrays import Array, unpack
from explorer.model.graph import Arguments, ArgumentValue, GradGraph, Node


class RecordedCalls(Mapping[str, RecordedCall]):
    """The operators of a recorded graph, and what each was called with, by the ids of their nodes.

    Those are left out of which a tensor was not kept whole. ``leaves`` are the values of leaves, by the
    ids of their nodes.
    """

    def __init__(self, graph: GradGraph, leaves: Mapping[str, Array]) -> None:
        self._values = RecordedValues(graph, leaves)

    def __getitem__(self, node: str) -> RecordedCall:
        """The call of the node with that id; KeyError where it is not known."""
        called = self._values.operator(node)
        names = names_of(called.op)
        if names is None or draws_random_numbers(called.op):
            raise KeyError(node)
        tensors: list[Any] = list(map(_tensor, self._values.read_by(node)))
        given = [name for name in names.order if name not in called.arguments]
        if len(given) == 1 and len(tensors) > 1:
            tensors = [tuple(tensors)]  # as Concat takes them
        if len(given) != len(tensors):
            raise KeyError(node)
        waiting = iter(tensors)
        values = tuple(
            _as_handed_on(name, called.arguments[name])
            if name in called.arguments
            else next(waiting)
            for name in names.order
        )
        return RecordedCall(called.op, values, _attributes(called, names.order))

    def __iter__(self) -> Iterator[str]:
        return (node for node in self._values.nodes if node in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _tensor(array: Array) -> Any:
    return tensor_like(unpack(array), getattr(ms, array.dtype))


def _attributes(called: Node, order: tuple[str, ...]) -> Arguments:
    return {name: value for name, value in called.arguments.items() if name not in order}


def _as_handed_on(name: str, value: ArgumentValue) -> Any:
    """An argument of a record as MindSpore hands it on: names and dtypes by their numbers."""
    if isinstance(value, str) and name in ENUMERATIONS:
        return op_enum.str_to_enum("", name, value)
    if isinstance(value, str) and name in DTYPES:
        return getattr(ms, value)
    return value
