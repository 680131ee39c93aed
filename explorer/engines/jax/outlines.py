"""Records a compiled program without the values of its operations, but for those that its marks name."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import jax
from jax._src import core

from explorer.engines.jax.marks import Note
from explorer.engines.jax.programs import Program, interpret
from explorer.engines.jax.recording import Found, Origin, Place, Recording, run
from explorer.engines.jax.step_recording import ADDS


class Outline(Recording):
    """What a program does, noted once while JAX traces it: its operations, and the marks among them.

    Loops and branches stay closed, and values are forms of arrays. Those of marked arrays are computed by a
    program that is compiled as a whole and has them as its results.
    """

    has_values = False

    def __init__(self, program: Program) -> None:
        super().__init__()
        self.program = program
        self._marks: dict[int, list[tuple[Note, list[Found]]]] = {}
        self._results: list[Found] = []
        # (Not of a method: JAX would compare the recordings.)
        self._marked = jax.jit(lambda *operands: self._traced(operands))

    def record_in(
        self, recording: Recording, operands: Sequence[Found], returned: Sequence[Any]
    ) -> list[Found]:
        """Record a call of the program, which has ``returned`` arrays; its results."""
        values = dict(self._marked(*[value for _, value in operands]))
        for (origin, _), value in zip(self._results, returned, strict=True):
            if origin is not None:
                values[origin] = value
        of_records: dict[int, dict[int, Any]] = {}
        for (number, output), value in values.items():
            of_records.setdefault(number, {})[output] = value
        known: list[list[Found]] = [[found] for found in operands]

        def read(noted: Iterable[Found]) -> list[Found]:
            return [
                (None, value) if origin is None else known[origin[0]][origin[1]]
                for origin, value in noted
            ]

        for number, record in enumerate(self.records[len(operands) :], len(operands)):
            self._note_in(recording, number, read)
            outputs = list(record.outputs)
            for output, value in of_records.get(number, {}).items():
                outputs[output] = value
            made: Sequence[Origin | None]
            if record.primitive is None:
                made = [recording.add_array(outputs[0], record.kind)]
            else:
                given = read(zip(record.origins, record.operands, strict=True))
                made = recording.add(
                    record.primitive,
                    record.params,
                    [value for _, value in given],
                    [origin for origin, _ in given],
                    outputs,
                    record.place,
                )
            known.append(list(zip(made, outputs, strict=True)))
        self._note_in(recording, len(self.records), read)
        return read(self._results)

    def _note_in(
        self, recording: Recording, number: int, read: Callable[[Iterable[Found]], list[Found]]
    ) -> None:
        for note, marked in self._marks.get(number, ()):
            origins, values = zip(*read(marked), strict=True)
            recording.note(note, origins, values)

    # While JAX traces

    def _traced(self, operands: Sequence[Any]) -> dict[Origin, Any]:
        """Note what the program does; the marked values that it does not return itself."""
        self.records.clear()
        self._marks.clear()
        arguments = [(self.add_array(value, "constant"), value) for value in operands]
        results = interpret(self, self.program, arguments, Place())
        self._results = [(origin, _form(value)) for origin, value in results]
        values = {origin: self.value(origin) for origin in self._wanted() - dict(results).keys()}
        for record in self.records:
            record.operands = tuple(map(_form, record.operands))
            record.outputs = list(map(_form, record.outputs))
        return values

    def _wanted(self) -> set[Origin]:
        """Marked arrays, and what becomes of an array by adding: a parameter may be updated so."""
        wanted = {it for marks in self._marks.values() for _, marked in marks for it, _ in marked}
        for number, record in enumerate(self.records):
            if record.op in ADDS and any(it and self._is_array(it) for it in record.origins):
                wanted.add((number, 0))
        return {origin for origin in wanted if origin and not self._is_array(origin)}

    def _is_array(self, origin: Origin) -> bool:
        return self.records[origin[0]].primitive is None

    def run(self, primitive: Any, operands: Iterable[Any], params: Mapping[str, Any]) -> list[Any]:
        """What an operation yields where it is traced."""
        return run(primitive, operands, params, core.trace_ctx.trace)

    def note(self, note: Note, origins: Sequence[Origin | None], values: Sequence[Any]) -> None:
        """Note a mark between two operations."""
        marked = list(zip(origins, map(_form, values), strict=True))
        self._marks.setdefault(len(self.records), []).append((note, marked))


def _form(value: Any) -> Any:
    """The form of an array that is being traced; any other one as it is."""
    is_traced = isinstance(value, core.Tracer)
    return jax.ShapeDtypeStruct(value.shape, value.dtype) if is_traced else value
