"""A recording of JAX's operations as a gradient graph."""

from collections.abc import Mapping

from explorer.engines.capture.builder import GraphBuilder, Slot
from explorer.engines.capture.proof import GraphValues, Operand, Rerun, prove
from explorer.engines.jax.operator_arguments import operator_arguments
from explorer.engines.jax.recording import Origin, Record, Recording
from explorer.engines.jax.rule_numbers import FirstOfRules, scope_of
from explorer.engines.jax.source_lines import source
from explorer.engines.jax.tensors import array_of, dtype_of, is_known, is_plain
from explorer.model.arrays import Summary
from explorer.model.graph import Absence, GradGraph, GraphNote, Output, Phase
from explorer.numeric.summaries import summarise_all


class RecordedGradGraph:
    """The nodes and edges of a recording.

    Lines in the file ``scenario`` come before others. ``nodes`` has the number of every record's node.
    """

    def __init__(self, recording: Recording, scenario: str, *, values: bool) -> None:
        self.nodes: dict[int, int] = {}
        self.recording = recording
        self._builder = GraphBuilder()
        self._scenario = scenario
        self._is_shown = recording.shown()
        self._summaries = self._summarised() if values else {}
        self._links = Links(recording, self._is_shown)
        self._add_phase("forward")
        self._add_results("forward", self._outputs_in("forward"))
        self._add_phase("backward")
        self._add_results("backward", self._outputs_in("backward"))
        self._add_results("backward", recording.gradients, are_gradients=True)
        self._add_results("backward", recording.state)
        self._connect()
        self._count_saved()

    def prove(self, everything: bool) -> None:
        """Compute every operation again; see ``explorer.engines.capture.proof``."""
        prove(self._builder, self._recorded(), everything)

    def record(self, engine: str, case: str, stage: str) -> GradGraph:
        """The record of the graph for the case with that label."""
        is_compiled = self.recording.is_program or self.recording.ran_compiled
        notes: tuple[GraphNote, ...] = ("op_by_op",) if is_compiled else ()
        return self._builder.record(engine, case, stage, notes=notes)

    def records_by_id(self) -> dict[str, int]:
        """The number of the record of each node, by its id in the graph."""
        ids = self._builder.ids()
        return {ids[node]: number for number, node in self.nodes.items() if node in ids}

    # Values

    def _summarised(self) -> dict[int, Summary]:
        """The summaries of all values that nodes show, by the identity of the array."""
        values = {}
        for record in self.recording.records:
            values.update({id(value): value for value in record.outputs})
        values.update({id(value): value for value in self.recording.results.values()})
        plain = {key: value for key, value in values.items() if is_known(value) and is_plain(value)}
        arrays = [array_of(value) for value in plain.values()]
        dtypes = [dtype_of(value) for value in plain.values()]
        return dict(zip(plain, summarise_all(arrays, dtypes), strict=True))

    def _output(self, value: object) -> Output:
        return Output(tuple(value.shape), dtype_of(value), self._summaries.get(id(value)))  # type: ignore[attr-defined]

    # Nodes

    def _add_phase(self, phase: Phase) -> None:
        for number, record in enumerate(self.recording.records):
            if record.phase == phase and number in self._is_shown:
                self._add_node(number, record)

    def _add_node(self, number: int, record: Record) -> None:
        arguments, absence = operator_arguments(record)
        missing: dict[str, Absence] = {}
        if absence:
            missing["arguments"] = absence
        place, forward = record, None
        if record.phase == "backward" and record.primitive:
            origin = self._links.origin(number)
            if origin is None:
                is_outside = number in self.recording.outside
                missing["forward"] = Absence("outside_pass" if is_outside else "unlinked_on_tape")
            else:
                place, forward = self.recording.records[origin], self.nodes[origin]
        lines = record.place.lines or place.place.lines
        if record.primitive and not lines:
            missing["source"] = Absence("added_by_capture")
        self.nodes[number] = self._builder.add(
            record.op,
            record.kind,
            record.phase,
            name=record.name,
            scope=scope_of(record.place.names) or scope_of(place.place.names),
            source=source(lines, self._scenario),
            forward=forward,
            outputs=tuple(map(self._output, record.outputs)),
            arguments=arguments,
            missing=missing,
        )

    def _outputs_in(self, phase: Phase) -> dict[str, Origin | None]:
        """The outputs that were computed in a phase: a loss may be made of gradients."""
        records = self.recording.records
        return {
            name: origin
            for name, origin in self.recording.outputs.items()
            if phase == (records[origin[0]].phase if origin else "forward")
        }

    def _add_results(
        self, phase: Phase, results: Mapping[str, Origin | None], *, are_gradients: bool = False
    ) -> None:
        leaves = self._builder.leaves()
        for name, origin in results.items():
            value = self.recording.result(name, origin)
            forward = leaves.get(name.removeprefix("d")) if are_gradients else None
            outputs = (self._output(value),)
            if origin is None:
                # No operation made it: zeros, where the outputs do not depend on a leaf.
                made = self._builder.add("constant", "constant", phase, outputs=outputs), 0
            else:
                made = self.nodes[origin[0]], origin[1]
            self._builder.add(
                "output", "output", phase, (made,), name=name, forward=forward, outputs=outputs
            )

    # Edges

    def _connect(self) -> None:
        for number, node in self.nodes.items():
            for place, (slot, _) in enumerate(self._operands(number)):
                self._builder.connect(slot, node, place)

    def _operands(self, number: int) -> list[tuple[Slot, object]]:
        """Where the operands of a record come from, and their values."""
        record = self.recording.records[number]
        return [
            ((self.nodes[origin[0]], origin[1]), self.recording.value(origin))
            for origin in record.origins
            if origin is not None
        ]

    def _count_saved(self) -> None:
        """Give forward nodes the bytes of what backward reads of them, each array once."""
        values = {node: self.recording.records[number] for number, node in self.nodes.items()}
        counted = set()
        for (origin, output), target, _ in self._builder.edges():
            if self._builder.edge_kind(origin, target) != "saved" or origin not in values:
                continue
            value = values[origin].outputs[output]
            if id(value) not in counted and is_plain(value):
                counted.add(id(value))
                self._builder.nodes[origin].saved_bytes += value.size * value.dtype.itemsize

    # Proofs

    def _recorded(self) -> GraphValues:
        recorded = GraphValues(array_of, lambda value: value)
        for number, node in self.nodes.items():
            record = self.recording.records[number]
            for output, value in enumerate(record.outputs):
                recorded.outputs[node, output] = value
            if record.primitive:
                operands = tuple(Operand(slot, value) for slot, value in self._operands(number))
                recorded.reruns[node] = Rerun(operands, record.computed)
        return recorded


class Links:
    """The forward operations by the numbers of their rules, which backward operations have too."""

    def __init__(self, recording: Recording, shown: set[int]) -> None:
        self._recording = recording
        self._shown = shown
        self._of_rules = FirstOfRules()
        self._readers: dict[int, list[int]] = {}
        self._leaves: dict[int, int] = {}
        names = {}
        for number, record in enumerate(recording.records):
            if number not in shown:
                continue
            if record.phase == "forward" and record.primitive:
                self._of_rules.add(record.rule, number)
            if record.primitive is None:
                names[record.name] = number
            for origin in record.origins:
                if origin is not None:
                    self._readers.setdefault(origin[0], []).append(number)
        for name, origin in recording.gradients.items():
            if origin is not None and name.removeprefix("d") in names:
                self._leaves[origin[0]] = names[name.removeprefix("d")]

    def origin(self, number: int) -> int | None:
        """The record that a backward one derives from; None where that is not known.

        A sum of gradients derives from what its first reader derives from; the last is the gradient
        with respect to a leaf, and derives from that leaf.
        """
        seen: set[int] = set()
        while number not in seen and self._derives(number):
            seen.add(number)
            record = self._recording.records[number]
            found = None if record.kind == "accumulate" else self._of_rules.of(record.rule)
            if found is None:
                found = self._leaves.get(number)
            if found is not None:
                return found
            number = next(iter(self._readers.get(number, ())), number)
        return None

    def _derives(self, number: int) -> bool:
        """Whether a record is one of a backward pass."""
        is_outside = number in self._recording.outside
        return self._recording.records[number].phase == "backward" and not is_outside
