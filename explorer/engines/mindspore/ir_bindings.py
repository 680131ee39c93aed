"""Bindings of the names in an IR program to the gradient graph while its graphs are walked.

A name is bound to a tensor of the gradient graph, to a tuple or a function of tensors, or to a
constant.
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
from explorer.model.absences import Absence
from explorer.model.arrays import AnyArray, Summary, carrier
from explorer.model.graph import Output, Phase
from explorer.numeric.summaries import summarise

NUMBER = re.compile(r"[-+]?(?:nan|inf|\d[\d.]*(?:e[-+]?\d+)?)|[Tt]rue|[Ff]alse")
FLAGS = {"true": 1.0, "false": 0.0}
ELLIPSIS = "..."
"""MindSpore's sign for elements of a large tensor that it leaves out (2.10.0)."""


@dataclass(frozen=True)
class Closure:
    """A function value: the slots that it has closed over."""

    slots: tuple[Slot, ...]


Binding: TypeAlias = Union[Slot, Closure, TensorValue, "list[Binding]", None]
"""A tensor, a function, a constant that has no node yet, a list of these, or None for no tensor."""


def flat_binding(binding: Binding) -> Iterator[Slot | TensorValue | None]:
    """The items of a binding from left to right; a function as the slots it has closed over."""
    if isinstance(binding, list):
        for item in binding:
            yield from flat_binding(item)
    elif isinstance(binding, Closure):
        yield from binding.slots
    else:
        yield binding


def slots_of(binding: Binding) -> Iterator[Slot]:
    """The tensors that a binding holds, from left to right."""
    for item in flat_binding(binding):
        if isinstance(item, tuple):
            yield item


def item_of(operand: Binding, place: Value) -> Binding:
    """The binding of a TupleGetItem: item ``place`` of ``operand``."""
    index = 0
    if isinstance(place, Scalar):
        index = int(place.value)
    if isinstance(operand, list) and index < len(operand):
        return operand[index]
    return operand


def results_of(number: int, statement: IRStatement) -> Binding:
    """The binding of a node's results, nested as the node's type nests them."""
    if statement.elements is None:
        return (number, 0)
    results: list[Binding] = []
    output = 0
    for element in statement.elements:
        count = tensor_count(element)
        if element.name == "Func":
            # The function closes over inputs of the node, which therefore stands for them.
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
        """The binding of an operand; None for one that is no tensor."""
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
    """The nodes of constants: equal constants of one phase and subgraph share a node.

    It shows their elements where values are ``observed``.
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
        # A constant that was unread may have been taken out of the graph.
        if slot is not None and self._builder.is_kept(slot[0]):
            return slot
        array = elements(value)
        dtype = value.dtype.lower()
        missing = {}
        summary = None
        if array is None:
            missing["values"] = Absence("not_in_ir")
        elif self._observed:
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
    """The summary of a tensor of that dtype whose elements are ``array``."""
    return summarise(array.astype(carrier(dtype), copy=False), dtype)
