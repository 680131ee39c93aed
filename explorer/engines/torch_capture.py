"""The record of a tape, forward and backward, as a gradient graph."""

from typing import Any

import torch

from explorer.arrays import summarise
from explorer.engines.sums import sourced
from explorer.engines.torch_hazards import hazards, last_writers, place
from explorer.engines.torch_net import array_of, dtype_of
from explorer.engines.torch_places import source
from explorer.engines.torch_record import Recorder, Slot
from explorer.graph import Edge, GradGraph, Kind, Node, Output

PREPARED = "made before a pass over the tape, by no node of it"
EMPTY = frozenset({"aten.new_empty_strided.default", "aten.empty.memory_format", "aten.empty_like.default"})
COPY = "aten.copy_.default"
DETACH = "aten.detach.default"
LIFT = "aten.lift_fresh.default"
ZEROS = "aten.zeros_like.default"


class Capture:
    """A finished recording being turned into nodes and edges.

    ``hidden`` are records of pure bookkeeping, which share the node of what they copy: autograd's own detached aliases, and
    empty memory that the next operator fills. ``state`` are the buffers that the forward changed, each with a copy from then;
    ``further`` are those of them that an operator wrote to without returning them, by its record.
    """

    def __init__(
        self,
        recorder: Recorder,
        outputs: dict[str, torch.Tensor],
        gradients: dict[str, torch.Tensor],
        state: dict[str, tuple[torch.Tensor, torch.Tensor]],
    ) -> None:
        self.recorder = recorder
        self.records = recorder.records
        self.outputs = {name: recorder.slot(tensor) for name, tensor in outputs.items()}
        self.gradients = {name: recorder.slot(tensor) for name, tensor in gradients.items()}
        self.further: dict[int, list[torch.Tensor]] = {}
        writers = last_writers(self.records) if state else {}
        self.state = {name: (self._written(tensor, value, writers), value) for name, (tensor, value) in state.items()}
        self.alias: dict[int, Slot] = {}
        self.fills: dict[int, int] = {}
        self.hidden: set[int] = set()
        self._hide()
        self.links = self._linked()

    def _written(self, tensor: torch.Tensor, value: torch.Tensor, writers: dict[int, int]) -> Slot:
        """The slot of a changed buffer: where an operator returned it, else a further output of the last one that wrote to it."""
        slot = self.recorder.slot(tensor)
        last = writers.get(place(tensor))
        if last is None or self.records[slot[0]].func is not None:
            return slot
        self.further.setdefault(last, []).append(value)
        return last, len(self.records[last].kept) + len(self.further[last]) - 1

    # What is bookkeeping

    def _hide(self) -> None:
        phases: dict[int, set[str]] = {}
        for record in self.records:
            for slot in record.reads:
                phases.setdefault(slot[0], set()).add(record.phase)
        for slot in (*self.outputs.values(), *(slot for slot, _ in self.state.values())):
            phases.setdefault(slot[0], set()).add("forward")
        for slot in self.gradients.values():
            phases.setdefault(slot[0], set()).add("backward")
        for number, record in enumerate(self.records):
            name = str(record.func)
            users = phases.get(number, set())
            own = name == LIFT or (name == DETACH and (record.phase == "backward" or "forward" not in users))
            if own:
                self.alias[number] = record.reads[0]
            elif name in EMPTY and self._filled(number):
                self.fills[number + 1] = number
            elif record.func is None and record.args[0] == "parameter":
                if users or record.name in self.recorder.net.trainable:
                    continue
            elif name not in EMPTY or users:
                continue
            self.hidden.add(number)

    def _filled(self, number: int) -> bool:
        """Whether the next operator does nothing but fill the empty memory that this one makes."""
        if number + 1 == len(self.records) or str(self.records[number + 1].func) != COPY:
            return False
        return self.records[number + 1].reads[0] == (number, 0)

    def resolve(self, slot: Slot) -> Slot:
        """The slot of a node that shows the value of ``slot``."""
        while slot[0] in self.alias:
            slot = self.alias[slot[0]]
        return (slot[0] + 1, 0) if slot[0] + 1 in self.fills and self.fills[slot[0] + 1] == slot[0] else slot

    # What derives from what

    def _linked(self) -> dict[int, int]:
        """The forward record of every backward one: by the tape node that ran it, or by what consumes an accumulated sum."""
        links: dict[int, int] = {}
        for number, record in enumerate(self.records):
            if record.phase == "backward" and record.sequence is not None and not record.accumulates:
                owner = self.recorder.owner(record.sequence)
                if owner is not None:
                    shown = self.resolve((owner, 0))[0]
                    forward = shown if self.records[shown].phase == "forward" else links.get(shown)
                    links |= {} if forward is None else {number: forward}
        wanted = {self.resolve(slot)[0]: self.recorder.leaf(name[1:]) for name, slot in self.gradients.items()}
        for slot in self.recorder.heads:
            wanted.setdefault(self.resolve(slot)[0], next(iter(wanted.values())))
        for number in range(len(self.records) - 1, -1, -1):
            record = self.records[number]
            if number not in links and record.phase == "backward":
                target = record.target[0] if record.target else wanted.get(number)
                links |= {} if target is None else {number: target}
            if number in links:
                wanted |= {self.resolve(slot)[0]: links[number] for slot in record.reads}
        return links

    # Nodes and edges

    def graph(self, case: str, values: bool) -> GradGraph:
        """The record of the graph; without ``values`` just the shapes."""
        self.nodes: list[Node] = []
        self.edges: dict[tuple[str, str, int, int, str], None] = {}
        self.number: dict[int, str] = {}
        self.values = values
        phases: tuple[tuple[str, dict[str, Slot]], ...] = (("forward", self.outputs), ("backward", self.gradients))
        leaves = [n for n, r in enumerate(self.records) if r.func is None and r.args[0] != "constant"]
        for phase, results in phases:
            ran = [n for n, r in enumerate(self.records) if r.phase == phase and (r.func is not None or r.args[0] == "constant")]
            for number in [*(leaves if phase == "forward" else ()), *ran]:
                if number not in self.hidden:
                    self._node(number)
            for name, slot in results.items():
                self._result(name, slot, phase, self.records[slot[0]].kept[slot[1]])
            for name, (slot, value) in self.state.items() if phase == "forward" else ():
                self._result(name, slot, phase, value)
        self._edges()
        made = [Edge(a, b, out, into, kind) for a, b, out, into, kind in self.edges]  # type: ignore[arg-type]  # kinds by _kind
        return sourced(GradGraph(engine="torch-tape", case=case, stage="tape", nodes=tuple(self.nodes), edges=tuple(made)))

    def _node(self, number: int) -> None:
        record = self.records[number]
        identity = self.number[number] = f"n{len(self.nodes)}"
        told: dict[str, Any] = {"scope": record.scope, "lines": record.lines}
        missing = {}
        link = self.links.get(number)
        if link is not None:
            told = {"scope": self.records[link].scope, "lines": self.records[link].lines}
        elif record.phase == "backward" and record.func is not None:
            missing = {"forward": PREPARED, "source": PREPARED}
        outside = record.phase == "backward" and not record.tape and record.func is not None
        seed = outside and not record.reads
        kind: Kind = record.args[0] if record.func is None else "accumulate" if record.accumulates else "op"
        if seed or (outside and str(record.func) == ZEROS):
            kind = "constant"  # zeros are the gradient of what the outputs do not depend on
        self.nodes.append(
            Node(
                id=identity,
                op=str(record.func) if record.func is not None else kind,
                kind=kind,
                phase=record.phase,
                name="seed" if seed else record.name,
                scope=told["scope"],
                source=source(told["lines"], self.recorder.net.scenario.path),
                forward=None if link is None else self.number[link],
                order=len(self.nodes),
                outputs=tuple(self._output(tensor) for tensor in (*record.kept, *self.further.get(number, ()))),
                saved_bytes=record.saved,
                tape=record.tape,
                missing=missing,
            )
        )

    def _output(self, tensor: torch.Tensor) -> Output:
        name = dtype_of(tensor)
        return Output(tuple(tensor.shape), name, summarise(array_of(tensor), name) if self.values else None)

    def _result(self, name: str, slot: Slot, phase: Any, value: torch.Tensor) -> None:
        identity = f"n{len(self.nodes)}"
        number, out = self.resolve(slot)
        leaf = self.recorder.leaf(name[1:]) if phase == "backward" else None
        self.nodes.append(
            Node(
                id=identity,
                op="output",
                kind="output",
                phase=phase,
                name=name,
                forward=None if leaf is None else self.number[leaf],
                order=len(self.nodes),
                outputs=(self._output(value),),
            )
        )
        self._edge(self.number[number], identity, out, 0)

    def _edges(self) -> None:
        for number, record in enumerate(self.records):
            if number in self.hidden:
                continue
            for index, slot in enumerate(record.reads):
                if not (index == 0 and number in self.fills):
                    origin, out = self.resolve(slot)
                    self._edge(self.number[origin], self.number[number], out, index)
        beyond = hazards(self.records)
        for slot, number, index in beyond.seen:
            if number not in self.hidden and self.resolve(slot)[0] != number:
                origin, out = self.resolve(slot)
                self._edge(self.number[origin], self.number[number], out, index)
        for ends in beyond.before:
            earlier, later = (self.resolve((number, 0))[0] for number in ends)
            if earlier != later and earlier in self.number and later in self.number:
                self._control(self.number[earlier], self.number[later])

    def _edge(self, origin: str, target: str, out: int, into: int) -> None:
        crosses = (self._phase(origin), self._phase(target)) == ("forward", "backward")
        self.edges[origin, target, out, into, "saved" if crosses else "data"] = None

    def _control(self, origin: str, target: str) -> None:
        if not any((origin, target, out, 0, kind) in self.edges for out in (0,) for kind in ("data", "saved")):
            self.edges[origin, target, 0, 0, "control"] = None

    def _phase(self, identity: str) -> str:
        return self.nodes[int(identity[1:])].phase
