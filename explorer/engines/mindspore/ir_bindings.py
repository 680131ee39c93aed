"""What the names in an IR program stand for while its graphs are walked: tensors of the gradient
graph, tuples and functions of them, and constants.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias, Union

import numpy as np

from explorer.engines.capture.builder import GraphBuilder, Slot
from explorer.engines.mindspore.ir.records import (
    NodeRef,
    OuterRef,
    ParameterRef,
    Scalar,
    SequenceValue,
    TensorValue,
    Value,
)
from explorer.engines.mindspore.ir_statements import SEQUENCES, IRStatement, tensor_count
from explorer.model.arrays import AnyArray, Summary, carrier
from explorer.model.graph import Output, Phase
from explorer.numeric.summaries import summarise

NOT_WRITTEN_OUT = "the IR does not write out its elements"
NUMBER = re.compile(r"[-+]?(?:nan|inf|\d[\d.]*(?:e[-+]?\d+)?)|[Tt]rue|[Ff]alse")
FLAGS = {"true": 1.0, "false": 0.0}
ELLIPSIS = "..."
"""What stands for the elements of a large tensor that MindSpore leaves out."""


@dataclass(frozen=True)
class Closure:
    """A function value: the slots that it has closed over."""

    slots: tuple[Slot, ...]


Binding: TypeAlias = Union[Slot, Closure, TensorValue, "list[Binding]", None]
"""What a name stands for: a tensor, a function, a constant that has no node yet, a tuple of these,
or (None) something that is no tensor.
"""


def flat(binding: Binding) -> Iterator[Slot | TensorValue | None]:
    """What a binding holds from left to right, a function as the slots that it has closed over."""
    if isinstance(binding, list):
        for item in binding:
            yield from flat(item)
    elif isinstance(binding, Closure):
        yield from binding.slots
    else:
        yield binding


def slots_of(binding: Binding) -> Iterator[Slot]:
    """The tensors that a binding holds, from left to right."""
    for item in flat(binding):
        if isinstance(item, tuple):
            yield item


def item_of(operand: Binding, place: Value) -> Binding:
    """What a TupleGetItem takes out of its first operand, with the second one as its place."""
    index = int(place.value) if isinstance(place, Scalar) else 0
    if isinstance(operand, list) and index < len(operand):
        return operand[index]
    return operand


def results_of(number: int, statement: IRStatement) -> Binding:
    """What the tensors that a node yields are bound to, nested as its type nests them."""
    if statement.elements is None:
        return (number, 0)
    results: list[Binding] = []
    output = 0
    for element in statement.elements:
        count = tensor_count(element)
        if element.name == "Func":
            # What the function closes over is what has gone into the node.
            results.append(Closure(((number, 0),)))
        elif element.name in SEQUENCES:
            results.append([(number, output + step) for step in range(count)])
        else:
            results.append((number, output) if count else None)
        output += count
    return results


class Bindings:
    """The bindings of a program; those of one graph at a time can be read by their bare names."""

    def __init__(self) -> None:
        self._graph = ""
        self._by_label: dict[str, Binding] = {}
        self._by_number: dict[int, Binding] = {}
        self._module_parameters: dict[str, Slot] = {}
        self._by_graph: dict[tuple[str, str], Binding] = {}

    def bind_module_parameter(self, label: str, slot: Slot) -> None:
        """Let a label stand for a parameter of the module, in every graph."""
        self._module_parameters[label] = slot

    def enter(self, graph: str) -> None:
        """Read and bind in that graph from now on."""
        self._graph = graph
        self._by_label = dict(self._module_parameters)
        self._by_number = {}

    def bind_parameter(self, label: str, binding: Binding) -> None:
        """Let a label stand for a parameter of the graph."""
        self._by_label[label] = binding
        self._by_graph[self._graph, label] = binding

    def bind_node(self, number: int, name: str, binding: Binding) -> None:
        """Let a node of the graph stand for its value; other graphs read it by its name."""
        self._by_number[number] = binding
        self._by_graph[self._graph, name] = binding

    def module_parameters(self) -> list[Slot]:
        """The slots of the module's parameters, in their order."""
        return list(self._module_parameters.values())

    def of(self, value: Value) -> Binding:
        """What an operand stands for."""
        if isinstance(value, NodeRef):
            return self._by_number.get(value.index)
        if isinstance(value, ParameterRef):
            # A parameter of a parent graph comes with the name of that graph.
            own = self._by_label.get(value.label)
            return self._by_graph.get((value.graph, value.label), own)
        if isinstance(value, OuterRef):
            return self._by_graph.get((value.graph, value.name))
        if isinstance(value, SequenceValue):
            return [self.of(item) for item in value.values]
        return value if isinstance(value, TensorValue) else None


class Constants:
    """The nodes of constants: equal ones of one phase and subgraph share a node, which shows its
    elements where values are ``observed``.
    """

    def __init__(self, builder: GraphBuilder, observed: bool) -> None:
        self._builder = builder
        self._observed = observed
        self._slots: dict[tuple[TensorValue, Phase, str], Slot] = {}

    def placed(self, binding: Binding, phase: Phase, body: str) -> Binding:
        """A binding in which every constant is a node of that phase and subgraph."""
        if isinstance(binding, list):
            return [self.placed(item, phase, body) for item in binding]
        if isinstance(binding, TensorValue):
            return self._slot(binding, phase, body)
        return binding

    def _slot(self, value: TensorValue, phase: Phase, body: str) -> Slot:
        slot = self._slots.get((value, phase, body))
        # One that nobody read until now may have been taken out of the graph.
        if slot is not None and self._builder.is_kept(slot[0]):
            return slot
        array, dtype = elements(value), value.dtype.lower()
        missing = {} if array is not None else {"values": NOT_WRITTEN_OUT}
        summary = None
        if array is not None and self._observed:
            summary = summary_as(array, dtype)
        outputs = (Output(value.shape, dtype, summary),)
        number = self._builder.add(
            "constant", "constant", phase, outputs=outputs, body=body, missing=missing
        )
        self._slots[value, phase, body] = number, 0
        return number, 0


def elements(value: TensorValue) -> AnyArray | None:
    """The elements of a printed tensor; None where MindSpore has left some out."""
    words = NUMBER.findall(value.text)
    if len(words) != int(np.prod(value.shape)) or ELLIPSIS in value.text:
        return None
    numbers = []
    for word in words:
        flag = FLAGS.get(word.lower())
        numbers.append(float(word) if flag is None else flag)
    return np.array(numbers).reshape(value.shape)


def summary_as(array: AnyArray, dtype: str) -> Summary:
    """The summary of an array of a tensor whose dtype is called ``dtype``."""
    return summarise(array.astype(carrier(dtype), copy=False), dtype)
