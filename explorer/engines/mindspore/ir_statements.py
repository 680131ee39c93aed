"""The statements of an IR program as capture reads them, and the bindings of its names.

Statements say which tensors go in and come out, which node derives from which, and where it was
written. A name is bound to a tensor of the gradient graph, to a tuple or a function of tensors, or
to a constant, while the graphs of the program are walked.
"""

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias, Union

import numpy as np

from explorer.engines.capture.builder import GraphBuilder, Slot
from explorer.engines.mindspore.ir import IRNode, Module, Subgraph
from explorer.engines.mindspore.ir.records import (
    Abstract,
    GraphRef,
    NodeRef,
    OuterRef,
    ParameterRef,
    Scalar,
    SequenceValue,
    Source,
    TensorShape,
    TensorValue,
    Type,
    Value,
)
from explorer.engines.mindspore.operators import HANDING_ON, IDENTITIES
from explorer.engines.source_lines import Line
from explorer.model.arrays import AnyArray, Summary, carrier
from explorer.model.graph import Absence, Output, Phase
from explorer.numeric.summaries import summarise

SEQUENCES = frozenset({"Tuple", "List"})
"""The names of types that hold others in order."""

DEFINITIONS = ("def ", "class ", "@")

WRAPPED_NET = "differentiated"
"""The attribute under which the Cells of ``gradient_cell`` hold the user's net."""

BACKPROPAGATOR = "◂"
"""The mark of a subgraph that computes the gradients of another one, whose mark is ▸."""

RECOMPUTE_KEYS = ("recompute_sub_graph", "recompute_id")
"""The attributes by which the nodes of a Cell with ``recompute()`` are numbered (2.10.0)."""


def is_definition(source: Source) -> bool:
    """Whether a source is the head of a function or class, and no call."""
    return source.code.lstrip().startswith(DEFINITIONS)


@dataclass(frozen=True, eq=False)
class IRStatement:
    """One node of a subgraph.

    ``graph`` is the subgraph's name and ``called`` are those that it may enter; ``outputs`` are
    shape and dtype name of each tensor that it yields; ``elements`` are the types in a tuple that
    it yields, None when it yields no tuple; ``lines`` are the calls that lead to it, outermost
    first.
    """

    node: IRNode
    graph: str
    op: str
    called: tuple[str, ...]
    outputs: tuple[tuple[tuple[int, ...], str], ...]
    elements: tuple[Type, ...] | None
    lines: tuple[Line, ...]

    @property
    def full_name(self) -> str:
        """The scope and the numbered operator: "Default/fc-Dense/MatMul-op0"."""
        return self.node.full_name

    @property
    def module_path(self) -> str:
        """The path of the user's module in the full name.

        It is "fc" in "Gradients/Default/differentiated-Net/fc-Dense/Grad_MatMul/MatMul-op0".
        """
        scopes = self.full_name.split("/")[:-1]
        path = [scope.rpartition("-")[0] for scope in scopes if "-" in scope]
        if path and path[0] == WRAPPED_NET:
            path.pop(0)
        return ".".join(path)

    @property
    def operands(self) -> tuple[Value, ...]:
        """The operands; those of a call through a value begin with that value."""
        callee = self.node.callee
        if callee is None or isinstance(callee, GraphRef):
            return self.node.operands
        return (callee, *self.node.operands)

    @property
    def flags(self) -> list[bool]:
        """The values of the bools among the operands."""
        scalars = [value for value in self.node.operands if isinstance(value, Scalar)]
        return [bool(scalar.value) for scalar in scalars if scalar.dtype == "Bool"]

    @property
    def named_graphs(self) -> tuple[str, ...]:
        """The subgraphs among the operands."""
        return tuple(value.name for value in self.node.operands if isinstance(value, GraphRef))

    @property
    def twin(self) -> str:
        """The identity that a node of a Cell with ``recompute()`` shares with its recomputation.

        It is "" for any other node.
        """
        numbers = []
        for key in RECOMPUTE_KEYS:
            number = self.node.cnode_attrs.get(key)
            if number is None:
                return ""
            if isinstance(number, Scalar):
                numbers.append(str(number.value))
        return "↺" + ".".join(numbers)

    @property
    def recomputes(self) -> bool:
        """Whether this is the recomputation of a node, which belongs to backward."""
        return bool(self.twin) and "duplicated" in self.node.cnode_attrs

    @property
    def in_bprop(self) -> bool:
        """Whether it was written in a ``bprop``, the user's own backward of a Cell.

        The compiler does not mark the nodes of one as backward (2.10.0).
        """
        return any(source.code.lstrip().startswith("def bprop(") for source in self.node.sources)

    @property
    def marked_backward(self) -> bool:
        """Whether the statement itself says that it belongs to backward."""
        if self.full_name.startswith("Gradients") or self.node.forward_unique_id is not None:
            return True
        calls_backward = any(BACKPROPAGATOR in name for name in self.called)
        return calls_backward or self.recomputes or self.in_bprop


Statements = dict[str, list[IRStatement]]
"""The statements of a program by subgraph, in printed order, the Return last."""


def program(module: Module) -> Statements:
    """The statements of every subgraph of a module."""
    statements: Statements = {}
    for graph in module.subgraphs:
        nodes = list(graph.nodes)
        if graph.returned:
            nodes.append(graph.returned)
        statements[graph.name] = [_statement(node, graph) for node in nodes]
    return statements


def _statement(node: IRNode, graph: Subgraph) -> IRStatement:
    return IRStatement(
        node=node,
        graph=graph.name,
        op=node.op or "call",
        called=_called(node),
        outputs=tuple(tensor_outputs(node.output)),
        elements=_elements(node.output),
        lines=_lines(node),
    )


def _elements(output: Abstract | None) -> tuple[Type, ...] | None:
    """The types in a tuple that a node yields; None when it yields no tuple."""
    if output is None or output.type.name != "Tuple":
        return None
    return output.type.args


def _called(node: IRNode) -> tuple[str, ...]:
    """The subgraphs that a node may enter."""
    if not node.targets and isinstance(node.callee, GraphRef):
        return (node.callee.name,)
    return node.targets


def _lines(node: IRNode) -> tuple[Line, ...]:
    sources = node.sources or node.forward_sources
    return tuple((source.file, source.line) for source in sources if not is_definition(source))


# Types


def tensor_count(kind: Type) -> int:
    """How many tensors a type holds."""
    if _dtype(kind):
        return 1
    if kind.name in SEQUENCES:
        return sum(map(tensor_count, kind.args))
    return 0


def tensor_outputs(abstract: Abstract | None) -> Iterator[tuple[tuple[int, ...], str]]:
    """Shape and dtype name of each tensor in a value."""
    if abstract is None:
        return
    for kind, shape in abstract.leaves():
        dtype = _dtype(kind)
        if dtype:
            sizes = shape.sizes if isinstance(shape, TensorShape) else ()
            yield sizes, dtype


def _dtype(kind: Type) -> str:
    """The dtype name of a tensor's type, or of a reference to one; "" for any other type."""
    if kind.name == "Ref" and kind.args:
        kind = kind.args[0]
    if kind.name == "Tensor" and kind.args:
        return kind.args[0].name.lower()
    return ""


# Parts of a program


def reached(statements: Statements, entry: str) -> list[str]:
    """The graphs that ``entry`` calls or hands on, itself or through others; callers come first."""
    graphs = {entry: None}
    waiting = deque([entry])
    while waiting:
        for statement in statements.get(waiting.popleft(), ()):
            for name in (*statement.called, *statement.named_graphs):
                if name in statements and name not in graphs:
                    graphs[name] = None
                    waiting.append(name)
    return list(graphs)


def needed_by_outputs(statements: list[IRStatement]) -> frozenset[int]:
    """The numbers of the statements that a net's outputs need.

    ``statements`` are those of a graph that returns (outputs, gradients).
    """
    by_number = {statement.node.index: statement for statement in statements}
    result = _result(statements[-1], by_number)
    if result is None or result.op != "MakeTuple":
        return frozenset()
    needed: set[int] = set()
    waiting = list(result.operands[:1])
    while waiting:
        value = waiting.pop()
        if isinstance(value, SequenceValue):
            waiting.extend(value.values)
        elif isinstance(value, NodeRef) and value.index in by_number and value.index not in needed:
            needed.add(value.index)
            waiting.extend(by_number[value.index].operands)
    return frozenset(needed)


def _result(returned: IRStatement, by_number: dict[int, IRStatement]) -> IRStatement | None:
    """The statement whose value a Return yields, operators that only hand it on left out."""
    statement: IRStatement | None = returned
    while statement is not None and statement.op in HANDING_ON | IDENTITIES:
        operand = statement.operands[0]
        statement = by_number.get(operand.index) if isinstance(operand, NodeRef) else None
    return statement


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
