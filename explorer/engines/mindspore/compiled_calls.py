"""Calls of compiled programs, seen with the file into which the compiler wrote the program."""

import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from mindspore.common.api import _cell_graph_executor, _pynative_executor

from explorer.engines.mindspore.found_cells import running_jit
from explorer.model.passes import FINAL
from explorer.workers.environments import GRAPHS_FOLDER

GRADIENT = re.compile(r"\(Gradients/")
"""How the scopes of backward nodes begin (2.10.0)."""

UPDATE = re.compile(r"mindspore/(\w+/)?optim/")
"""The files of MindSpore's optimizers, which the lines of what they compute name (2.7 to 2.10)."""


class CompiledProgram(NamedTuple):
    """What the compiler made of a Cell or a function: the file behind its last pass, and what is in it."""

    path: Path
    has_gradient: bool
    has_update: bool


class CompiledCall(NamedTuple):
    """A call of a compiled program: the Cell or the function that was compiled, and its arguments.

    ``phase`` is MindSpore's name of the program, which its ``executor`` runs.
    """

    function: Any
    args: tuple[Any, ...]
    executor: Any
    phase: str


class Recorder(Protocol):
    """What is called around the calls of compiled gradients; none of these raises."""

    def gradient_starts(self, call: CompiledCall, path: Path) -> None:
        """A gradient is called whose program is in the file ``path``."""

    def gradient_ends(self, result: Any) -> None:
        """It has returned ``result``."""

    def compiled_starts_beside(self, call: CompiledCall) -> None:
        """A compiled program without a gradient is called."""


class CompiledCalls:
    """Watches the calls of compiled programs in a process whose compiler writes them to files.

    ``recorder`` is called around gradients while a step is recorded.
    """

    def __init__(self) -> None:
        self.recorder: Recorder | None = None
        self._programs: dict[str, CompiledProgram | None] = {}

    def watch(self, begins: Callable[[], None], ends: Callable[[], None]) -> None:
        """Call ``begins`` before each gradient, and ``ends`` behind each that updates parameters too."""
        if GRAPHS_FOLDER in os.environ:
            self._begins, self._ends = begins, ends
            _pynative_executor.grad_jit = self._of_function(_pynative_executor.grad_jit)
            _cell_graph_executor.run = self._of_cell(_cell_graph_executor.run)

    def leave(self) -> None:
        """Watch nothing more."""
        vars(_pynative_executor).pop("grad_jit", None)
        vars(_cell_graph_executor).pop("run", None)

    def _of_function(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def grad_jit(*args: Any) -> Any:
            return self._run(lambda: _call_of_function(args), lambda: original(*args))

        return grad_jit

    def _of_cell(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def run(cell: Any, *args: Any, phase: str = "predict") -> Any:
            return self._run(
                lambda: _call_of_cell(cell, args, phase), lambda: original(cell, *args, phase=phase)
            )

        return run

    def _run(self, make_call: Callable[[], CompiledCall | None], compute: Callable[[], Any]) -> Any:
        call, program = self._looked_up(make_call)
        if call is None:
            return compute()
        if program is None or not program.has_gradient:
            if self.recorder is not None:
                self.recorder.compiled_starts_beside(call)
            return compute()
        self._begins()
        if self.recorder is not None:
            self.recorder.gradient_starts(call, program.path)
        result = compute()
        if self.recorder is not None:
            self.recorder.gradient_ends(result)
        if program.has_update:
            self._ends()
        return result

    def _looked_up(
        self, make_call: Callable[[], CompiledCall | None]
    ) -> tuple[CompiledCall | None, CompiledProgram | None]:
        """A call with its program; None for what is not found, in a version with other names too."""
        call = program = None
        # The program of the user's own is called in any case.
        with suppress(Exception):
            call = make_call()
            program = self._program(call.phase) if call is not None else None
        return call, program

    def _program(self, phase: str) -> CompiledProgram | None:
        """The program of a phase, which was compiled just before it first ran."""
        if phase not in self._programs:
            path = newest(Path(os.environ[GRAPHS_FOLDER]), FINAL.file)
            known = [program.path for program in self._programs.values() if program]
            self._programs[phase] = None
            if path is not None and path not in known:
                text = path.read_text(encoding="utf-8", errors="replace")
                found = [pattern.search(text) is not None for pattern in (GRADIENT, UPDATE)]
                self._programs[phase] = CompiledProgram(path, *found)
        return self._programs[phase]


def _call_of_function(args: tuple[Any, ...]) -> CompiledCall | None:
    """The call of the function of ``ms.jit`` that runs; None where none does."""
    frame = running_jit()
    if frame is None:
        return None
    jit, phase = frame.f_locals["self"], frame.f_locals["phase"]
    function = jit.fn if jit.obj is None else jit.obj
    return CompiledCall(function, args, jit._graph_executor, phase)


def _call_of_cell(cell: Any, args: tuple[Any, ...], phase: str) -> CompiledCall:
    name = f"{phase}.{cell.create_time}.{id(cell)}.{cell.arguments_key}"
    return CompiledCall(cell, args, _cell_graph_executor._graph_executor, name)


COMPILED_CALLS = CompiledCalls()
"""Those of this process."""


def newest(folder: Path, stem: str) -> Path | None:
    """The last file that a pass wrote: their numbers go up through the life of the process."""
    paths = folder.rglob(f"*{stem}_[0-9]*.ir")
    return max(paths, key=lambda path: int(path.stem.rpartition("_")[2]), default=None)
