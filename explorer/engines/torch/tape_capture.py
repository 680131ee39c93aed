"""A recorded tape, forward and backward, as a gradient graph."""

from collections.abc import Iterator, Mapping

import torch

from explorer.engines.capture.builder import GraphBuilder, Slot
from explorer.engines.capture.proof import GraphValues, Operand, Rerun, prove
from explorer.engines.plain_values import NO_ARGUMENTS
from explorer.engines.torch.operator_arguments import operator_arguments
from explorer.engines.torch.operators import FILLS, copy_of, is_view, rerun, unwritten_outputs
from explorer.engines.torch.source_lines import source
from explorer.engines.torch.tape_recorder import Bookkeeping, Recorder, forward_links
from explorer.engines.torch.tape_records import (
    Call,
    NodeOutputs,
    OperatorRecord,
    Origin,
    hazards,
    last_writers,
    shows_the_same,
)
from explorer.engines.torch.tensors import array_of
from explorer.model.graph import Absence, GradGraph, Output, Phase, ProofGap, is_users
from explorer.model.requests import ProofScope
from explorer.model.trees import Tree


class TapeRecording:
    """A finished recording: its records, which of them are bookkeeping, and its results by name.

    ``outputs`` and ``gradients`` tell where these come from, by name; ``returned`` has the names of
    the outputs as the net nests them; ``state`` has the same for
    every buffer that was changed, with a copy of what the call leaves in it. Where an
    operator wrote to a buffer without returning it, the copy becomes a further output of its
    record, in ``further``; ``overwritten`` says what that output was before.
    """

    def __init__(
        self,
        recorder: Recorder,
        returned: Tree,
        outputs: Mapping[str, Origin],
        gradients: Mapping[str, Origin],
        state: Mapping[str, tuple[torch.Tensor, torch.Tensor]],
    ) -> None:
        self.recorder = recorder
        self.returned = returned
        self.records = recorder.records
        self.outputs = outputs
        self.gradients = gradients
        self.further: dict[int, list[torch.Tensor]] = {}
        self.overwritten: dict[Origin, Origin] = {}
        self.state: dict[str, tuple[Origin, torch.Tensor]] = {}
        writers: dict[int, int] = {}
        if state:
            writers = last_writers(self.records, recorder.tensors.storages)
        for name, (tensor, value) in state.items():
            self.state[name] = self._written(tensor, value, writers), value
        self.bookkeeping = Bookkeeping(
            self.records,
            [*self.outputs.values(), *self._states_of("forward")],
            [*self.gradients.values(), *self._states_of("backward")],
            recorder.trainable,
        )
        self.links = forward_links(recorder, self.bookkeeping, self.gradients)

    def phase_of(self, origin: Origin) -> Phase:
        """The phase in which the operator ran that a tensor comes from."""
        return self.records[origin[0]].phase

    def _states_of(self, phase: Phase) -> list[Origin]:
        """The origins of the changed buffers that were last written in a phase."""
        return [origin for origin, _ in self.state.values() if self.phase_of(origin) == phase]

    def _written(
        self, tensor: torch.Tensor, value: torch.Tensor, writers: dict[int, int]
    ) -> Origin:
        """The origin of a changed buffer.

        That is where an operator returned it, or what shows the same memory, or else a further
        output of the last operator that wrote to it.
        """
        origin = self.recorder.origin(tensor)
        writer = writers.get(self.recorder.tensors.storages[id(tensor)])
        if writer is None or self.records[origin[0]].operator is not None:
            return origin
        for output, made in enumerate(self.records[writer].outputs):
            if shows_the_same(made, tensor):
                return writer, output
        further = self.further.setdefault(writer, [])
        further.append(value)
        written = writer, len(self.records[writer].outputs) + len(further) - 1
        self.overwritten[written] = origin
        return written

    def graph(self, case: str, values: bool, proof: ProofScope = "none") -> GradGraph:
        """The record of the graph; without ``values`` just the shapes.

        ``proof`` says whether the values are proven.
        """
        drawn = TapeGradGraph(self, values)
        if values and proof != "none":
            prove(drawn.builder, drawn.recorded(), proof == "all")
        return drawn.record(case)

    def tensors_of(self, number: int) -> list[torch.Tensor]:
        """The tensors that the node of a record yields."""
        return self.records[number].outputs + self.further.get(number, [])

    def tensor(self, origin: Origin) -> torch.Tensor:
        """The recorded output that a tensor is."""
        number, output = origin
        return self.records[number].outputs[output]


class TapeGradGraph:
    """The nodes and edges of a recording.

    ``nodes`` has the number of every record's node in ``builder``.
    """

    def __init__(self, recording: TapeRecording, values: bool) -> None:
        self.builder = GraphBuilder()
        self.nodes: dict[int, int] = {}
        self._stale: set[int] = set()
        self._recording = recording
        self._values = values
        self._records = recording.records
        beyond = hazards(self._records, recording.recorder.tensors.storages)
        self._orders = beyond.orders
        self._reads = recording.bookkeeping.overwrite(beyond.reads)
        self._resolve = recording.bookkeeping.resolve
        self._scenario = recording.recorder.file
        self._visible = recording.bookkeeping.visible()
        self._outputs = NodeOutputs(self._shown(), values)
        self._forward()
        self._backward()
        self._connect()
        self._connect_hazards()

    def record(self, case: str) -> GradGraph:
        """The record of the graph for the case with that label."""
        layers = self._recording.recorder.module.layers()
        return self.builder.record("torch-tape", case, "tape", layers=layers)

    def _shown(self) -> Iterator[torch.Tensor]:
        """Every tensor of which some node is to show the values."""
        recording = self._recording
        for number in self._visible:
            yield from recording.tensors_of(number)
        for origin in (*recording.outputs.values(), *recording.gradients.values()):
            yield recording.tensor(origin)
        for _, value in recording.state.values():
            yield value

    # Nodes

    def _forward(self) -> None:
        for number in self._visible:
            if self._records[number].is_leaf:
                self._add_record(number)
        self._add_operators("forward")
        self._add_outputs("forward")
        self._add_states("forward")

    def _backward(self) -> None:
        self._add_operators("backward")
        self._add_outputs("backward")  # of a loss that is made of gradients
        self._add_states("backward")
        for name, origin in self._recording.gradients.items():
            leaf = self._recording.recorder.leaves[name.removeprefix("d")]
            tensor = self._recording.tensor(origin)
            self._add_result(name, origin, "backward", tensor, leaf=self.nodes[leaf])

    def _add_outputs(self, phase: Phase) -> None:
        for name, origin in self._recording.outputs.items():
            if self._recording.phase_of(origin) == phase:
                self._add_result(name, origin, phase, self._recording.tensor(origin))

    def _add_states(self, phase: Phase) -> None:
        for name, (origin, value) in self._recording.state.items():
            if self._recording.phase_of(origin) == phase:
                self._add_result(name, origin, phase, value)

    def _add_operators(self, phase: Phase) -> None:
        for number in self._visible:
            record = self._records[number]
            if record.phase == phase and not record.is_leaf:
                self._add_record(number)

    def _add_record(self, number: int) -> None:
        record = self._records[number]
        link = self._recording.links.get(number)
        # An operator of backward has the module and the lines of what it derives from.
        place, forward = record, None
        if link is not None:
            place, forward = self._records[link], self.nodes[link]
        missing: dict[str, Absence] = {}
        if link is None and record.phase == "backward" and record.operator is not None:
            missing = _without_link(record)
        if self._values and self._unwritten_of(number):
            missing["values"] = Absence("unwritten")
        arguments, absence = NO_ARGUMENTS
        if record.operator is not None:
            arguments, absence = operator_arguments(record.operator, record.args, record.kwargs)
        if absence:
            missing["arguments"] = absence
        self.nodes[number] = self.builder.add(
            record.op,
            record.kind,
            record.phase,
            name=record.name,
            scope=place.scope,
            source=self._source(record, place),
            forward=forward,
            outputs=self._outputs_of(number),
            saved_bytes=record.saved_bytes,
            tape=record.tape,
            arguments=arguments,
            missing=missing,
        )

    def _unwritten_of(self, number: int) -> tuple[int, ...]:
        """The outputs of an operator that hold no result: what lay in its memory before is in them.

        So it is in a view of such a tensor, which may be written to in part.
        """
        record = self._records[number]
        if record.unfilled:
            return tuple(record.unfilled)
        if record.operator is None or not is_view(record.operator):
            return unwritten_outputs(record.op)
        viewed, output = record.origins[0]
        is_partly = bool(self._records[viewed].unfilled)
        is_empty = not is_partly and output in self._unwritten_of(viewed)
        return tuple(range(len(record.outputs))) if is_empty else ()

    def _source(self, record: OperatorRecord, place: OperatorRecord) -> tuple[str, ...]:
        """The lines of an operator: its own where the user's code called it, else those of ``place``."""
        lines = source(place.lines, self._scenario)
        own = source(record.lines, self._scenario)
        if own and is_users(own[0]) and own[:1] != lines[:1]:
            return own
        return lines

    def _outputs_of(self, number: int) -> tuple[Output, ...]:
        unwritten = self._unwritten_of(number)
        outputs = []
        for place, tensor in enumerate(self._recording.tensors_of(number)):
            output = self._outputs.of(tensor)
            if place in unwritten:
                output = Output(output.shape, output.dtype)
            outputs.append(output)
        return tuple(outputs)

    def _add_result(
        self,
        name: str,
        origin: Origin,
        phase: Phase,
        value: torch.Tensor,
        leaf: int | None = None,
    ) -> None:
        number, output = self._resolve(origin)
        self.builder.add(
            "output",
            "output",
            phase,
            ((self.nodes[number], output),),
            name=name,
            forward=leaf,
            outputs=(self._outputs.of(value),),
        )

    # Edges

    def _connect(self) -> None:
        filled = self._recording.bookkeeping.filled
        for number, target in self.nodes.items():
            record = self._records[number]
            for place, origin in enumerate(record.origins):
                if place == 0 and number in filled:
                    continue  # empty memory, which has no value
                maker, output = self._resolve(origin)
                if record.kind == "constant" or (place == 0 and record.op in FILLS):
                    # Zeros have the shape of a leaf, and nothing of its values.
                    self._order(maker, number)
                else:
                    self.builder.connect((self.nodes[maker], output), target, place)

    def _connect_hazards(self) -> None:
        """Draw what shared memory and random numbers add to the flow of tensors."""
        for origin, reader, place in self._reads:
            self._stale.add(reader)
            writer, output = self._resolve(origin)
            if reader in self.nodes and writer != reader:
                self.builder.connect((self.nodes[writer], output), self.nodes[reader], place)
        for earlier, later in self._orders:
            before, _ = self._resolve((earlier, 0))
            after, _ = self._resolve((later, 0))
            if before != after and before in self.nodes and after in self.nodes:
                self._order(before, after)

    def _order(self, earlier: int, later: int) -> None:
        """Note that a record runs after another, unless the edge of its first input says so."""
        before, after = self.nodes[earlier], self.nodes[later]
        if not self.builder.connected((before, 0), after, 0):
            self.builder.control(before, after)

    def call_of(self, node: str, *, may_be_stale: bool = False) -> Call | None:
        """The operator of the node with that id, and what it was called with.

        None where it is no operator's, or read memory that was overwritten behind it; unless it
        ``may_be_stale``: then what was overwritten has another value.
        """
        ids = self.builder.ids()
        for number, drawn in self.nodes.items():
            record = self._records[number]
            is_known = may_be_stale or number not in self._stale
            if ids.get(drawn) == node and record.operator is not None and is_known:
                operands = map(self._recording.tensor, record.origins)
                return record.operator, *record.called_with(operands)
        return None

    def value_of(self, node: str, output: int) -> torch.Tensor:
        """An output of the node with that id; KeyError where there is none."""
        ids = self.builder.ids()
        for number, drawn in self.nodes.items():
            if ids.get(drawn) == node and output < len(self._recording.tensors_of(number)):
                return self._recording.tensors_of(number)[output]
        raise KeyError(node)

    # Proofs

    def recorded(self) -> GraphValues:
        """The values of the recording, and how each operator is computed again."""
        recorded = GraphValues(array_of, copy_of)
        for number, node in self.nodes.items():
            for output, tensor in enumerate(self._recording.tensors_of(number)):
                recorded.outputs[node, output] = tensor
            record = self._records[number]
            if record.operator is not None:
                recorded.reruns[node] = self._rerun(number, record)
        for (writer, output), origin in self._recording.overwritten.items():
            written, before = (self.nodes[writer], output), self._slot(origin)
            read = list(map(self._slot, self._records[writer].origins))
            if before is None or before not in read:
                recorded.in_part.add(written)
            else:
                recorded.overwritten[written] = before
        return recorded

    def _rerun(self, number: int, record: OperatorRecord) -> Rerun | Absence:
        tensor = self._recording.tensor
        operands = [Operand(self._slot(origin), tensor(origin)) for origin in record.origins]
        excuse: ProofGap | None = None
        if number in self._stale:
            excuse = "overwritten_operand"
        return rerun(record.operator, operands, record.run_again, excuse)

    def _slot(self, origin: Origin) -> Slot | None:
        """The slot that shows a recorded tensor; None where no node does."""
        number, output = self._resolve(origin)
        if number not in self.nodes:
            return None
        return self.nodes[number], output


def _without_link(record: OperatorRecord) -> dict[str, Absence]:
    """Why an operator of backward derives from none of forward."""
    if record.tape or record.kind == "constant" or not record.lines:
        return dict.fromkeys(("forward", "source"), Absence("before_pass"))
    # It has lines of its own: the program itself has called it.
    return {"forward": Absence("outside_pass")}
