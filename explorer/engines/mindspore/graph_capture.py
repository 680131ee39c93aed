"""One stage of a compiled program as a gradient graph.

Bookkeeping of MindSpore's IR is folded away, the phases are separated, and backward is linked to
forward.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from explorer.engines.capture.builder import GraphBuilder, Slot
from explorer.engines.capture.proof import PROVABLE, GraphValues, prove
from explorer.engines.mindspore.forward_links import (
    Alternatives,
    ForwardIdentities,
    ForwardLinks,
    link_to_leaf,
)
from explorer.engines.mindspore.ir import Module, Subgraph
from explorer.engines.mindspore.ir.records import Parameter, StringValue
from explorer.engines.mindspore.ir_statements import (
    BACKPROPAGATOR,
    Binding,
    Bindings,
    Closure,
    Constants,
    IRStatement,
    Statements,
    flat_binding,
    item_of,
    needed_by_outputs,
    reached,
    results_of,
    slots_of,
    summary_as,
    tensor_outputs,
)
from explorer.engines.mindspore.kernel_values import KernelValues
from explorer.engines.mindspore.operator_arguments import statement_arguments
from explorer.engines.mindspore.operator_sites import RanOperator, place_operators
from explorer.engines.mindspore.operators import (
    FUNCTION_VALUES,
    HANDING_ON,
    IDENTITIES,
    ORDERING,
    unwritten_absence,
)
from explorer.engines.mindspore.proof import GraphReruns, RecordedCall, calls_by_node
from explorer.engines.mindspore.source_lines import source
from explorer.engines.mindspore.subgraphs import SubgraphCalls, SubgraphNames, argument
from explorer.model.arrays import AnyArray
from explorer.model.graph import (
    Absence,
    GradGraph,
    GraphNote,
    Layer,
    NodeKind,
    Output,
    Phase,
)
from explorer.numeric.summaries import summarise


@dataclass(frozen=True)
class ModuleLeaf:
    """The input or parameter of the net that a parameter of a module stands for.

    ``array`` are its values, None where they are not known.
    """

    kind: NodeKind
    name: str
    array: AnyArray | None = None


class GraphCapture:
    """A module of IR, walked graph by graph from its entry.

    ``leaves`` say what the module's parameters are, by label. ``values`` are those that its kernels
    dumped, None where they are not requested. Afterwards ``builder`` has the nodes, and
    ``returned`` what the entry returns.
    """

    def __init__(
        self, module: Module, leaves: dict[str, ModuleLeaf], values: KernelValues | None
    ) -> None:
        self.builder = GraphBuilder()
        self.returned: list[Binding] = []
        self.observed = values is not None
        self._module = module
        self._leaves = leaves
        self._values = values
        self._bindings = Bindings()
        self._constants = Constants(self.builder, self.observed)
        self._calls = SubgraphCalls(self.builder)
        self._names = SubgraphNames()
        self._reruns: GraphReruns | None = None
        if values is not None:
            self._reruns = GraphReruns(self.builder, values)
        self._identities = ForwardIdentities()
        self._alternatives: Alternatives = {}
        self._body = ""
        self._lane: Phase = "forward"
        self._in_forward: frozenset[int] = frozenset()

    def walk(self, statements: Statements, entry: str, returns_outputs: bool = False) -> None:
        """Build every graph that is reached from ``entry``.

        ``returns_outputs`` says that the entry returns (outputs, gradients).
        """
        if returns_outputs:
            self._in_forward = needed_by_outputs(statements[entry])
        for parameter in self._module.parameters:
            self._bindings.bind_module_parameter(parameter.label, self._leaf(parameter))
        names = reached(statements, entry)
        # Whether a subgraph has inputs of its own depends on all of its calls: they are counted
        # before anything is built.
        for name in names:
            self._calls.survey(statements[name])
            self._names.survey(statements[name])

        graphs = self._module.by_name()
        for name in names:
            self._enter(name, is_main=name == entry)
            self._graph(graphs[name], statements[name])
        self._body = ""

        # The links are settled by the calls as they are written, hence before any is dissolved.
        links = ForwardLinks(self.builder, self._identities, self._calls.feeds())
        self._alternatives = links.settle()
        idle: frozenset[str] = frozenset()
        if self._values:
            idle = self._values.idle
        self._calls.connect_results(idle, self.observed)
        self._calls.dissolve()
        self._calls.drop_unread(self.returned)
        self._names.rename(self.builder)

    def _enter(self, name: str, is_main: bool) -> None:
        """Build the subgraph ``name`` from now on."""
        self._body = "" if is_main else name
        self._lane = "backward" if BACKPROPAGATOR in name else "forward"

    def add_output(
        self,
        value: Binding,
        name: str,
        phase: Phase,
        array: AnyArray,
        dtype: str,
        leaf: int | None,
    ) -> None:
        """Add a node for one tensor that the program returns, with the values that really came out.

        ``leaf`` is the node of the leaf whose gradient it is.
        """
        slots = tuple(slots_of(self._placed(value, phase)))
        if slots:
            number, _ = self.builder.resolve(slots[0])
            origin = self.builder.nodes[number]
            if origin.phase == "backward":
                phase = "backward"
                if leaf is not None:
                    link_to_leaf(origin, leaf, self._alternatives.get(number, frozenset()))
        summary = None
        if self.observed:
            summary = summarise(array, dtype)
        forward = None
        if phase == "backward":
            forward = leaf
        self.builder.add(
            "output",
            "output",
            phase,
            slots,
            name=name,
            outputs=(Output(tuple(array.shape), dtype, summary),),
            forward=forward,
        )

    def compute(self) -> None:
        """Compute the values of every operator from those of the leaves, where no kernel dumped any."""
        reruns = self._reruns
        for number in self.builder.kept():
            node = self.builder.nodes[number]
            if reruns is None or node.kind not in PROVABLE:
                continue
            absence = reruns.compute(self._calls.shown_by, number)
            unwritten = reruns.unwritten(number)
            if absence is None and unwritten:
                absence = unwritten_absence(unwritten)
            node.missing.pop("values", None)
            if absence is not None:
                node.missing = {**node.missing, "values": absence}
            outputs = []
            for place, output in enumerate(node.outputs):
                array = reruns.array((number, place))
                if array is not None and place not in unwritten:
                    output = _with_values(output, array)
                outputs.append(output)
            node.outputs = tuple(outputs)

    def values(self) -> GraphValues:
        """The recorded values, and how each operator is called again."""
        assert self._reruns is not None
        return self._reruns.recorded(self._calls.shown_by, {})

    def array(self, slot: Slot) -> AnyArray | None:
        """The recorded values of a slot; None where there are none."""
        return self._reruns.array(slot) if self._reruns else None

    def gradients_behind(self, update: int) -> list[Slot]:
        """The last values of backward that the operator ``update`` of an optimizer reads, nearest first.

        Between them there may be what clips or decays.
        """
        reruns = self._reruns
        feeds: dict[int, list[Slot]] = {}
        for slot, target, _ in self.builder.edges():
            feeds.setdefault(target, []).append(self.builder.resolve(slot))
        found: dict[Slot, None] = {}
        waiting = deque([update])
        seen = {update}
        while waiting:
            for slot in feeds.get(waiting.popleft(), []):
                number = slot[0]
                if reruns is not None and reruns.is_backward(number):
                    found[slot] = None
                elif number not in seen:
                    seen.add(number)
                    waiting.append(number)
        return list(found)

    def arguments_of(self, number: int) -> tuple[Any, ...]:
        """What the operator of a node was called with, as far as it is known."""
        call = self._reruns.call_of(self._calls.shown_by, number) if self._reruns else None
        return (*call.values, *call.attributes.values()) if call else ()

    def prove(self, overwritten: dict[Slot, Slot], everything: bool) -> None:
        """Compute every operator again; see ``explorer.engines.capture.proof``."""
        if self._reruns is not None:
            recorded = self._reruns.recorded(self._calls.shown_by, overwritten)
            prove(self.builder, recorded, everything)

    def calls_of(self, nodes: Iterable[str]) -> dict[str, RecordedCall]:
        """What the operators of the nodes with these ids were called with, as far as it is known."""
        reruns = self._reruns
        if reruns is None:
            return {}
        return calls_by_node(self.builder, partial(reruns.call_of, self._calls.shown_by), nodes)

    def bytes_of_values(self) -> int:
        """The bytes of all recorded values."""
        return self._reruns.size() if self._reruns else 0

    def place(self, ran: Sequence[RanOperator]) -> None:
        """Give the operators the call sites that they have on the tape."""
        place_operators(self.builder, ran, self._identities.is_in_bprop)

    def record(
        self, case: str, stage: str, notes: tuple[GraphNote, ...], layers: Mapping[str, Layer]
    ) -> GradGraph:
        """The record of the graph of a net that has these ``layers``."""
        return self.builder.record("mindspore-graph", case, stage, notes, layers)

    # Graphs and what goes into them

    def _graph(self, graph: Subgraph, statements: list[IRStatement]) -> None:
        self._bindings.enter(graph.name)
        parameters = graph.parameters
        if graph.name == self._module.entry:
            parameters = ()  # those of the module's own entry are the module's
        arguments = self._arguments(graph.name, len(parameters))
        for place, parameter in enumerate(parameters):
            if arguments is not None:
                binding = self._placed(arguments[place], self._lane)
                self._bindings.bind_parameter(parameter.label, binding)
            else:
                self._own_input(parameter)
        for statement in statements:
            value = self._value(statement)
            if statement.op == "Return" and not self._body:
                self.returned = list(flat_binding(value))
            elif statement.op == "Return":
                results = slots_of(self._placed(value, self._lane))
                self._calls.callee(graph.name).results = list(results)
            self._bindings.bind_node(statement.node.index, statement.node.name, value)

    def _leaf(self, parameter: Parameter) -> Slot:
        leaf = self._leaves.get(parameter.label, ModuleLeaf("input", parameter.name))
        shape, dtype = next(tensor_outputs(parameter.abstract), ((), "object"))
        summary = None
        if self.observed and leaf.array is not None:
            summary = summary_as(leaf.array, dtype)
        outputs = (Output(shape, dtype, summary),)
        number = self.builder.add(leaf.kind, leaf.kind, "forward", name=leaf.name, outputs=outputs)
        if self._reruns is not None and leaf.array is not None:
            self._reruns.note_array((number, 0), leaf.array)
        return number, 0

    def _arguments(self, graph: str, count: int) -> list[Binding] | None:
        """The bindings of a graph's parameters; None where the graph has inputs of its own."""
        if self._body:
            return self._calls.arguments(graph, count)
        # The graph that is entered is the user's net: it takes the module's inputs.
        nodes = self.builder.nodes
        slots = self._bindings.module_parameters()
        inputs: list[Binding] = [slot for slot in slots if nodes[slot[0]].kind == "input"]
        if len(inputs) != count:
            return None
        return inputs

    def _own_input(self, parameter: Parameter) -> None:
        outputs = [Output(shape, dtype) for shape, dtype in tensor_outputs(parameter.abstract)]
        if outputs:
            number = self.builder.add(
                "input",
                "input",
                self._lane,
                name=argument(parameter.name),
                outputs=tuple(outputs),
                body=self._body,
            )
            self._bindings.bind_parameter(parameter.label, (number, 0))

    def _placed(self, binding: Binding, phase: Phase) -> Binding:
        """A binding whose constants are nodes of the graph at hand."""
        return self._constants.placed(binding, phase, self._body)

    # Statements

    def _value(self, statement: IRStatement) -> Binding:
        """The binding of a statement's result.

        For bookkeeping it is an operand or a part of one, for anything else the slots of a node.
        """
        operands = list(map(self._bindings.of, statement.operands))
        if statement.op in ORDERING:
            return None
        if statement.op in HANDING_ON or statement.op in IDENTITIES:
            return operands[0]
        if statement.op == "MakeTuple":
            return operands
        if _packs_a_dict(statement):
            return _values_of_dict(operands)
        if statement.op == "TupleGetItem":
            return item_of(operands[0], statement.operands[1])
        if statement.op in FUNCTION_VALUES:
            if self._calls.bind(statement, operands):
                return Closure(())
            return Closure(tuple(slots_of(self._placed(operands, "forward"))))
        return self._node(statement, operands)

    def _node(self, statement: IRStatement, operands: list[Binding]) -> Binding:
        phase = self._phase(statement, operands)
        inputs = [self._placed(operand, phase) for operand in operands]
        kind = _kind(statement, phase)
        missing: dict[str, Absence] = {}
        outputs = tuple(Output(shape, dtype) for shape, dtype in statement.outputs)
        if self._values is not None:
            outputs, missing = self._values.outputs(statement)
        fed_by: tuple[Slot | None, ...] = ()
        if kind != "call":  # whose edges are drawn when the results of its subgraphs are known
            fed_by = _input_slots(inputs)
        number = self.builder.add(
            statement.op,
            kind,
            phase,
            fed_by,
            scope=statement.module_path,
            source=source(statement.lines),
            outputs=outputs,
            body=self._body,
            calls=statement.called,
            missing=missing,
        )
        if kind == "op":
            self._note_arguments(number, statement, operands)
        self._identities.note(number, self.builder.nodes[number], statement)
        if self._reruns is not None and kind in PROVABLE:
            self._reruns.note(number, statement, inputs)
        if kind == "call":
            self._calls.call(number, statement, inputs)
        return results_of(number, statement)

    def _note_arguments(
        self, number: int, statement: IRStatement, operands: Sequence[Binding]
    ) -> None:
        node = self.builder.nodes[number]
        node.arguments, absence = statement_arguments(statement, operands)
        if absence:
            node.missing = {**node.missing, "arguments": absence}

    def _phase(self, statement: IRStatement, operands: list[Binding]) -> Phase:
        if not self._body and statement.node.index in self._in_forward:
            return "forward"  # gradients that the net itself takes are part of its forward
        if self._lane == "backward" or statement.marked_backward:
            return "backward"
        for number, _ in slots_of(operands):
            if self.builder.nodes[number].phase == "backward":
                return "backward"
        return "forward"


def _values_of_dict(operands: list[Binding]) -> Binding:
    """The binding of a dict that is packed in Python, which is handed its keys and its values."""
    # The values come last.
    for operand in reversed(operands):
        slots: list[Binding] = list(slots_of(operand))
        if slots:
            return slots
    return None


def _with_values(output: Output, array: AnyArray) -> Output:
    return Output(tuple(array.shape), output.dtype, summary_as(array, output.dtype))


def _packs_a_dict(statement: IRStatement) -> bool:
    """Whether a statement has Python make the dict that a net returns (MindSpore 2.10.0)."""
    if statement.op != "PyExecute":
        return False
    text = statement.operands[0]
    return isinstance(text, StringValue) and "__internal_" in text.value


def _kind(statement: IRStatement, phase: Phase) -> NodeKind:
    if statement.op == "call":
        return "call"
    if statement.op == "AddN" and phase == "backward":
        return "accumulate"
    return "op"


def _input_slots(inputs: list[Binding]) -> tuple[Slot | None, ...]:
    """The input slots of a node by place, None where no tensor goes in."""
    return tuple(item if isinstance(item, tuple) else None for item in flat_binding(inputs))
