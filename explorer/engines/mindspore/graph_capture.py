"""MindSpore's IR made into a gradient graph: bookkeeping folded away, phases told apart, backward
linked to forward.
"""

import re
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from explorer.engines.mindspore.draft import UNWRITTEN, UNWRITTEN_REASON, Draft, Slot
from explorer.engines.mindspore.forward_links import Links
from explorer.engines.mindspore.ir import Module, Subgraph
from explorer.engines.mindspore.ir.records import (
    GraphRef,
    Items,
    NodeRef,
    OuterRef,
    Parameter,
    ParameterRef,
    Scalar,
    TensorValue,
    Value,
)
from explorer.engines.mindspore.ir_statements import Place, Statement, outputs, tensors
from explorer.engines.mindspore.source_lines import place
from explorer.engines.mindspore.subgraph_calls import Calls, Captured, argument, slots
from explorer.model.arrays import AnyArray, Summary, carrier
from explorer.model.graph import Kind, Output, Phase
from explorer.numeric.summaries import summarise

ALIASES = {"Load", "Depend", "Return", "Identity", "stop_gradient"}
"""Operators that hand their first operand on."""

STATE = {"UpdateState"}
FUNCTIONS = {"Partial", "Switch", "switch"}
INSIDE = "the values of a subgraph stand inside it"
NOT_TAKEN = "this branch did not run for this input: the other branch was taken"
FOLDED = "the backend folds this node into another kernel, whose value alone is dumped"


Leaves = dict[str, tuple[Kind, str, AnyArray | None]]
"""What a reader knows of a module's parameters, by label: kind, name, and values."""

Reader = Callable[[Statement], "dict[int, Any] | None"]
"""Gives the observed arrays of a statement by output slot; None when its values were not asked for.
"""


class Builder:
    """Walks a module graph by graph; afterwards ``draft`` has the nodes and ``returned`` the values
    that come out.
    """

    def __init__(
        self,
        module: Module,
        leaves: Leaves,
        read: Reader | None,
        idle: frozenset[str] = frozenset(),
    ) -> None:
        self.draft = Draft()
        self.module = module
        self.leaves = leaves
        self.read = read
        self.idle = idle
        self.links = Links(self.draft)
        self.calls = Calls(self.draft)
        self.globals: dict[str, Any] = {}
        self.outer: dict[tuple[str, str], Any] = {}
        self.constants: dict[tuple[TensorValue, Phase, str], Slot] = {}
        self.returned: list[Any] = []
        self.body = ""
        self.lane: Phase = "forward"
        self.ahead: set[int] = set()

    def run(self, statements: dict[str, list[Statement]], entry: str, valued: bool = False) -> None:
        """Build every graph that is reached from ``entry``; ``valued`` where that returns (outputs,
        gradients).
        """
        self.ahead = behind_outputs(statements[entry]) if valued else set()
        for parameter in self.module.parameters:
            self.globals[parameter.label] = self._leaf(parameter)
        graphs = {graph.name: graph for graph in self.module.subgraphs}
        names = reached(statements, entry)
        self.calls.survey(statement for name in names for statement in statements[name])
        for name in names:
            self.body = "" if name == entry else name
            self.lane = "backward" if "◂" in name else "forward"
            self._graph(graphs[name], statements[name])
        self.links.settle(self.calls.reads())
        self.calls.settle(self.idle, self.read is not None)
        moved = self.calls.dissolve(self.returned)
        self.returned = [
            moved(value) if isinstance(value, tuple) else value for value in self.returned
        ]
        self.constants = {
            key: moved(slot)
            for key, slot in self.constants.items()
            if slot[0] not in self.calls.dropped
        }
        self.calls.rename()

    def _leaf(self, parameter: Parameter) -> Slot:
        kind, name, values = self.leaves.get(parameter.label, ("input", parameter.name, None))
        shape, dtype = next(outputs(parameter.abstract), ((), "object"))
        seen = None if values is None or self.read is None else _seen(values, dtype)
        return self.draft.add(
            kind, kind, "forward", name=name, outputs=(Output(shape, dtype, seen),)
        ), 0

    def _asked(self, graph: Subgraph) -> list[Any] | None:
        """What the parameters of the graph that is entered are: the module's inputs, where it is
        not the module's own entry.
        """
        inputs = [
            slot for slot in self.globals.values() if self.draft.nodes[slot[0]].kind == "input"
        ]
        return inputs if len(inputs) == len(graph.parameters) else None

    def _graph(self, graph: Subgraph, statements: list[Statement]) -> None:
        known: dict[str | int, Any] = {}
        known.update(self.globals)
        own = graph.parameters if graph.name != self.module.entry else ()
        given = self.calls.arguments(graph.name, len(own)) if self.body else self._asked(graph)
        for place_of, parameter in enumerate(own):
            if given is not None:
                known[parameter.label] = self.outer[graph.name, parameter.label] = self._literal(
                    given[place_of], self.lane
                )
                continue
            made = tuple(Output(shape, dtype) for shape, dtype in outputs(parameter.abstract))
            if not made:
                continue
            number = self.draft.add(
                "input",
                "input",
                self.lane,
                name=argument(parameter.name),
                outputs=made,
                body=self.body,
            )
            known[parameter.label] = self.outer[graph.name, parameter.label] = (number, 0)
        for statement in statements:
            value = self._value(statement, known)
            if statement.op == "Return" and not self.body:
                self.returned = list(_flat(value))
            elif statement.op == "Return":
                self.calls.results[graph.name] = list(slots(self._literal(value, self.lane)))
            known[statement.node.index] = value
            self.outer[graph.name, statement.node.name] = value

    def _value(self, statement: Statement, known: dict[str | int, Any]) -> Any:
        operands = [self._operand(value, known) for value in statement.operands]
        if statement.op in STATE:
            return None
        if statement.op in ALIASES:
            return operands[0]
        if statement.op == "MakeTuple":
            return operands
        if statement.op == "TupleGetItem":
            place_of = statement.operands[1]
            index = int(place_of.value) if isinstance(place_of, Scalar) else 0
            return (
                operands[0][index]
                if isinstance(operands[0], list) and index < len(operands[0])
                else operands[0]
            )
        if statement.op in FUNCTIONS:
            bound = self.calls.bind(statement, operands)
            return Captured(() if bound else tuple(slots(self._literal(operands, "forward"))))
        return self._node(statement, operands)

    def _operand(self, value: Value, known: dict[str | int, Any]) -> Any:
        if isinstance(value, NodeRef):
            return known.get(value.index)
        if isinstance(value, ParameterRef):
            return self.outer.get((value.graph, value.label), known.get(value.label))
        if isinstance(value, OuterRef):
            return self.outer.get((value.graph, value.name))
        if isinstance(value, Items):
            return [self._operand(item, known) for item in value.values]
        return value if isinstance(value, TensorValue) else None

    def _literal(self, value: Any, phase: Phase) -> Any:
        if isinstance(value, list):
            return [self._literal(item, phase) for item in value]
        return self._constant(value, phase) if isinstance(value, TensorValue) else value

    def _node(self, statement: Statement, operands: list[Any]) -> Any:
        phase = self._phase(statement, operands)
        inputs = tuple(_flat([self._literal(value, phase) for value in operands]))
        kind: Kind = (
            "call"
            if statement.op == "call"
            else "accumulate"
            if statement.op == "AddN" and phase == "backward"
            else "op"
        )
        made, missing = self._outputs(statement)
        number = self.draft.add(
            statement.op,
            kind,
            phase,
            () if kind == "call" else inputs,
            scope=module_path(statement.scope),
            source=sources(statement.places),
            outputs=made,
            body=self.body,
            calls=statement.called,
            missing=missing,
        )
        self.links.note(number, statement)
        if kind == "call":
            self.calls.call(number, statement, [self._literal(value, phase) for value in operands])
        return _results(number, statement)

    def _phase(self, statement: Statement, operands: list[Any]) -> Phase:
        if not self.body and statement.node.index in self.ahead:
            return "forward"  # gradients that the net itself takes are part of its forward
        named = statement.node.forward_unique_id is not None
        marked = (
            statement.scope.startswith("Gradients")
            or named
            or statement.duplicate
            or statement.by_hand
        )
        behind = any(
            slot and self.draft.nodes[slot[0]].phase == "backward"
            for slot in _flat(operands)
            if isinstance(slot, tuple)
        )
        called = any("◂" in name for name in statement.called)
        return "backward" if marked or behind or called or self.lane == "backward" else "forward"

    def _outputs(self, statement: Statement) -> tuple[tuple[Output, ...], dict[str, str]]:
        if self.read is None:
            return tuple(Output(shape, dtype) for shape, dtype in statement.outputs), {}
        found = self.read(statement) or {}
        unwritten = UNWRITTEN.get(statement.op, ())
        made = tuple(
            Output(
                shape,
                dtype,
                _seen(found[slot], dtype) if slot in found and slot not in unwritten else None,
            )
            for slot, (shape, dtype) in enumerate(statement.outputs)
        )
        if all(output.values for output in made):
            return made, {}
        if unwritten and found:
            return made, {"values": UNWRITTEN_REASON}
        if statement.op == "call":
            return made, {"values": INSIDE}
        return made, {"values": NOT_TAKEN if statement.graph in self.idle else FOLDED}

    def _constant(self, value: TensorValue, phase: Phase) -> Slot:
        key = (value, phase, self.body)
        if key not in self.constants:
            array, dtype = _numbers(value.text, value.shape), value.dtype.lower()
            seen = _seen(array, dtype) if array is not None and self.read else None
            missing = (
                {} if array is not None else {"values": "the IR does not write out its elements"}
            )
            made = (Output(value.shape, dtype, seen),)
            number = self.draft.add(
                "constant", "constant", phase, outputs=made, body=self.body, missing=missing
            )
            self.constants[key] = (number, 0)
        return self.constants[key]

    def output(
        self, value: Any, name: str, phase: Phase, array: AnyArray, dtype: str, forward: int | None
    ) -> None:
        """A node for one tensor that the program returns, with the value that really came out."""
        slot = self._literal(value, phase)
        seen = summarise(array, dtype) if self.read else None
        fed = (slot,) if slot else ()
        made = (Output(tuple(array.shape), dtype, seen),)
        crossing = bool(slot) and self.draft.nodes[slot[0]].phase == "backward"
        lane: Phase = "backward" if crossing else phase
        if crossing and forward is not None:
            self.links.leaf(slot[0], forward)
        self.draft.add(
            "output",
            "output",
            lane,
            fed,
            name=name,
            outputs=made,
            forward=forward if lane == "backward" else None,
        )


def module_path(scope: str) -> str:
    """The path of the user's module in a scope:
    "Gradients/Default/network-Net/fc-Dense/Grad_MatMul/MatMul-op0" is "fc".
    """
    parts = [part.rpartition("-")[0] for part in scope.split("/")[:-1] if "-" in part]
    while parts and parts[0] == "network":
        parts.pop(0)
    return ".".join(parts)


def sources(lines: tuple[Place, ...]) -> tuple[str, ...]:
    """Lines as "file:line", the user's first and innermost first."""
    shown = [(*place(name), line) for name, line in reversed(lines)]
    users = [f"{name}:{line}" for name, foreign, line in shown if name and not foreign]
    library = [f"{name}:{line}" for name, foreign, line in shown if name and foreign]
    return (*dict.fromkeys(users), *dict.fromkeys(library[:3]))


def _seen(array: AnyArray, dtype: str) -> Summary:
    return summarise(array.astype(carrier(dtype), copy=False), dtype)


def reached(statements: dict[str, list[Statement]], entry: str) -> list[str]:
    """The graphs that ``entry`` calls or hands on, directly or through others, each after its
    caller.
    """
    found, waiting = dict.fromkeys([entry]), deque([entry])
    while waiting:
        for statement in statements.get(waiting.popleft(), ()):
            named = [value.name for value in statement.node.operands if isinstance(value, GraphRef)]
            for name in (*statement.called, *named):
                if name in statements and name not in found:
                    found[name] = None
                    waiting.append(name)
    return list(found)


def behind_outputs(statements: list[Statement]) -> set[int]:
    """The numbers of the statements that a net's outputs need, of a graph that returns (outputs,
    gradients).
    """
    made = {statement.node.index: statement for statement in statements}
    end: Statement | None = statements[-1]
    while end is not None and end.op in ALIASES:
        first = end.operands[0]
        end = made.get(first.index) if isinstance(first, NodeRef) else None
    waiting = list(end.operands[:1]) if end is not None and end.op == "MakeTuple" else []
    found: set[int] = set()
    while waiting:
        value = waiting.pop()
        if isinstance(value, Items):
            waiting.extend(value.values)
        elif isinstance(value, NodeRef) and value.index in made and value.index not in found:
            found.add(value.index)
            waiting.extend(made[value.index].operands)
    return found


def _results(number: int, statement: Statement) -> Any:
    if statement.elements is None:
        return (number, 0)
    places: list[Any] = []
    count = 0
    for element in statement.elements:
        held = tensors(element)
        if element.name == "Func":
            places.append(Captured(((number, 0),)))
        elif element.name in {"Tuple", "List"}:
            places.append([(number, count + step) for step in range(held)])
        else:
            places.append((number, count) if held else None)
        count += held
    return places


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for item in value:
            yield from _flat(item)
    elif isinstance(value, Captured):
        yield from value.slots
    else:
        yield value


def _numbers(text: str, shape: tuple[int, ...]) -> AnyArray | None:
    words = re.findall(r"[-+]?(?:nan|inf|\d[\d.]*(?:e[-+]?\d+)?)|[Tt]rue|[Ff]alse", text)
    if len(words) != int(np.prod(shape)) or "..." in text:
        return None
    numbers = [
        float(word.lower() == "true") if word.lower() in {"true", "false"} else float(word)
        for word in words
    ]
    return np.array(numbers).reshape(shape)


def newest(folder: Path, stem: str) -> Path | None:
    """The last file that a pass wrote: numbers go up through the life of the process."""
    found = sorted(
        folder.rglob(f"*{stem}_[0-9]*.ir"), key=lambda path: int(path.stem.rpartition("_")[2])
    )
    return found[-1] if found else None
