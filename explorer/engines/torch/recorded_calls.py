"""The calls of operators in a recorded step, made anew from its record: the program itself is elsewhere."""

from collections.abc import Mapping
from typing import Any

import torch

from explorer.engines.capture.recorded_values import RecordedValues
from explorer.engines.torch.operator_arguments import (
    NO_DEFAULT,
    as_given,
    operator_of,
    schema_of,
)
from explorer.engines.torch.tape_records import Call
from explorer.model.arrays import Array, unpack
from explorer.model.graph import GradGraph

TENSOR = ("Tensor", "Optional[Tensor]")
TENSORS = "List[Tensor]"
"""The type of an argument that takes all tensors that are left."""


class RecordedCalls:
    """The operators of a recorded graph, and what each was called with.

    An operator of which a tensor was not kept whole has no call.
    """

    def __init__(self, graph: GradGraph, leaves: Mapping[str, Array]) -> None:
        self._values = RecordedValues(graph, leaves)

    def call_of(self, node: str, *, may_be_stale: bool = False) -> Call | None:
        """The operator of the node with that id, and its arguments; None where these are not known.

        A record does not tell what was overwritten: ``may_be_stale`` changes nothing.
        """
        try:
            called = self._values.operator(node)
            operator = operator_of(called.op)
            return operator, (), self._arguments(node, operator)
        except (AttributeError, KeyError, ValueError):
            return None  # another version's operator, or a tensor that is not there

    def value_of(self, node: str, output: int) -> torch.Tensor:
        """An output of the node with that id; KeyError where it was not kept whole."""
        return _tensor(self._values.whole(node, output))

    def _arguments(self, node: str, operator: Any) -> dict[str, Any]:
        """All arguments by name; KeyError, ValueError where a tensor is missing or left over."""
        arguments = self._values.nodes[node].arguments
        tensors = list(map(_tensor, self._values.read_by(node)))
        given: dict[str, Any] = {}
        for argument in schema_of(operator) or ():
            if argument.name in arguments:
                given[argument.name] = as_given(argument.name, arguments[argument.name])
            elif argument.type == TENSORS:
                given[argument.name], tensors = tensors, []
            elif argument.type in TENSOR and tensors:
                given[argument.name] = tensors.pop(0)
            elif argument.default is NO_DEFAULT:
                raise KeyError(argument.name)
        if tensors:
            raise ValueError(node)
        return given


def _tensor(array: Array) -> torch.Tensor:
    return torch.from_numpy(unpack(array).copy()).to(getattr(torch, array.dtype))
