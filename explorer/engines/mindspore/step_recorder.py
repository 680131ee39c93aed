"""Records one step of a program that runs in this process, without a change to what it computes."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from mindspore.common.api import _pynative_executor

from explorer.engines.mindspore.compiled_calls import COMPILED_CALLS, CompiledCall
from explorer.engines.mindspore.compiled_gradient import CompiledGradient, pairs
from explorer.engines.mindspore.dispatch import node_of, saved_tensors_hooks
from explorer.engines.mindspore.found_cells import (
    Found,
    FoundCells,
    cells_of,
    compiled_function,
    is_optimizer,
    running_optimizer,
)
from explorer.engines.mindspore.optimizer_state import state_of
from explorer.engines.mindspore.settings import settings_now
from explorer.engines.mindspore.source_lines import CallSite
from explorer.engines.mindspore.step_capture import StepCapture
from explorer.engines.mindspore.step_noise import StepNoise
from explorer.engines.mindspore.tape_recorder import TapeRecorder
from explorer.engines.mindspore.tape_tensors import TapeTensor, on_tape, tensors_in
from explorer.engines.mindspore.versions import has
from explorer.engines.mindspore.watched_executor import WatchedExecutor, leaves_of
from explorer.model.graph import Setting

Result = TypeVar("Result")


class Compiled(NamedTuple):
    """A call of a compiled function: its name, its operands, what it may write, and where it is called."""

    name: str
    operands: list[TapeTensor]
    written: list[Any]
    site: CallSite


class StepRecorder(TapeRecorder):
    """Records the operators of a program's step: forward and backward passes as they come.

    A context manager around the step. Cells are found as they run, but for those that are ``known`` by a
    prefix, and tensors by their names among ``inputs``. At most about ``memory`` bytes are held.
    Once something in here fails, that is its ``fault``, and nothing more is recorded; the step goes on.
    ``compiled`` counts the calls of compiled functions that are not seen inside, ``gradient`` is the first
    one that is, and ``settings`` are those of the first Cell's call.
    """

    _capture: StepCapture

    def __init__(self, known: Mapping[str, Any], inputs: Mapping[str, Any], memory: int) -> None:
        self.fault: Exception | None = None
        self.is_full = False
        self.compiled = 0
        self.memory = memory
        self.settings: dict[str, Setting] = {}
        self.gradient: CompiledGradient | None = None
        self._started: CompiledGradient | None = None
        self._capture = StepCapture()
        self._found = FoundCells(self._note_root, self._note_call)
        super().__init__(self._capture, self._found)
        self._bytes = 0
        self._depth = 0
        # By the identity of the function that is differentiated, which its caller holds.
        self._heads: dict[int, list[Any]] = {}
        for prefix, cell in known.items():
            self._found.add(cell, prefix)
        for name, tensor in inputs.items():
            self.capture.add(name, tensor, "input")

    # The block

    def start(self, outermost: Any) -> None:
        """Begin to record; ``outermost`` is the frame whose lines are the last ones of interest."""
        if not has("Tensor._grad_node"):
            return
        self._found.outermost = outermost
        COMPILED_CALLS.recorder = self
        self._watches.enter_context(WatchedExecutor(self))
        self._watches.enter_context(saved_tensors_hooks(self.pack, self.unpack))
        self.__enter__()

    def stop(self) -> None:
        """End it, and leave nothing behind in MindSpore, whatever fails meanwhile."""
        if self._found.outermost is None:
            return
        COMPILED_CALLS.recorder = None
        self.__exit__(None, None, None)
        self._found.forget()
        if not self.is_off:
            self._guarded(self._settle)()
        self._paused = True

    @property
    def capture(self) -> StepCapture:
        """The graph that grows."""
        return self._capture

    @property
    def is_off(self) -> bool:
        """Whether nothing more is recorded."""
        return self.fault is not None or self.is_full

    def measure_noise(self) -> None:
        """Measure how far values may move by rounding, unless the program is in a forward."""
        if not _pynative_executor.requires_grad():
            capture = self.capture
            noise = StepNoise(
                capture.graph, capture.values(), capture.arguments_of, capture.updates
            )
            noise.measure()

    def layers(self) -> dict[str, Any]:
        """The layers of the program's Cells, by path."""
        return self._found.layers()

    def path_of(self, cell: Any) -> str | None:
        """The path of a Cell; None of one that was not found."""
        return self._found.path_of(cell)

    def _guarded(self, note: Callable[..., Result]) -> Callable[..., Result | None]:
        """A function of this recorder's that never raises, and does nothing once one has failed."""

        def run(*args: Any) -> Result | None:
            if self.is_off or self._paused:
                return None
            try:
                return note(*args)
            except Exception as error:
                self.fault = error
                return None

        return run

    # Operators

    def __ms_dispatch__(
        self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None
    ) -> Any:
        started = self._guarded(self._start)(func, args)
        # Outside of any try: what it raises is the program's.
        result = func(*args, **(kwargs or {}))
        if started is not None:
            self._guarded(self._end)(*started, args, result)
        return result

    def _start(self, func: Any, args: tuple[Any, ...]) -> tuple[Any, CallSite]:
        site = self._found.here()
        return self._begin(func, args), self._shown(site)

    def _end(self, call: Any, site: CallSite, args: tuple[Any, ...], result: Any) -> None:
        self._finish(call, site, args, result)
        self._hold(tensors_in((result,)))

    def _hold(self, tensors: Iterator[Any]) -> None:
        """Count what is held from now on."""
        self._bytes += sum(int(tensor.nbytes) for tensor in tensors)
        self.is_full = self._bytes > self.memory

    def _indexed(self, tensor: Any, part: Any) -> None:
        self._guarded(super()._indexed)(tensor, part)

    def _before_assignment(self, tensor: Any) -> None:
        self._guarded(super()._before_assignment)(tensor)

    def _assigned(self, tensor: Any, value: Any) -> None:
        self._guarded(super()._assigned)(tensor, value)

    # Leaves

    def _note_root(self, found: Found) -> None:
        with self._unwatched():
            self.capture.add_held(found.held)

    def _note_call(self, arguments: dict[str, Any]) -> None:
        """Note what an outermost Cell is called with."""
        self.settings = self.settings or settings_now()
        self._settle()  # or what operators have made would count as given
        with self._unwatched():
            for name, tensor in arguments.items():
                self.capture.add(name, tensor, "input")

    # The watched executor

    def forward_ends(self, function: Any, outputs: Any) -> None:
        """A function that will be differentiated has returned ``outputs``: its tape can be hooked."""
        self._guarded(self._note_forward)(function, outputs)

    def _note_forward(self, function: Any, outputs: Any) -> None:
        self._settle()
        tensors = list(tensors_in((outputs,)))
        self._heads[id(function)] = tensors
        with self._unwatched():
            self.capture.leave(tensors)
            self._hook([tensor for tensor in tensors if node_of(tensor) is not None])

    def pass_begins(self, function: Any, is_aux: bool) -> None:
        """The gradient of a function begins to be computed."""
        self._guarded(self._note_pass)(function, is_aux)

    def _note_pass(self, function: Any, is_aux: bool) -> None:
        self._settle()
        heads = self._heads.pop(id(function), [])
        if not self._depth:
            with self._unwatched():
                for head in heads[:1] if is_aux else heads:
                    if node_of(head) is not None:
                        self.capture.add_loss(head)
        self._depth += 1
        self.capture.phase = "backward"

    def pass_ends(
        self, operation: Any, weights: Any, position: Any, args: Any, result: Any
    ) -> None:
        """A gradient was computed, or raised where there is no result."""
        self._guarded(self._note_pass_end)(operation, weights, position, args, result)

    def _note_pass_end(
        self, operation: Any, weights: Any, position: Any, args: Any, result: Any
    ) -> None:
        self._settle()
        self._depth = max(self._depth - 1, 0)
        self.capture.phase = "backward" if self._depth else "forward"
        leaves = leaves_of(operation, weights, position, args)
        with self._unwatched():
            for leaf, gradient in pairs(leaves, result):
                name = self.capture.name_of(leaf)
                if name is not None:
                    self.capture.add_gradient(name, gradient)

    # Compiled programs

    def gradient_starts(self, call: CompiledCall, path: Path) -> None:
        """A compiled gradient is called; its program is in the file ``path``."""
        self._guarded(self._note_gradient)(call, path)

    def _note_gradient(self, call: CompiledCall, path: Path) -> None:
        if self._started is not None:
            self.compiled += 1
            return
        self.settings = self.settings or settings_now()
        cells = cells_of(call.function)
        optimizers = [cell for cell in cells if is_optimizer(cell)]
        for cell in cells:
            if cell not in optimizers and self._found.path_of(cell) is None:
                self._found.add(cell)
        with self._unwatched():
            gradient = CompiledGradient(call, path, self.capture)
            gradient.note_leaves(optimizers)
        self._started = gradient

    def gradient_ends(self, result: Any) -> None:
        """It has returned ``result``."""
        self._guarded(self._note_gradient_end)(result)

    def _note_gradient_end(self, result: Any) -> None:
        if self._started is not None and self.gradient is None:
            with self._unwatched():
                self._started.end(result)
            self.gradient = self._started

    def compiled_starts_beside(self, call: CompiledCall) -> None:
        """A compiled program without a gradient is called."""
        self._guarded(self._note_beside)(call)

    def _note_beside(self, call: CompiledCall) -> None:
        if self.gradient is not None and is_optimizer(call.function):
            self.compiled += 1
            with self._unwatched():
                self.gradient.note_update(call.function, self._shown(self._found.here()))

    def compiled_starts(self, args: tuple[Any, ...]) -> Compiled | None:
        """A compiled function is called."""
        return self._guarded(self._note_compiled)(args)

    def _note_compiled(self, args: tuple[Any, ...]) -> Compiled:
        self.compiled += 1
        site = self._found.here()
        optimizer = running_optimizer()
        written: list[Any] = []
        self._settle()
        with self._unwatched():
            if optimizer is not None:
                held = state_of(optimizer, self.capture.name_of)
                for name, tensor in held.items():
                    self.capture.add(name, tensor, "optimizer")
                written = [*optimizer.parameters, *held.values()]
            # It may write to any of them.
            self.capture.graph.keep_values([it.tensor for it in self.capture.known.values()])
        read = list(map(on_tape, [*tensors_in(args), *written]))
        return Compiled(compiled_function(), read, written, site)

    def compiled_ends(self, started: Compiled | None, result: Any) -> None:
        """A compiled function has returned ``result``."""
        if started is not None:
            self._guarded(self._note_compiled_end)(started, result)

    def _note_compiled_end(self, started: Compiled, result: Any) -> None:
        name, operands, written, site = started
        outputs = list(tensors_in((result,)))
        with self._unwatched():
            self.capture.compiled_ran(name, operands, outputs, written, self._shown(site))
        self._alive.append((operands, result))
        self._hold(iter([*outputs, *written]))
