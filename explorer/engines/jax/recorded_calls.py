"""The operations of a recorded step, made anew from its record: the program itself is elsewhere."""

import ast
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import jax
import jax.numpy as jnp
from jax._src.ad_util import add_jaxvals_p

from explorer.engines.capture.recorded_values import RecordedValues
from explorer.engines.jax.operator_arguments import STARTS, name_at
from explorer.engines.jax.recording import Origin, Place, Record, Recording
from explorer.model.arrays import Array, unpack
from explorer.model.graph import Arguments, GradGraph, Node

PRIMITIVES: Mapping[str, Any] = {"add_any": add_jaxvals_p}
"""Operations that are not among those of jax.lax."""

DROPPED: Mapping[str, Mapping[str, Any]] = {
    **{f"reduce_{how}": {"axes": ()} for how in ("sum", "max", "min", "prod", "and", "or")},
    "broadcast_in_dim": {"sharding": None, "broadcast_dimensions": ()},
    "convert_element_type": {"weak_type": False, "sharding": None},
    "dot_general": {"out_sharding": None},
    "iota": {"sharding": None},
    "reshape": {"sharding": None},
}
"""What operations take that a record does not have, as it is empty or changes no value (0.6.2)."""

PARAMETERS: Mapping[str, tuple[str, ...]] = {
    "integer_pow": ("y",),
    "concatenate": ("dimension",),
    "reduce_precision": ("exponent_bits", "mantissa_bits"),
    **dict.fromkeys(("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"), ("axis", "reverse")),
}
"""Numbers among the arguments that jax.lax takes by place, and that are no operands."""

DTYPES = ("new_dtype", "preferred_element_type", "dtype", "index_dtype")
"""Arguments that are dtypes, which a record has by their names."""

AXES_PER_ITEM = {"padding": 2, "padding_config": 3}
"""Arguments of so many numbers for each axis, which a record has in one row."""

DIMENSIONS = "dimension_numbers"

NESTED = re.compile(r"\w+=(\([^=]*?\))(?=, \w+=|\)$)")
"""A field in the text of a record of dimensions."""


class RecordedCalls(Recording):
    """The operations of a recorded graph; ``numbers`` are those of their records, by the ids of the nodes.

    ``leaves`` are the values of leaves, by the ids of their nodes. An operation is left out of which an array
    was not kept whole.
    """

    def __init__(self, graph: GradGraph, leaves: Mapping[str, Array]) -> None:
        super().__init__()
        self._values = RecordedValues(graph, leaves)
        self.numbers: dict[str, int] = {}
        # Others are read for their values alone.
        numbers = {node.id: number for number, node in enumerate(graph.nodes)}
        reads: dict[str, dict[int, Origin]] = {}
        for edge in graph.edges:
            if edge.kind != "control":
                reads.setdefault(edge.target, {})[edge.input] = numbers[edge.origin], edge.output
        for node in graph.nodes:
            outputs = list(self._outputs(node))
            read = reads.get(node.id, {})
            record = self._called(node, [read[place] for place in sorted(read)], outputs)
            self.records.append(record or _of_values(node, outputs))
            if record or all(value is not None for value in outputs):
                self.numbers[node.id] = numbers[node.id]

    def _outputs(self, node: Node) -> Iterator[Any]:
        for output in range(len(node.outputs)):
            with suppress(KeyError):
                yield _array(self._values.whole(node.id, output))
                continue
            yield None

    def _called(self, node: Node, read: list[Origin], outputs: list[Any]) -> Record | None:
        """The record of an operation that may be computed again; None of any other."""
        if self._values.why_not(node.id):
            return None
        primitive = PRIMITIVES.get(node.op) or getattr(jax.lax, f"{node.op}_p", None)
        if primitive is None:
            return None
        operands, origins, params = _arguments(node, read)
        return Record(
            primitive, params, operands, origins, outputs, Place(), node.kind, node.phase, node.name
        )


def _of_values(node: Node, outputs: list[Any]) -> Record:
    return Record(None, {}, (), (), outputs, Place(), node.kind, node.phase, node.name)


def _array(array: Array) -> Any:
    return jnp.asarray(unpack(array), array.dtype)


def _arguments(
    node: Node, read: list[Origin]
) -> tuple[tuple[Any, ...], tuple[Origin | None, ...], dict[str, Any]]:
    """The operands, where they come from, and the parameters: numbers that were written in are operands."""
    params = dict(node.arguments)
    operands: list[Any] = []
    origins: list[Origin | None] = []
    waiting = list(read)
    while True:
        place = len(operands)
        name = name_at(node.op, place)
        starts = params.get(STARTS)
        is_parameter = name in PARAMETERS.get(node.op, ())
        if isinstance(params.get(name), (bool, int, float)) and not is_parameter:
            operands.append(params.pop(name))
            origins.append(None)
        elif name == f"{STARTS}[0]" and isinstance(starts, tuple):
            del params[STARTS]
            operands += starts
            origins += [None] * len(starts)
        elif waiting:
            operands.append(None)
            origins.append(waiting.pop(0))
        else:
            return tuple(operands), tuple(origins), {**DROPPED.get(node.op, {}), **_params(params)}


def _params(arguments: Arguments) -> dict[str, Any]:
    params: dict[str, Any] = {}
    for name, value in arguments.items():
        if name in DTYPES and isinstance(value, str):
            params[name] = jnp.dtype(value)
        elif name in AXES_PER_ITEM and isinstance(value, tuple):
            width = AXES_PER_ITEM[name]
            params[name] = tuple(value[at : at + width] for at in range(0, len(value), width))
        elif name == DIMENSIONS and isinstance(value, str):
            params[name] = _dimensions(value)
        else:
            params[name] = value
    return params


def _dimensions(text: str) -> Any:
    """Which dimensions are which, of the text that a record has of it; ValueError of any other."""
    fields = NESTED.findall(text)
    if not fields:
        return ast.literal_eval(text)
    return jax.lax.ConvDimensionNumbers(*map(ast.literal_eval, fields))
