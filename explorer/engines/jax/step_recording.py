"""The operations of a program's step: forwards, backward passes, and what comes between and behind them."""

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from explorer.engines.jax.leaf_names import Leaf, in_torch, is_turned, path_of, role_of
from explorer.engines.jax.marks import Note
from explorer.engines.jax.optimizers import Link
from explorer.engines.jax.recording import Found, Origin, Place, Record, Recording
from explorer.engines.jax.tensors import is_floating
from explorer.engines.step_names import free_name
from explorer.model.graph import NodeKind, Phase
from explorer.model.trace import StartRole

ADDS = ("add", "add_any", "sub")
"""The operations by which a parameter becomes what an update makes of it."""


Result = list[tuple[str, Origin | None, tuple[int, ...]]]
"""What a function returns, or a part of it: paths, origins and shapes."""


class FullError(Exception):
    """More is held than may be."""


class Marked(NamedTuple):
    """An array that a mark speaks of: the mark, its place there, where it comes from, and its value."""

    note: Note
    place: int
    origin: Origin | None
    value: Any

    @property
    def found(self) -> Found:
        """Where the array comes from, and the array."""
        return self.origin, self.value


@dataclass
class Given:
    """What an array is that the step read and did not make.

    ``is_provisional`` says that a mark may know better, ``is_turned`` that it lies otherwise than in PyTorch.
    ``own`` is the name before it was made one that nothing else has.
    """

    name: str
    role: StartRole
    trained: bool = False
    is_provisional: bool = True
    is_turned: bool = False
    own: str = ""


@dataclass
class Pass:
    """One gradient call: what the net was called with beside its parameters, its losses, its gradients.

    ``data`` and ``gradients`` go by the names of arguments and of parameters.
    """

    data: dict[str, Origin]
    losses: list[Found] = field(default_factory=list)
    gradients: dict[str, Found] = field(default_factory=dict)


@dataclass
class StepRecording(Recording):
    """The records of a step, of which at most about ``memory`` bytes are held; raises FullError.

    ``given`` says what each array is that was there before, by the number of its record, and ``taken`` by
    its name. ``counters`` are what an optimizer counts, by name, as it has left them,
    and ``arguments`` what compiled functions are called with. ``chains`` are those that have made
    what an optimizer holds.
    """

    memory: int = 0
    given: dict[int, Given] = field(default_factory=dict)
    taken: dict[str, Given] = field(default_factory=dict)
    passes: list[Pass] = field(default_factory=list)
    counters: dict[str, Origin] = field(default_factory=dict)
    arguments: dict[str, Origin] = field(default_factory=dict)
    chains: dict[Origin, Sequence[Link]] = field(default_factory=dict)
    _bytes: int = 0
    _paths: dict[str, Origin] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)
    _data: dict[str, Origin] = field(default_factory=dict)
    _is_in_forward: bool = False
    _is_in_pass: bool = False

    # Operations

    def add_array(
        self, value: Any, kind: NodeKind, name: str = "", phase: Phase = "forward"
    ) -> Origin:
        """A record of an array that was there before."""
        self._hold([value])
        return super().add_array(value, kind, name, phase)

    def add(
        self,
        primitive: Any,
        params: Mapping[str, Any],
        operands: Sequence[Any],
        origins: Sequence[Origin | None],
        outputs: list[Any],
        place: Place,
    ) -> list[Origin | None]:
        """Record an operation that has run, and whether it makes an update of a parameter."""
        self._hold(outputs)
        made = super().add(primitive, params, operands, origins, outputs, place)
        if made and made[0] and self.records[-1].phase == "backward" and not self._is_in_pass:
            self.outside.add(len(self.records) - 1)
        if self.passes and not self._is_in_pass and str(primitive) in ADDS and made[0]:
            self._note_update(filter(None, origins), made[0])
        return made

    def _note_update(self, origins: Iterable[Origin], made: Origin) -> None:
        """Note what was added up behind a pass: a parameter as it is from now on, if one is a term."""
        for origin in origins:
            given = self.given.get(origin[0])
            if given and given.trained and _has_form(self.value(origin), self.value(made)):
                self._set_state(given.name, made)

    def _hold(self, values: Sequence[Any]) -> None:
        self._bytes += sum(int(getattr(value, "nbytes", 0)) for value in values)
        if self._bytes > self.memory:
            raise FullError

    def phase_of(self, place: Place, origins: Sequence[Origin | None]) -> Phase:
        """The phase of an operation: an update belongs to backward, and so does what reads its results."""
        phase = super().phase_of(place, origins)
        if phase == "backward" or self._is_in_forward or not self.passes:
            return phase
        known = [origin for origin in origins if origin is not None]
        return "forward" if any(map(self._is_of_forward, known)) else "backward"

    def _is_of_forward(self, origin: Origin) -> bool:
        given = self.given.get(origin[0])
        return self.records[origin[0]].primitive is not None or (
            given is not None and given.role == "input"
        )

    # What arrays are

    def name_leaf(
        self, origin: Origin, name: str, role: StartRole, *, trained: bool = False
    ) -> None:
        """Give an array its name for good, if the step did not make it and no mark has given it one."""
        self._name(origin, Given(name, role, trained, is_provisional=False))

    def name_argument(self, origin: Origin, leaf: Leaf) -> None:
        """Give an argument of a compiled function the name that it has there, if it has none."""
        name = leaf.of_optimizer or (leaf.name if leaf.steps else leaf.argument)
        self.arguments[name] = origin
        self._name(origin, Given(name, role_of(leaf)))

    def _name(self, origin: Origin, given: Given) -> None:
        record, known = self.records[origin[0]], self.given.get(origin[0])
        if record.primitive is not None:
            return
        if known and not known.is_provisional:
            if given.trained:
                known.trained, known.role, record.kind = True, "parameter", "parameter"
            return
        if known and given.role == "input":
            given.role = known.role
        given.is_turned |= is_turned(given.name, np.ndim(record.outputs[0]))
        given.own = in_torch(given.name)
        if known:
            del self.taken[known.name]
        self._call(given, given.own, record)
        self.given[origin[0]] = given
        record.kind = "input" if given.role == "input" else "parameter"

    def _call(self, given: Given, name: str, record: Record) -> None:
        """Give an array a name, or one like it that nothing else has."""
        given.name = record.name = free_name(name, self.taken)
        self.taken[given.name] = given

    def note(self, note: Note, origins: Sequence[Origin | None], values: Sequence[Any]) -> None:
        """Note what a gradient call says of arrays."""
        if note.kind == "given":
            self._paths, self._data = {}, {}
        elif note.kind == "begins":
            self._is_in_forward = self._is_in_pass = True
            self._names = {}
        elif note.kind == "loss":
            self._is_in_forward = False
            self.passes.append(Pass(self._data))
            self._data = {}
        elif note.kind == "gradients":
            self._is_in_pass = False
        noting = {
            "given": self._note_given,
            "begins": self._note_differentiated,
            "loss": self._note_loss,
            "aux": self._note_aux,
            "gradients": self._note_gradient,
            "held": self._note_held,
        }[note.kind]
        for place, name in enumerate(note.names):
            if name is not None:
                noting(name, Marked(note, place, origins[place], values[place]))

    def _note_given(self, name: str, marked: Marked) -> None:
        if marked.origin is not None:
            self.name_leaf(marked.origin, name, marked.note.roles[marked.place])
            self._paths[marked.note.paths[marked.place]] = marked.origin
            self._data[name] = marked.origin

    def _note_differentiated(self, name: str, marked: Marked) -> None:
        if marked.origin is not None:
            self.name_leaf(marked.origin, name, "parameter", trained=True)
            given = self.given.get(marked.origin[0])
            if given is not None:
                self._names[name] = given.name

    def _note_loss(self, name: str, marked: Marked) -> None:
        self._add_result(self.outputs, name, marked.origin, marked.value)
        self.passes[-1].losses.append(marked.found)

    def _note_gradient(self, name: str, marked: Marked) -> None:
        known = self._names.get(name, in_torch(name))
        self._add_result(self.gradients, f"d{known}", marked.origin, marked.value)
        if self.passes:
            self.passes[-1].gradients[known] = marked.found

    def _note_held(self, _name: str, marked: Marked) -> None:
        if marked.origin is not None:
            self.chains[marked.origin] = marked.note.chain

    def _add_result(
        self, results: dict[str, Origin | None], name: str, origin: Origin | None, value: Any
    ) -> None:
        free = free_name(name, results)
        results[free] = origin
        if origin is None:
            self.results[free] = value

    def _note_aux(self, path: str, marked: Marked) -> None:
        """Note what has come of an argument that was not differentiated, by its path."""
        before, after = self._paths.get(path), marked.origin
        if before and after and np.shape(self.value(before)) == np.shape(self.value(after)):
            self._note_state(before, after)

    def returned(self, arguments: Sequence[tuple[Origin, Leaf]], results: Iterable[Result]) -> None:
        """Note what a compiled function returns in the place of an argument: all of it, by the same paths."""
        waiting = [{path: (after, shape) for path, after, shape in one} for one in results]
        for argument in dict.fromkeys(leaf.argument for _, leaf in arguments):
            held = {path_of(it.steps): at for at, it in arguments if it.argument == argument}
            forms = {path: np.shape(self.value(at)) for path, at in held.items()}
            alike = [
                result
                for result in waiting
                if {path: shape for path, (_, shape) in result.items() if path in forms} == forms
            ]
            if alike and "" not in forms:
                result = min(alike, key=len)  # and not one of which it is a part
                waiting.remove(result)
                for path, before in held.items():
                    self._note_state(before, result[path][0])

    def _note_state(self, before: Origin, after: Origin | None) -> None:
        given = self.given.get(before[0])
        if given is None or after is None or after == before:
            return
        if not self._is_made_of(after, before, given.trained):
            return  # a gradient, which has the names of its parameter too
        if given.role == "input":
            # It comes back with other values: it is none of the data.
            given.role, self.records[before[0]].kind = "buffer", "parameter"
        if given.role == "optimizer":
            name = self._in_full(given.own, after)
            if name != given.own:
                del self.taken[given.name]
                self._call(given, name, self.records[before[0]])
        self._set_state(given.name, after)

    def is_made_of_held(self, origin: Origin) -> bool:
        """Whether parameters, buffers or an optimizer's state are in what a value was computed from."""
        waiting, seen = [origin[0]], set()
        while waiting:
            number = waiting.pop()
            if number not in seen:
                given = self.given.get(number)
                if given is not None and given.role != "input":
                    return True
                waiting += [it[0] for it in self.records[number].origins if it]
            seen.add(number)
        return False

    def _is_made_of(self, after: Origin, before: Origin, is_outside: bool) -> bool:
        """Whether a value was computed from another one; by what is outside of passes alone, if so."""
        # The nearest first: what becomes of a value is made of it at once.
        waiting, seen = deque([after[0]]), set()
        while waiting:
            number = waiting.popleft()
            if number == before[0]:
                return True
            if number not in seen and (not is_outside or number in self.outside):
                waiting += [origin[0] for origin in self.records[number].origins if origin]
            seen.add(number)
        return False

    def _in_full(self, name: str, after: Origin) -> str:
        """PyTorch's name of what an optimizer holds, with that of its parameter in full.

        An optimizer of one net of several knows no name of the net. Of parameters that are called alike it is
        the one whose gradient is the nearest on the way back.
        """
        path, _, held = in_torch(name).rpartition(".")
        trained = [given for given in self.given.values() if given.trained and path]
        alike = {it.name for it in trained if f".{it.own}".endswith(f".{path}")}
        if len(alike) > 1:
            of_passes = [found for made in self.passes for found in made.gradients.items()]
            gradients = {found[0]: one for one, found in of_passes if found[0] and one in alike}
            nearest = self.nearest(after, gradients)
            alike = {gradients[nearest]} if nearest else set()
        return f"{alike.pop()}.{held}" if alike else in_torch(name)

    def nearest(self, after: Origin, values: Collection[Origin]) -> Origin | None:
        """The first of some values on the way back from one; None where there is none."""
        waiting, seen = deque([after] if values else ()), set()
        while waiting:
            origin = waiting.popleft()
            if origin in values:
                return origin
            if origin not in seen:
                waiting += [it for it in self.records[origin[0]].origins if it]
            seen.add(origin)
        return None

    def note_made(self, name: str, origin: Origin) -> None:
        """Note what an optimizer has made for a parameter, if a gradient is part of it."""
        if self.records[origin[0]].phase != "backward":
            return
        lies_turned = is_turned(name, np.ndim(self.value(origin)))
        name = self._in_full(name, origin)
        for number, given in self.given.items():
            if self.state.get(given.name) == origin and given.name != name:
                # Flax numbers what it hands to a compiled function: here is its name.
                del self.state[given.name]
                given.is_provisional = True
                known = Given(name, "optimizer", is_provisional=False, is_turned=lies_turned)
                self._name((number, 0), known)
        self._set_state(name, origin)

    def _set_state(self, name: str, origin: Origin) -> None:
        """What is now under a name; counters are no results."""
        (self.state if is_floating(self.value(origin)) else self.counters)[name] = origin


def _has_form(value: Any, other: Any) -> bool:
    return np.shape(value) == np.shape(other)
