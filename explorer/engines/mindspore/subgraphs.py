"""The subgraphs of an IR program: their calls, which of these are inlined, and readable names."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from explorer.engines.capture.builder import GraphBuilder, NodeDraft, Slot
from explorer.engines.mindspore.ir.records import GraphRef, Source
from explorer.engines.mindspore.ir_statements import (
    BACKPROPAGATOR,
    Binding,
    IRStatement,
    is_definition,
    slots_of,
)
from explorer.engines.mindspore.operators import FUNCTION_VALUES
from explorer.model.graph import Output

PASSES_FUNCTIONS = FUNCTION_VALUES | {"call", "Return", "MakeTuple"}
"""Operators that take a function without calling it, or whose calls the IR lists."""


class SubgraphCall(NamedTuple):
    """A call of one of the subgraphs ``called``.

    ``deciding`` are the slots that decide which one it enters, ``arguments`` those that it hands
    over.
    """

    called: tuple[str, ...]
    deciding: tuple[Slot, ...]
    arguments: tuple[Slot, ...]


@dataclass
class Callee:
    """A subgraph as its callers see it.

    ``callers`` counts the calls that may enter it. ``bound`` are the operands that a Partial binds
    ahead of the ``arguments`` of the call; ``results`` is None until its Return has been read.
    """

    callers: int = 0
    bound: list[Binding] = field(default_factory=list)
    arguments: list[Binding] = field(default_factory=list)
    results: list[Slot] | None = None


class SubgraphCalls:
    """The calls of one program.

    A subgraph that one call alone enters has no inputs of its own: its parameters are the arguments
    of that call. One that several calls enter keeps inputs of its own, and so does a loop.
    """

    def __init__(self, builder: GraphBuilder) -> None:
        self.calls: dict[int, SubgraphCall] = {}
        self._builder = builder
        self._callees: dict[str, Callee] = {}
        self._shows: dict[Slot, Slot] = {}

    def callee(self, name: str) -> Callee:
        """The record of a subgraph."""
        return self._callees.setdefault(name, Callee())

    def has_one_caller(self, name: str) -> bool:
        """Whether one call alone enters a subgraph."""
        return self.callee(name).callers == 1

    # While the program is walked

    def survey(self, statements: Iterable[IRStatement]) -> None:
        """Count the calls of every subgraph.

        A subgraph that is an operand can be called by the operator any number of times.
        """
        for statement in statements:
            for name in statement.called:
                self.callee(name).callers += 1
            if statement.op not in PASSES_FUNCTIONS:
                for name in set(statement.named_graphs):
                    # Two, so that it never counts as called once.
                    self.callee(name).callers += 2

    def bind(self, statement: IRStatement, operands: list[Binding]) -> bool:
        """Keep the operands that a Partial binds; False if its subgraph has inputs of its own."""
        if statement.op != "Partial" or not statement.node.operands:
            return False
        function = statement.node.operands[0]
        if not isinstance(function, GraphRef) or not self.has_one_caller(function.name):
            return False
        self.callee(function.name).bound = operands[1:]
        return True

    def call(self, number: int, statement: IRStatement, operands: list[Binding]) -> None:
        """Hand the arguments of a call, node ``number``, to the subgraphs that it enters."""
        # A call through a value has that value before its arguments.
        values = len(statement.operands) - len(statement.node.operands)
        for name in statement.called:
            if self.has_one_caller(name):
                self.callee(name).arguments = operands[values:]
        deciding = tuple(slots_of(operands[:values]))
        self.calls[number] = SubgraphCall(
            statement.called, deciding, tuple(slots_of(operands[values:]))
        )

    def arguments(self, name: str, count: int) -> list[Binding] | None:
        """The bindings of a subgraph's ``count`` parameters; None if it has inputs of its own."""
        callee = self.callee(name)
        arguments = [*callee.bound, *callee.arguments]
        if self.has_one_caller(name) and len(arguments) == count:
            return arguments
        return None

    def feeds(self) -> dict[int, list[int]]:
        """The nodes that each call reads, for itself or for the subgraph that it enters."""
        feeds: dict[int, list[int]] = {}
        for number, call in self.calls.items():
            slots = [*call.deciding, *call.arguments]
            for name in call.called:
                slots += slots_of(self.callee(name).bound)
            feeds[number] = [origin for origin, _ in slots]
        return feeds

    # When it has been walked

    def connect_results(self, idle: frozenset[str], observed: bool) -> None:
        """Draw the edges from the results of subgraphs into their calls.

        Where values are ``observed``, a call shows those of the subgraph that ran; ``idle`` are the
        subgraphs that did not run.
        """
        read = _numbers_of(slot for slot, _, _ in self._builder.edges())
        # Inner calls first: outer ones take the values that these show.
        for number, call in reversed(self.calls.items()):
            if self._stands_in_caller(call):
                self._take_values(number, self._results(call.called[0]))
                continue
            entered = self._entered(call)
            for place, slot in enumerate(self._read_by(call, entered, read)):
                self._builder.connect(slot, number, place)
            if observed and len(entered) == len(call.called):
                self._take_values_of_ran(number, [name for name in entered if name not in idle])

    def dissolve(self) -> None:
        """Take calls of functions that are called once out of the graph.

        The nodes of such a function belong to its caller from then on.
        """
        callers: dict[str, str] = {}
        for number, call in self.calls.items():
            if self._stands_in_caller(call):
                name = call.called[0]
                self._builder.replace(number, self._results(name))
                callers[name] = self._builder.nodes[number].body
        for number in self._builder.kept():
            node = self._builder.nodes[number]
            # A caller may be dissolved itself.
            while node.body in callers:
                node.body = callers[node.body]

    def shown_by(self, slot: Slot) -> Slot:
        """The slot whose value is seen at ``slot``: a call shows what its subgraph returns."""
        slot = self._builder.resolve(slot)
        while slot in self._shows:
            slot = self._builder.resolve(self._shows[slot])
        return slot

    def drop_unread(self, returned: Iterable[Binding]) -> None:
        """Take unread constants, and unread operators that yield no tensor, out of the graph.

        What the program has ``returned`` stays.
        """
        builder = self._builder
        read = _numbers_of(builder.resolve(slot) for slot, _, _ in builder.edges())
        read |= _numbers_of(map(builder.resolve, slots_of(list(returned))))
        for number in list(builder.kept()):
            if number not in read and _yields_nothing(builder.nodes[number]):
                builder.remove(number)

    def _stands_in_caller(self, call: SubgraphCall) -> bool:
        """Whether a call alone enters one function, which yields tensors."""
        if len(call.called) != 1:
            return False
        return self.has_one_caller(call.called[0]) and bool(self._results(call.called[0]))

    def _results(self, name: str) -> list[Slot]:
        return self.callee(name).results or []

    def _entered(self, call: SubgraphCall) -> list[str]:
        """The subgraphs that a call alone enters, and whose results are known."""
        return list(filter(self._is_entered_once, call.called))

    def _is_entered_once(self, name: str) -> bool:
        return self.has_one_caller(name) and self.callee(name).results is not None

    def _read_by(self, call: SubgraphCall, entered: list[str], read: set[int]) -> list[Slot]:
        """The slots that a call is shown to read; ``read`` are the nodes that others read."""
        slots: list[Slot] = []
        all_entered = len(entered) == len(call.called)
        # A backpropagator is a closure whose contents stand in what it calls.
        if not (all_entered and any(BACKPROPAGATOR in name for name in call.called)):
            slots += call.deciding
        for slot in call.arguments:
            # What the subgraphs read of the arguments is drawn there.
            if not all_entered or (slot[0] not in read and not self._is_constant(slot)):
                slots.append(slot)
        for name in entered:
            slots += self._results(name)
        return slots

    def _is_constant(self, slot: Slot) -> bool:
        return self._builder.nodes[slot[0]].kind == "constant"

    def _take_values_of_ran(self, number: int, ran: list[str]) -> None:
        """Let a call show the values of the one subgraph that ran."""
        if len(ran) == 1:
            self._take_values(number, self._results(ran[0]))

    def _take_values(self, number: int, results: list[Slot]) -> None:
        """Let a call show the values of a subgraph's results, if these have the call's shapes."""
        outputs = self._outputs(results)
        call = self._builder.nodes[number]
        if list(map(_shape, outputs)) != list(map(_shape, call.outputs)):
            return
        call.outputs = tuple(outputs)
        for output, slot in enumerate(results):
            self._shows[number, output] = slot
        if all(output.values for output in outputs):
            call.missing.pop("values", None)

    def _outputs(self, slots: list[Slot]) -> list[Output]:
        outputs: list[Output] = []
        for origin, output in slots:
            outputs += self._builder.nodes[origin].outputs[output : output + 1]
        return outputs


def _numbers_of(slots: Iterable[Slot]) -> set[int]:
    """The nodes that some slots are outputs of."""
    return {number for number, _ in slots}


def _shape(output: Output) -> tuple[int, ...]:
    return output.shape


def _yields_nothing(node: NodeDraft) -> bool:
    return node.kind == "constant" or (node.kind == "op" and not node.outputs)


MARKS = {
    "✓": "true branch",
    "✗": "false branch",
    "↰": "true branch",
    "↱": "false branch",
    "↓": "afterwards",
    "↵": "loop",
    "↻": "loop body",
}
"""The marks before the name of a function that the compiler made of a piece of one (2.10.0)."""

NAME = re.compile(
    r"^(?:\d+_)*(?P<back>[▸◂]?)(?:\d+_)?"
    r"\d*(?P<mark>[✓✗↰↱↓↵↻]?)[✓✗↰↱↓↵↻\d]*(?P<name>.*?)(?:_\d+)?$"
)
"""A subgraph's name: numbers, the side of a derivative, a mark, the user's name, a number."""

BRANCH = re.compile(r"[▸◂](\d+_\d*[✓✗↰↱↓↵↻]+)")
"""The part of their names that the forward and the backward of a piece of a function share."""

CONDITION = re.compile(r"(?:el)?((?:if|while|for) .+):$")
CONDITIONAL_EXPRESSION = re.compile(r"\b(if .+?) else\b")
LONGEST_CONDITION = 44
"""The most characters of a condition that is shown; a longer one is named by its line."""

BACKWARD = ", backward"

PARAMETER_MARKS = re.compile(r"^(?:[▸◂ф]|equiv_\d+_)+")
"""The marks that the compiler puts before the name of a parameter (2.10.0)."""

GENERATED_PARAMETER = re.compile(r"(?:Parameter|CNode)_\d+|")
"""A parameter that has no name in the source."""


class SubgraphNames:
    """The names of one program's subgraphs; a branch is named by the condition of its call."""

    def __init__(self) -> None:
        self._conditions: dict[str, str] = {}

    def survey(self, statements: Iterable[IRStatement]) -> None:
        """Remember the conditions of calls that enter one of several subgraphs."""
        for statement in statements:
            condition = ""
            if len(statement.called) > 1:
                condition = _condition(statement)
            if condition:
                self._conditions.update(dict.fromkeys(map(_branch, statement.called), condition))

    def rename(self, builder: GraphBuilder) -> None:
        """Give subgraphs and the calls that enter them readable names; equal ones are numbered."""
        nodes = [builder.nodes[number] for number in builder.kept()]
        labels = self._labels(nodes)
        for node in nodes:
            node.body = labels[node.body]
            if node.calls:
                node.calls = tuple(labels[name] for name in node.calls)
                node.name = _call_name(node.calls)

    def _labels(self, nodes: list[NodeDraft]) -> dict[str, str]:
        """The label of every subgraph that the nodes belong to or enter; "" for the main graph."""
        labels = {"": ""}
        uses: Counter[str] = Counter()
        for node in nodes:
            for name in (node.body, *node.calls):
                if name not in labels:
                    label = readable(name, self._conditions.get(_branch(name), ""))
                    uses[label] += 1
                    labels[name] = label
                    if uses[label] > 1:
                        labels[name] = f"{label} ({uses[label]})"
        return labels


def readable(name: str, condition: str = "") -> str:
    """A subgraph's name in words; that of a function is the function's own.

    >>> readable("165_160_99_▸59_✓net_construct_341", "if x.sum() > 0")
    'if x.sum() > 0: true branch'
    >>> readable("141_92_▸17_↻net_construct_307", ": of line 12")
    'loop body of line 12'
    >>> readable("73_deprecated_tensor_sum_176")
    'deprecated_tensor_sum'
    """
    parts = NAME.match(name)
    if parts is None:
        return name
    back = ""
    if parts["back"] == BACKPROPAGATOR:
        back = BACKWARD
    if not parts["mark"]:
        return (parts["name"] or name) + back
    return _piece(MARKS[parts["mark"]], condition) + back


def _piece(words: str, condition: str) -> str:
    """The name of a piece of a function, with the condition that leads to it or with its line."""
    if condition and ":" not in condition:
        return f"{condition}: {words}"
    return words + condition.lstrip(":")


def argument(name: str) -> str:
    """A subgraph's parameter as in the source, without the compiler's marks.

    It is "argument" where it has no name there.

    >>> argument("▸фh"), argument("equiv_17_cube"), argument("Parameter_375")
    ('h', 'cube', 'argument')
    """
    plain = PARAMETER_MARKS.sub("", name)
    if GENERATED_PARAMETER.fullmatch(plain):
        return "argument"
    return plain


def _call_name(calls: tuple[str, ...]) -> str:
    """The name of a call: the condition that it decides by, or the function that it enters."""
    first = calls[0].removesuffix(BACKWARD)
    if len(calls) == 1 or ":" in first:
        return first.partition(":")[0]
    return first.removeprefix("true ").removeprefix("false ")


def _branch(name: str) -> str:
    """The number and mark that a branch shares with its backward; else the whole name."""
    branch = BRANCH.search(name)
    if branch is None:
        return name
    return branch[1]


def _condition(statement: IRStatement) -> str:
    """The condition that a call decides by, as the user wrote it, or ":" and its line."""
    source = _innermost_call(statement.node.sources)
    if source is None:
        return ""
    code = source.code.strip()
    written = CONDITION.match(code) or CONDITIONAL_EXPRESSION.search(code)
    if written and len(written[1]) <= LONGEST_CONDITION:
        return written[1]
    return f": of line {source.line}"


def _innermost_call(sources: tuple[Source, ...]) -> Source | None:
    """The last of some sources that is not the head of a function."""
    for source in reversed(sources):
        if not is_definition(source):
            return source
    return None
