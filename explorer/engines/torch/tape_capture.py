"""The record of a tape, forward and backward, as a gradient graph."""

from typing import Any

import torch

from explorer.engines.capture.garbage_collection import paused
from explorer.engines.capture.summation import sourced
from explorer.engines.torch.in_place_hazards import hazards, last_writers
from explorer.engines.torch.source_lines import Line, source
from explorer.engines.torch.tape_recorder import EMPTY, Recorder, Slot
from explorer.engines.torch.tape_values import Shown
from explorer.model.graph import Edge, GradGraph, Kind, Node

PREPARED = "made before a pass over the tape, by no node of it"
COPY = "aten.copy_.default"
DETACH = "aten.detach.default"
LIFT = "aten.lift_fresh.default"
ZEROS = "aten.zeros_like.default"


class Capture:
    """A finished recording being turned into nodes and edges.

    ``hidden`` are records of pure bookkeeping, which share the node of what they copy: autograd's
    own detached aliases, and empty memory that the next operator fills. ``state`` are the buffers
    that the forward changed, each with a copy from then; ``further`` are those of them that an
    operator wrote to without returning them, by its record.
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
        writers = last_writers(self.records, recorder.memory) if state else {}
        self.state = {
            name: (self._written(tensor, value, writers), value)
            for name, (tensor, value) in state.items()
        }
        self.alias: dict[int, Slot] = {}
        self.fills: dict[int, int] = {}
        self.hidden: set[int] = set()
        self._hide()
        self.links = self._linked()

    def _written(self, tensor: torch.Tensor, value: torch.Tensor, writers: dict[int, int]) -> Slot:
        """The slot of a changed buffer: where an operator returned it, else a further output of the
        last one that wrote to it.
        """
        slot = self.recorder.slot(tensor)
        last = writers.get(self.recorder.memory[id(tensor)])
        if last is None or self.records[slot[0]].func is not None:
            return slot
        self.further.setdefault(last, []).append(value)
        return last, len(self.records[last].kept) + len(self.further[last]) - 1

    # What is bookkeeping

    def _hide(self) -> None:
        ahead = {
            slot[0] for record in self.records if record.phase == "forward" for slot in record.reads
        }
        ahead |= {
            slot[0] for slot in (*self.outputs.values(), *(slot for slot, _ in self.state.values()))
        }
        used = ahead | {slot[0] for record in self.records for slot in record.reads}
        used |= {slot[0] for slot in self.gradients.values()}
        for number, record in enumerate(self.records):
            name, users = record.op, number in used
            own = name == LIFT or (
                name == DETACH and (record.phase == "backward" or number not in ahead)
            )
            if own:
                self.alias[number] = record.reads[0]
            elif name in EMPTY and self._filled(number):
                self.fills[number + 1] = number
            elif name == "parameter":
                if users or record.name in self.recorder.net.trainable:
                    continue
            elif name not in EMPTY or users:
                continue
            self.hidden.add(number)

    def _filled(self, number: int) -> bool:
        """Whether the next operator does nothing but fill the empty memory that this one makes."""
        if number + 1 == len(self.records) or self.records[number + 1].op != COPY:
            return False
        return self.records[number + 1].reads[0] == (number, 0)

    def resolve(self, slot: Slot) -> Slot:
        """The slot of a node that shows the value of ``slot``."""
        while slot[0] in self.alias:
            slot = self.alias[slot[0]]
        return (
            (slot[0] + 1, 0)
            if slot[0] + 1 in self.fills and self.fills[slot[0] + 1] == slot[0]
            else slot
        )

    # What derives from what

    def _linked(self) -> dict[int, int]:
        """The forward record of every backward one: by the tape node that ran it, or by what
        consumes an accumulated sum.
        """
        links: dict[int, int] = {}
        for number, record in enumerate(self.records):
            if (
                record.phase == "backward"
                and record.sequence is not None
                and not record.accumulates
            ):
                owner = self.recorder.owner(record.sequence)
                if owner is not None:
                    shown = self.resolve((owner, 0))[0]
                    forward = shown if self.records[shown].phase == "forward" else links.get(shown)
                    if forward is not None:
                        links[number] = forward
        wanted = {
            self.resolve(slot)[0]: self.recorder.leaf(name[1:])
            for name, slot in self.gradients.items()
        }
        for slot in self.recorder.heads:
            wanted.setdefault(self.resolve(slot)[0], next(iter(wanted.values())))
        for number in range(len(self.records) - 1, -1, -1):
            record = self.records[number]
            if number not in links and record.phase == "backward":
                target = record.target[0] if record.target else wanted.get(number)
                if target is not None:
                    links[number] = target
            if number in links:
                wanted.update((self.resolve(slot)[0], links[number]) for slot in record.reads)
        return links

    # Nodes and edges

    @paused()
    def graph(self, case: str, values: bool) -> GradGraph:
        """The record of the graph; without ``values`` just the shapes."""
        self.nodes: list[Node] = []
        self.edges: dict[tuple[str, str, int, int, str], None] = {}
        self.number: dict[int, str] = {}
        self.phases: dict[str, str] = {}
        self.sources: dict[tuple[Line, ...], tuple[str, ...]] = {}
        visible = (
            record.kept for number, record in enumerate(self.records) if number not in self.hidden
        )
        others = [*self.further.values(), [value for _, value in self.state.values()]]
        others.append(
            [
                self.records[number].kept[out]
                for number, out in (*self.outputs.values(), *self.gradients.values())
            ]
        )
        self.shown = Shown(
            (tensor for tensors in (*visible, *others) for tensor in tensors), values
        )
        phases: tuple[tuple[str, dict[str, Slot]], ...] = (
            ("forward", self.outputs),
            ("backward", self.gradients),
        )
        leaves = [n for n, r in enumerate(self.records) if r.func is None and r.op != "constant"]
        for phase, results in phases:
            ran = [
                n
                for n, r in enumerate(self.records)
                if r.phase == phase and (r.func is not None or r.op == "constant")
            ]
            for number in [*(leaves if phase == "forward" else ()), *ran]:
                if number not in self.hidden:
                    self._node(number)
            for name, slot in results.items():
                self._result(name, slot, phase, self.records[slot[0]].kept[slot[1]])
            for name, (slot, value) in self.state.items() if phase == "forward" else ():
                self._result(name, slot, phase, value)
        self._edges()
        made = [Edge(a, b, out, into, kind) for a, b, out, into, kind in self.edges]  # type: ignore[arg-type]  # kinds by _kind
        return sourced(
            GradGraph(
                engine="torch-tape",
                case=case,
                stage="tape",
                nodes=tuple(self.nodes),
                edges=tuple(made),
            )
        )

    def _node(self, number: int) -> None:
        record = self.records[number]
        identity = self.number[number] = f"n{len(self.nodes)}"
        told = record
        missing = {}
        self.phases[identity] = record.phase
        link = self.links.get(number)
        if link is not None:
            told = self.records[link]
        elif record.phase == "backward" and record.func is not None:
            missing = {"forward": PREPARED, "source": PREPARED}
        outside = record.phase == "backward" and not record.tape and record.func is not None
        seed = outside and not record.reads
        zeros = outside and record.op == ZEROS  # the gradient of what the outputs do not depend on
        kind: Kind = "constant" if seed or zeros else "accumulate" if record.accumulates else "op"
        kind = record.args[0] if record.func is None else kind
        self.nodes.append(
            Node(
                id=identity,
                op=record.op,
                kind=kind,
                phase=record.phase,
                name="seed" if seed else record.name,
                scope=told.scope,
                source=self._source(told.lines),
                forward=None if link is None else self.number[link],
                order=len(self.nodes),
                outputs=tuple(
                    self.shown.of(tensor)
                    for tensor in (*record.kept, *self.further.get(number, ()))
                ),
                saved_bytes=record.saved,
                tape=record.tape,
                missing=missing,
            )
        )

    def _source(self, lines: tuple[Line, ...]) -> tuple[str, ...]:
        if lines not in self.sources:
            self.sources[lines] = source(lines, self.recorder.net.scenario.path)
        return self.sources[lines]

    def _result(self, name: str, slot: Slot, phase: Any, value: torch.Tensor) -> None:
        identity = f"n{len(self.nodes)}"
        self.phases[identity] = phase
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
                outputs=(self.shown.of(value),),
            )
        )
        self._edge(self.number[number], identity, out, 0)

    def _edges(self) -> None:
        for number, record in enumerate(self.records):
            if number in self.hidden:
                continue
            constant = self.nodes[int(self.number[number][1:])].kind == "constant"
            for index, slot in enumerate(record.reads):
                if not (index == 0 and number in self.fills):
                    origin, out = self.resolve(slot)
                    if constant:  # zeros have the shape of a leaf, and nothing of its values
                        self._control(self.number[origin], self.number[number])
                    else:
                        self._edge(self.number[origin], self.number[number], out, index)
        beyond = hazards(self.records, self.recorder.memory)
        for slot, number, index in beyond.seen:
            if number not in self.hidden and self.resolve(slot)[0] != number:
                origin, out = self.resolve(slot)
                self._edge(self.number[origin], self.number[number], out, index)
        for ends in beyond.before:
            earlier, later = (self.resolve((number, 0))[0] for number in ends)
            if earlier != later and earlier in self.number and later in self.number:
                self._control(self.number[earlier], self.number[later])

    def _edge(self, origin: str, target: str, out: int, into: int) -> None:
        crosses = self.phases[origin] == "forward" and self.phases[target] == "backward"
        self.edges[origin, target, out, into, "saved" if crosses else "data"] = None

    def _control(self, origin: str, target: str) -> None:
        if not any(
            (origin, target, out, 0, kind) in self.edges
            for out in (0,)
            for kind in ("data", "saved")
        ):
            self.edges[origin, target, 0, 0, "control"] = None
