"""Records one step of a program that runs in this process, without a change to what it computes."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import jax
import jax.numpy as jnp
import numpy as np
from jax._src import core, source_info_util

from explorer.engines.jax import rule_numbers
from explorer.engines.jax.eager_trace import EagerTrace
from explorer.engines.jax.leaf_names import (
    Leaf,
    leaves,
    leaves_of_call,
    parts_of,
    path_of,
)
from explorer.engines.jax.made_states import optimizer_of, watched_states
from explorer.engines.jax.marks import MARK, Note, marked
from explorer.engines.jax.optimizers import Link, is_same
from explorer.engines.jax.outlines import Outline
from explorer.engines.jax.programs import Operation, interpret, opened, program_of
from explorer.engines.jax.recording import Origin, Place
from explorer.engines.jax.settings import settings_now
from explorer.engines.jax.step_recording import FullError, Result, StepRecording
from explorer.engines.jax.versions import check_records
from explorer.engines.jax.watched_calls import CompiledCall, WatchedCalls
from explorer.model.graph import Setting
from explorer.model.trace import StartRole

Noted = TypeVar("Noted")

DONATED = "donated_invars"
"""The parameter of a compiled call that says which arrays it may overwrite (0.6.2)."""


class MarkedProgram(NamedTuple):
    """A compiled function with the marks of its gradient calls; ``returned`` is the tree of its results.

    ``optimizers`` are those that made updates in it.
    """

    outline: Outline
    returned: Any
    optimizers: list[list[Link]]


_marked: WeakKeyDictionary[Any, list[MarkedProgram]] = WeakKeyDictionary()
"""Compiled functions as they were traced to be marked, by the programs that JAX keeps of them.

One that is called several times in a step has a trace for each call: a recording knows operations by
the numbers that they have there.
"""


class StepRecorder(EagerTrace):
    """Gets the operations of a program's step as they run, and records them.

    What is compiled runs compiled, and then operation by operation to be recorded: its results are those
    of the compiled program. Arrays have names by the ``known`` trees or modules of flax.nnx, by a
    prefix, and by ``inputs``. At most about ``memory`` bytes are held. Once something in here fails, that is
    its ``fault``, and nothing more is recorded; the step goes on. ``settings`` are those when the
    first gradient call began, ``optimizers`` those of optax that have made updates and hold a state.
    Unless it ``keeps_values``, a compiled function runs once more as a whole instead, for its losses and
    gradients, and the values between are not recorded.
    """

    def __init__(
        self,
        known: Mapping[str, Any],
        inputs: Mapping[str, Any],
        memory: int,
        *,
        keeps_values: bool = True,
    ) -> None:
        super().__init__()
        self.recording = StepRecording(memory=memory)
        self.keeps_values = keeps_values
        self.fault: Exception | None = None
        self.is_full = False
        self.settings: dict[str, Setting] = settings_now()
        self.optimizers: list[list[Link]] = []
        # The arrays are kept, so that no other gets the identity of one.
        self._known: dict[int, tuple[Origin, Any]] = {}
        self._in_numpy: list[tuple[Origin, Any]] = []
        self._called: CompiledCall | None = None
        self._times: Counter[Any] = Counter()
        self._entered = ExitStack()
        self._calls = WatchedCalls(self, self._guarded, self._note_call)
        self._guarded(self._note_known)(known, inputs)

    # The block

    def start(self) -> None:
        """Begin to record; raises NotRecordedError in a version of JAX in which steps are not."""
        check_records()
        self._entered.enter_context(rule_numbers.installed())
        self._entered.enter_context(self._calls)
        self._entered.enter_context(watched_states(self._guarded(self._note_state)))
        self._entered.enter_context(self.running())

    def stop(self) -> None:
        """End it, and leave nothing behind in JAX."""
        self._entered.close()
        # The circle of the two would keep what was recorded until the next search for garbage.
        self.__dict__.pop("_calls", None)

    @staticmethod
    def running_now() -> "StepRecorder | None":
        """The recorder that gets what runs now."""
        trace = core.trace_ctx.trace
        return trace if isinstance(trace, StepRecorder) else None

    @contextmanager
    def resting(self) -> Iterator[None]:
        """Get nothing of what runs inside."""
        with core.set_current_trace(core.eval_trace):
            yield

    @property
    def is_off(self) -> bool:
        """Whether nothing more is recorded."""
        return self.fault is not None or self.is_full

    @property
    def is_updated(self) -> bool:
        """Whether each parameter that was differentiated has been updated."""
        given = self.recording.given.values()
        trained = {one.name for one in given if one.trained}
        return bool(trained) and trained <= set(self.recording.state)

    def _guarded(self, note: Callable[..., Noted]) -> Callable[..., Noted | None]:
        """A function of this recorder's that never raises, and does nothing once one has failed."""

        def run(*args: Any) -> Noted | None:
            if self.is_off:
                return None
            try:
                return note(*args)
            except FullError:
                self.is_full = True
            except Exception as error:
                self.fault = error
            return None

        return run

    # Operations

    def process_primitive(self, primitive: Any, operands: Any, params: Any) -> Any:
        """Run an operation as JAX does, and record it."""
        if primitive is MARK:
            self._guarded(self._note_mark)(params["note"], operands)
            return list(operands)
        called, self._called = self._called, None
        self._guarded(self._keep_donated)(operands, params)
        # Outside of any try: what it raises is the program's.
        result = core.eval_trace.process_primitive(primitive, operands, params)
        outputs = list(result) if primitive.multiple_results else [result]
        place = source_info_util.current()
        self._guarded(self._record)(primitive, operands, params, outputs, place, called)
        return result

    def process_call(self, primitive: Any, function: Any, operands: Any, params: Any) -> Any:
        """Run a function that is called as a whole."""
        del primitive, params
        with self.running():
            return function.call_wrapped(*operands)

    def process_map(self, primitive: Any, function: Any, operands: Any, params: Any) -> Any:
        """Run a function that is mapped over devices, which is not seen inside."""
        return core.eval_trace.process_map(primitive, function, operands, params)

    def process_custom_transpose(
        self, primitive: Any, function: Any, operands: Any, **params: Any
    ) -> Any:
        """Run a function with a transposition of its own where nothing is transposed."""
        del primitive, params
        with self.running():
            return function.call_wrapped(*operands)

    def cur_qdd(self, value: Any) -> Any:
        """What JAX knows of a value that may change."""
        return core.eval_trace.cur_qdd(value)

    def _record(
        self,
        primitive: Any,
        operands: Any,
        params: Any,
        outputs: list[Any],
        source: Any,
        called: CompiledCall | None,
    ) -> None:
        place = Place().inner(source)
        first = len(self.recording.records)
        if called is not None:
            made = self._opened_call(called, params["jaxpr"], operands, outputs, place)
            self._know(made, outputs)
            return
        origins = list(map(self._origin_of_operand, operands))
        found = list(zip(origins, operands, strict=True))
        with core.set_current_trace(core.eval_trace):
            operation = Operation(primitive, params, found, place, outputs)
            results = opened(self.recording, operation)
        if results is None:
            made = self.recording.add(primitive, params, operands, origins, outputs, place)
        else:
            made = self.recording.as_returned(results, first, outputs)
        self._know(made, outputs)

    def _know(self, made: list[Origin | None], outputs: list[Any]) -> None:
        for origin, output in zip(made, outputs, strict=True):
            if origin is not None:
                self._known[id(output)] = origin, output

    # Compiled functions

    def _note_call(self, call: CompiledCall) -> None:
        self._called = call

    def _opened_call(
        self, called: CompiledCall, program: Any, operands: Any, outputs: list[Any], place: Place
    ) -> list[Origin | None]:
        """Record a function of the program's own, of which JAX keeps a ``program``."""
        arguments = list(self._arguments_of(called))
        marked = self._marked(called, program)
        for optimizer in marked.optimizers:
            self._note_optimizer(optimizer)
        self.recording.ran_compiled = True
        first = len(self.recording.records)
        origins = list(self._origins_of_call(arguments, operands))
        found = list(zip(origins, self._kept(operands), strict=True))
        outline = marked.outline
        with core.set_current_trace(core.eval_trace):
            if self.keeps_values:
                results = interpret(self.recording, outline.program, found, place, outputs)
            else:
                results = outline.record_in(self.recording, found, outputs)
        made = self.recording.as_returned(results, first, outputs)
        self.recording.returned(arguments, _results(marked, made, outputs))
        return made

    def _marked(self, called: CompiledCall, program: Any) -> MarkedProgram:
        """A function of the program's own, which is traced once more to be marked where it was not yet."""
        kept = _marked.setdefault(program, [])
        number = self._times[program]
        self._times[program] += 1
        if number < len(kept):
            return kept[number]
        known, self.optimizers = self.optimizers, []
        try:
            jaxpr, returned = self._calls.program(called)
            marked = MarkedProgram(Outline(program_of(jaxpr)), returned, self.optimizers)
        finally:
            self.optimizers = known
        if not self.is_off:  # or marks are missing
            kept.append(marked)
        return marked

    def _arguments_of(self, called: CompiledCall) -> Iterator[tuple[Origin, Leaf]]:
        seen: set[int] = set()
        for leaf in leaves_of_call(called.function, called.args, called.kwargs):
            origin = self._add(leaf.value)
            if id(leaf.value) in seen and isinstance(leaf.value, jax.Array):
                # An average may begin as the parameters themselves, and becomes something else.
                origin = self.recording.add_array(leaf.value, "constant")
            seen.add(id(leaf.value))
            self.recording.name_argument(origin, leaf)
            yield origin, leaf

    def _origins_of_call(
        self, arguments: Iterable[tuple[Origin, Leaf]], operands: Iterable[Any]
    ) -> Iterator[Origin | None]:
        """Where the operands of a compiled call come from; of an array that is several, one each."""
        waiting: dict[int, list[Origin]] = {}
        for origin, leaf in arguments:
            waiting.setdefault(id(leaf.value), []).append(origin)
        for operand in operands:
            origins = waiting.get(id(operand))
            yield origins.pop(0) if origins else self._origin_of_operand(operand)

    def _keep_donated(self, operands: Any, params: Any) -> None:
        """Copy the arrays that a compiled call may overwrite: their values are needed behind it."""
        for operand, is_donated in zip(operands, params.get(DONATED, ()), strict=False):
            if is_donated and isinstance(operand, jax.Array):
                number, output = self._add(operand)
                copy = jnp.array(operand, copy=True)
                self.recording.records[number].outputs[output] = copy

    def _kept(self, operands: list[Any]) -> list[Any]:
        """Operands, of which copies were kept where a compiled call has overwritten them."""
        kept = []
        for operand in operands:
            origin = self._origin(operand)
            kept.append(operand if origin is None else self.recording.value(origin))
        return kept

    # Arrays

    def _origin(self, value: Any) -> Origin | None:
        """Where an array comes from; None if it is not known."""
        known = self._known.get(id(value))
        return None if known is None else known[0]

    def _add(self, value: Any) -> Origin:
        """Where an array comes from; one that is new was there before."""
        known = self._origin(value)
        if known is not None:
            return known
        is_foreign = not isinstance(value, jax.Array)
        kept = jnp.asarray(value) if is_foreign else value
        origin = self._same_in_numpy(value) or self.recording.add_array(kept, "constant")
        self._known[id(value)] = origin, value
        if is_foreign and np.ndim(value):
            self._in_numpy.append((origin, kept))
        return origin

    def _same_in_numpy(self, value: Any) -> Origin | None:
        """The origin of an array of numpy's that JAX has made this one of."""
        for origin, array in self._in_numpy if isinstance(value, jax.Array) else ():
            has_form = (array.shape, array.dtype) == (value.shape, value.dtype) and value.ndim
            if has_form and np.array_equal(array, value):
                return origin
        return None

    def _origin_of_operand(self, operand: Any) -> Origin | None:
        """Where an operand comes from: an array that nobody has made is a constant, a number is none."""
        origin = self._origin(operand)
        return self._add(operand) if origin is None and np.ndim(operand) else origin

    def _note_known(self, known: Mapping[str, Any], inputs: Mapping[str, Any]) -> None:
        for prefix, tree in known.items():
            for steps, value in leaves(variables(tree)):
                name = Leaf(prefix, steps, value).name
                self._note_given(name, value, "parameter")
        for name, value in inputs.items():
            self._note_given(name, value, "input")

    def _note_given(self, name: str, value: Any, role: StartRole) -> None:
        self.recording.name_leaf(self._add(value), name, role)

    def _note_state(self, state: Any, call: FrameType) -> None:
        """Note what an optimizer has made for parameters; and itself."""
        chain = optimizer_of(call)
        self._note_optimizer(chain)
        made = [(Leaf("", steps, value).of_optimizer, value) for steps, value in leaves(state)]
        for name, value in made:
            origin = self._origin(value)
            if name is not None and origin is not None:
                self.recording.note_made(name, origin)
        if chain and self._calls.is_outermost():
            names, values = tuple(name for name, _ in made), [value for _, value in made]
            marked(Note("held", names, chain=chain), values)

    def _note_optimizer(self, optimizer: list[Link]) -> None:
        if optimizer and not any(is_same(optimizer, known) for known in self.optimizers):
            self.optimizers.append(optimizer)

    def _note_mark(self, note: Any, values: Any) -> None:
        if note.kind in ("given", "begins"):
            origins: list[Origin | None] = [self._add(value) for value in values]
        else:
            origins = [self._origin(value) for value in values]
        self.recording.note(note, origins, values)


def variables(tree: Any) -> Any:
    """The variables of a module of flax.nnx; any other tree as it is."""
    if type(tree).__module__.startswith("flax.") or hasattr(tree, "__nnx_repr__"):
        from flax import nnx  # the module's own file has imported it

        return nnx.state(tree)
    return tree


def _results(
    program: MarkedProgram, made: list[Origin | None], outputs: list[Any]
) -> Iterator[Result]:
    """The origins and shapes of what a compiled function returns, by path; of each part of a tuple too."""
    origins = {id(output): origin for output, origin in zip(outputs, made, strict=True)}
    for part in parts_of(jax.tree.unflatten(program.returned, outputs)):
        yield [(path_of(steps), origins[id(leaf)], leaf.shape) for steps, leaf in leaves(part)]
