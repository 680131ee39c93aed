"""The block around each step of a training, and the file that grows with the steps."""

import atexit
import importlib
import os
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import msgspec

from explorer.model.engines import Framework
from explorer.model.failures import Failure
from explorer.model.trace import Missing, fault
from explorer.model.training import Training
from explorer.recording.blocks import (
    Function,
    Limits,
    Recording,
    framework_in_use,
    in_block,
    of_rank,
    warn_of,
)
from explorer.recording.files import TRAINING, append_step, write_training
from explorer.recording.kept_steps import KeptSteps
from explorer.text.language import _

RECORDERS: dict[Framework, str] = {
    "torch": "explorer.engines.torch.training_recorder:TrainingInTorch",
    "mindspore": "explorer.engines.mindspore.training_recorder:TrainingInMindSpore",
    "jax": "explorer.engines.jax.training_recorder:TrainingInJax",
}
"""What records the steps of a training in each framework: "module:class"."""

NAME = f"run{TRAINING.ending}"
"""What the file is called where a folder is given in its place."""

MEMORY = 1 << 28
"""In so many bytes steps are held, and written, by default."""

SHARE = 20
"""The file is written again once this many times as long has passed as it took to write it last."""


class Due(NamedTuple):
    """The steps whose graphs are recorded: the ``first`` ones, and each ``every``-th."""

    every: int
    first: int

    def has(self, number: int) -> bool:
        """Whether the step of a number is one of them."""
        return number <= self.first or (self.every > 0 and number % self.every == 0)


class TrainingSteps:
    """The steps of a training, each recorded in the block of step(), and their file.

    ``number`` is that of the last step. Each step is added to the file when it ends. The whole file is
    written now and then, by write(), and when the program ends: it always holds whole steps.
    """

    def __init__(
        self, out: Path, options: Mapping[str, Any], due: Due, memory: int = MEMORY
    ) -> None:
        self.number = 0
        self.path = out if out.suffix == TRAINING.ending else out / NAME
        self._options = options
        self._due = due
        self._graph: Recording | None = None
        self._memory = memory
        self._recording: Any = None
        self._steps = KeptSteps(memory)
        self._added: list[bytes] = []
        self._missing: list[Missing] = []
        self._is_over = False
        self._has_news = False
        self._is_written = False
        self._next_write = 0.0
        self._process = os.getpid()
        atexit.register(self.write)

    def __call__(self, function: Function) -> Function:
        """The function, each call of which is a step."""
        return in_block(function, self.step)

    def step(self) -> "TrainingSteps":
        """The block of the next step."""
        self.number += 1
        return self

    def __enter__(self) -> "TrainingSteps":
        try:
            if self._recording is None and not self._is_over:
                self._recording = self._made()
            if not self._is_over:
                self._recording.begin()
                if self._due.has(self.number):
                    model = self._options.get("model")
                    self._graph = Recording(self.path, model, None, Limits(), self.number)
                    self._graph.begin(sys._getframe(1))
        except Exception as error:
            self._give_up(fault(error))
            self._leave()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            self._end(error)
        except Exception as problem:
            self._give_up(fault(problem))
            self._leave()
        if error is not None or time.monotonic() >= self._next_write:
            self.write()
        elif self._added:
            self._append(*self._added)
        self._added.clear()

    def write(self) -> None:
        """Write the steps so far, unless they are written."""
        # A process that was forked from this one ends too.
        if not self._has_news or os.getpid() != self._process:
            return
        self._has_news = False
        began = time.monotonic()
        path = self.path
        try:
            path = of_rank(path)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_training(path, self.training())
            self._is_written = True
        except Exception as problem:
            self._is_written = False
            warn_of(_("no training is written to {file}: {reason}"), path, fault(problem))
        ended = time.monotonic()
        self._next_write = ended + SHARE * (ended - began)

    def _append(self, *steps: bytes) -> None:
        """Add steps to the file that was written last, or write it anew where that cannot be."""
        if os.getpid() != self._process:
            return
        try:
            if self._is_written:
                for step in steps:
                    append_step(of_rank(self.path), step)
        except OSError:
            self._is_written = False
        if not self._is_written:
            self.write()

    def training(self) -> Training:
        """The record of the steps so far, in which each step is encoded already."""
        recording = self._recording
        facts: dict[str, Any] = {
            "framework": framework_in_use(self._options.get("model")) or "torch"
        }
        if recording is not None:
            for name in ("framework", "optimizer", "versions", "device", "start"):
                facts[name] = getattr(recording, name)
        facts["engine"] = f"{facts['framework']}-tape"
        missing = dict.fromkeys(recording.missing if recording is not None else ())
        missing.update(dict.fromkeys(self._missing))
        steps: Any = tuple(self._steps)
        return Training(name=self.path.stem, steps=steps, missing=tuple(missing), **facts)

    def _made(self) -> Any:
        framework = framework_in_use(self._options.get("model"))
        if framework is None:
            self._give_up(Missing("not_recorded"))
            return None
        module, _colon, name = RECORDERS[framework].partition(":")
        return getattr(importlib.import_module(module), name)(**self._options)

    def _end(self, raised: BaseException | None) -> None:
        if self._is_over:
            return
        graph, self._graph = self._graph, None
        trace = graph.ended(raised) if graph is not None else None
        step = self._recording.end(self.number)
        if raised is not None:
            self._missing.append(
                Missing("raised", error=Failure(type(raised).__name__, str(raised)))
            )
        elif step is not None:
            if trace is not None:
                step = msgspec.structs.replace(step, graph=trace.graph)
                self._missing += (
                    missing for missing in trace.missing if missing not in self._missing
                )
            was_full = self._steps.is_full
            content, is_anew = self._steps.add(step)
            self._added.append(content)
            if is_anew:
                self._next_write = 0.0  # the file is to be no longer than what is held
            if self._steps.is_full and not was_full:
                self._missing.append(Missing("full", str(self._memory >> 20)))
        self._has_news = True
        if self._recording.fault is not None:
            self._give_up(fault(self._recording.fault))

    def _leave(self) -> None:
        """Leave nothing in the framework where the block could not be entered, or left, as a whole."""
        graph, self._graph = self._graph, None
        with suppress(Exception):
            if graph is not None:
                graph.ended(None)
            if self._recording is not None:
                self._recording.end(self.number)

    def _give_up(self, missing: Missing) -> None:
        """Record nothing more, and warn of it once."""
        self._is_over = True
        self._missing.append(missing)
        self._has_news = True
        warn_of(_("{file}: steps are not recorded from here on: {reason}"), self.path, missing)
