"""MindSpore's IR made into a gradient graph: bookkeeping folded away, phases told apart, backward linked to forward."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from explorer.arrays import NUMPY_NAMES, AnyArray, Summary, summarise
from explorer.engines.mindspore_capture_draft import UNWRITTEN, UNWRITTEN_REASON, Draft, Slot
from explorer.engines.mindspore_capture_ir import Program, Statement, split
from explorer.engines.mindspore_capture_links import Links
from explorer.engines.mindspore_places import place
from explorer.graph import Kind, Output, Phase

CONSTANT = re.compile(r"Tensor\(shape=\[(.*?)\], dtype=(\w+), value=(.*)\)$", re.S)
ALIASES = {"Load", "Depend", "Return", "Identity", "stop_gradient"}
"""Operators that hand their first operand on."""

STATE = {"UpdateState"}
INSIDE = "the values of a subgraph stand inside it"
NOT_TAKEN = "this subgraph did not run: the other branch was taken"
FOLDED = "the backend folds this node into another kernel, whose value alone is dumped"


@dataclass(frozen=True)
class Captured:
    """A function value: the slots that it has closed over."""

    slots: tuple[Slot, ...]


Reader = Callable[[Statement], "dict[int, Any] | None"]
"""Gives the observed arrays of a statement by output slot; None when its values were not asked for."""


class Builder:
    """Walks a program graph by graph; afterwards ``draft`` has the nodes and ``returned`` the slots that come out."""

    def __init__(
        self,
        program: Program,
        leaves: dict[str, tuple[Kind, str, AnyArray | None]],
        read: Reader | None,
        idle: frozenset[str] = frozenset(),
    ) -> None:
        self.draft = Draft()
        self.program = program
        self.leaves = leaves
        self.read = read
        self.idle = idle
        self.links = Links(self.draft)
        self.globals: dict[str, Any] = {}
        self.constants: dict[tuple[str, Phase, str], Slot] = {}
        self.returned: list[Any] = []
        self.body, self.lane = "", "forward"

    def run(self, entry: str) -> None:
        """Build every graph that is reached from ``entry``."""
        for text, shape in self.program.parameters.items():
            self.globals[text] = self._leaf(text, shape)
        for name in self._reached(entry):
            self.body = "" if name == entry else name
            self.lane = "backward" if "◂" in name else "forward"
            self._graph(name)
        self.links.settle()

    def _reached(self, entry: str) -> list[str]:
        found, waiting = dict.fromkeys([entry]), [entry]
        while waiting:
            for statement in self.program.graphs.get(waiting.pop(), ()):
                named = [name for text in statement.operands for name in re.findall(r"@+([^@\s,()\[\]]+)", text)]
                for name in (*statement.called, *named):
                    if name in self.program.graphs and name not in found:
                        found[name] = None
                        waiting.append(name)
        return list(found)

    def _leaf(self, text: str, shape: str) -> Slot:
        kind, name, values = self.leaves.get(text, ("input", text.partition("_")[2], None))
        sizes = re.search(r"\((.*?)\)", shape)
        dims = tuple(int(size) for size in (sizes[1] if sizes else "").split(", ") if size)
        dtype = (re.search(r"Tensor\[(\w+)\]", shape) or ["", "object"])[1].lower()
        seen = None if values is None or self.read is None else _seen(values, dtype)
        return self.draft.add(kind, kind, "forward", name=name, outputs=(Output(dims, dtype, seen),)), 0

    def _graph(self, name: str) -> None:
        known: dict[str, Any] = dict(self.globals)
        for text in self.program.own.get(name, ()) if self.body else ():
            number = self.draft.add("input", "input", self.lane, name=text.partition("_")[2], body=self.body)  # type: ignore[arg-type]  # a phase
            known[text] = (number, 0)
        for statement in self.program.graphs[name]:
            value = self._value(statement, known)
            if statement.op == "Return" and not self.body:
                self.returned = list(_flat(value))
            known[statement.result] = value

    def _value(self, statement: Statement, known: dict[str, Any]) -> Any:
        operands = [self._operand(text, known) for text in statement.operands]
        if statement.op in STATE:
            return None
        if statement.op in ALIASES:
            return self._literal(operands[0], "forward")
        if statement.op == "MakeTuple":
            return operands
        if statement.op == "TupleGetItem":
            place_of = re.search(r"\d+\)$", statement.operands[1])
            index = int(place_of[0][:-1]) if place_of else 0
            return operands[0][index] if isinstance(operands[0], list) and index < len(operands[0]) else operands[0]
        if statement.op in {"Partial", "Switch", "switch"}:
            return Captured(tuple(slot for slot in _flat([self._literal(value, "forward") for value in operands]) if slot))
        return self._node(statement, operands)

    def _operand(self, text: str, known: dict[str, Any]) -> Any:
        if text.startswith("Tensor("):
            return text
        if text.startswith("(") and "Tensor(" in text:
            return [self._operand(part, known) for part in split(text[1:-1])]
        return known.get(text)

    def _literal(self, value: Any, phase: Phase) -> Any:
        if isinstance(value, list):
            return [self._literal(item, phase) for item in value]
        return self._constant(value, phase) if isinstance(value, str) else value

    def _node(self, statement: Statement, operands: list[Any]) -> Any:
        phase = self._phase(statement, operands)
        inputs = tuple(_flat([self._literal(value, phase) for value in operands]))
        kind: Kind = (
            "call" if statement.op == "call" else "accumulate" if statement.op == "AddN" and phase == "backward" else "op"
        )
        outputs, missing = self._outputs(statement)
        number = self.draft.add(
            statement.op,
            kind,
            phase,
            inputs,
            scope=module_path(statement.scope),
            source=sources(statement.lines),
            outputs=outputs,
            body=self.body,
            calls=statement.called,
            missing=missing,
        )
        self.links.note(number, statement)
        return _results(number, statement)

    def _phase(self, statement: Statement, operands: list[Any]) -> Phase:
        marked = statement.scope.startswith("Gradients") or "forward_unique_id" in statement.identity
        behind = any(
            slot and self.draft.nodes[slot[0]].phase == "backward" for slot in _flat(operands) if isinstance(slot, tuple)
        )
        called = any("◂" in name for name in statement.called)
        return "backward" if marked or behind or called or self.lane == "backward" else "forward"

    def _outputs(self, statement: Statement) -> tuple[tuple[Output, ...], dict[str, str]]:
        if self.read is None:
            return tuple(Output(shape, dtype) for shape, dtype in statement.outputs), {}
        found = self.read(statement) or {}
        unwritten = UNWRITTEN.get(statement.op, ())
        outputs = tuple(
            Output(shape, dtype, _seen(found[slot], dtype) if slot in found and slot not in unwritten else None)
            for slot, (shape, dtype) in enumerate(statement.outputs)
        )
        if all(output.values for output in outputs):
            return outputs, {}
        if unwritten and found:
            return outputs, {"values": UNWRITTEN_REASON}
        if statement.op == "call":
            return outputs, {"values": INSIDE}
        return outputs, {"values": NOT_TAKEN if statement.graph in self.idle else FOLDED}

    def _constant(self, text: str, phase: Phase) -> Slot:
        key = (text, phase, self.body)
        if key not in self.constants:
            found = CONSTANT.match(text)
            shape = tuple(int(size) for size in (found[1] if found else "").split(", ") if size)
            dtype = (found[2] if found else "object").lower()
            array = _numbers(found[3], shape) if found else None
            seen = _seen(array, dtype) if array is not None and self.read else None
            missing = {} if array is not None else {"values": "the IR does not write out its elements"}
            number = self.draft.add(
                "constant", "constant", phase, outputs=(Output(shape, dtype, seen),), body=self.body, missing=missing
            )
            self.constants[key] = (number, 0)
        return self.constants[key]

    def output(self, value: Any, name: str, phase: Phase, array: AnyArray, dtype: str, forward: int | None) -> None:
        """A node for one tensor that the program returns, with the value that really came out."""
        slot = self._literal(value, phase)
        seen = summarise(array, dtype) if self.read else None
        fed = (slot,) if slot else ()
        made = (Output(tuple(array.shape), dtype, seen),)
        crossing = bool(slot) and self.draft.nodes[slot[0]].phase == "backward"
        lane: Phase = "backward" if crossing else phase
        self.draft.add("output", "output", lane, fed, name=name, outputs=made, forward=forward if lane == "backward" else None)


def module_path(scope: str) -> str:
    """The path that the user's modules have in a scope: "Gradients/Default/network-Net/fc-Dense/Grad_MatMul/MatMul-op0" is "fc"."""
    parts = [part.rpartition("-")[0] for part in scope.split("/")[:-1] if "-" in part]
    while parts and parts[0] == "network":
        parts.pop(0)
    return ".".join(parts)


def sources(lines: list[tuple[str, int]]) -> tuple[str, ...]:
    """Lines as "file:line", the user's first and innermost first."""
    shown = [(*place(name), line) for name, line in reversed(lines)]
    users = [f"{name}:{line}" for name, foreign, line in shown if name and not foreign]
    library = [f"{name}:{line}" for name, foreign, line in shown if name and foreign]
    return (*dict.fromkeys(users), *dict.fromkeys(library[:3]))


def _seen(array: AnyArray, dtype: str) -> Summary:
    return summarise(array.astype(NUMPY_NAMES.get(dtype, dtype), copy=False), dtype)


def _results(number: int, statement: Statement) -> Any:
    if statement.elements is None:
        return (number, 0)
    places: list[Any] = []
    count = 0
    for element in statement.elements:
        tensors = element.count("Tensor[")
        if element == "Func":
            places.append(Captured(((number, 0),)))
        elif element.startswith("Tuple"):
            places.append([(number, count + step) for step in range(tensors)])
        else:
            places.append((number, count) if tensors else None)
        count += tensors
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
    numbers = [float(word.lower() == "true") if word.lower() in {"true", "false"} else float(word) for word in words]
    return np.array(numbers).reshape(shape)


def newest(folder: Path, stem: str) -> Path | None:
    """The last file that a pass wrote: numbers go up through the life of the process."""
    found = sorted(folder.rglob(f"*{stem}_*.ir"), key=lambda path: int(path.stem.rpartition("_")[2]))
    return found[-1] if found else None
