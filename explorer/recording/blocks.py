"""``record``: a block around a step of a program, which writes a trace of it."""

import functools
import importlib
import sys
import warnings
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, TypeVar, cast

import msgspec

from explorer.model.arrays import SMALL
from explorer.model.engines import PACKAGES, Framework
from explorer.model.trace import Missing, Trace, fault
from explorer.recording.files import write_trace
from explorer.text.language import _
from explorer.workers.garbage_collection import paused

Function = TypeVar("Function", bound=Callable[..., Any])

STEPS: dict[Framework, str] = {
    "torch": "explorer.engines.torch.step_trace:StepInTorch",
    "mindspore": "explorer.engines.mindspore.step_trace:StepInMindSpore",
    "jax": "explorer.engines.jax.step_trace:StepInJax",
}
"""What records a step of each framework: "module:class"."""

START = 1 << 22
"""So many elements of the tensors that a step starts from are kept by default."""


def in_block(function: Function, block: Callable[[], AbstractContextManager[Any]]) -> Function:
    """The function, each call of which runs in a block of its own."""

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        with block():
            return function(*args, **kwargs)

    return cast(Function, called)


class RecordingWarning(UserWarning):
    """A step could not be recorded, or not whole; the program goes on as without a recorder."""


class Limits(msgspec.Struct, frozen=True):
    """What is kept of a step, as record() describes it."""

    values: int = SMALL
    start: int = START
    memory: int | None = None


def record(
    path: str | Path,
    *,
    model: Any = None,
    inputs: Mapping[str, Any] | None = None,
    values: int = SMALL,
    start: int = START,
    memory: int | None = None,
    step: int | None = None,
) -> "Recording":
    """A block that records the step of a program that runs in it, and writes a trace of it to a file.

    The step is forward and backward, once or several times, with all that belongs to it. It computes
    what it computes without the block, and nothing in here raises: what cannot be recorded is said in
    a RecordingWarning and in the trace. ``model`` is the module or Cell, or a dict of them, by whose
    names parameters go; without it they are found as they run. A program that has imported several frameworks
    names the ``model`` or the ``inputs`` of the one that it records. ``inputs`` are tensors by name,
    beside those that modules are called with. Values of up to ``values`` elements are
    kept whole, and of the tensors that the step starts from, ``start`` elements in all.
    ``memory`` limits what is held until the block ends, in bytes: half of what is free by default.
    In a process of a distributed job, the file's name gets the rank. As a decorator of a function it
    records its first call.
    """
    limits = Limits(values, start, memory)
    return Recording(Path(path), model, inputs, limits, step)


class Recording:
    """The block of one recorded step: a context manager, and a decorator of a function that takes one.

    ``framework`` is that of the step, where it is known before the block begins.
    """

    def __init__(
        self,
        path: Path,
        model: Any,
        inputs: Mapping[str, Any] | None,
        limits: Limits,
        step: int | None,
    ) -> None:
        self.path = path
        self.framework: Framework | None = None
        self._model = model
        self._inputs = inputs
        self._limits = limits
        self._step = step
        self._running: Any = None
        self._missing: Missing | None = None
        self._is_used = False
        # What is recorded is kept till the end: looking for garbage in it takes half of the time.
        self._pause = ExitStack()

    def __enter__(self) -> "Recording":
        return self.begin(sys._getframe(1))

    def __call__(self, function: Function) -> Function:
        """The function, of which the first call is recorded."""
        return in_block(function, lambda: nullcontext() if self._is_used else self)

    def begin(self, outermost: FrameType) -> "Recording":
        """Begin to record; ``outermost`` is the frame whose lines are the last ones of interest."""
        self._is_used = True
        try:
            self._pause.enter_context(paused())
            self.path = of_rank(self.path)
            self._begin(outermost)
        except Exception as error:
            self._missing = fault(error)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            with self._pause:
                faults = self._written(error)
        except Exception as problem:
            warn_of(_("no trace is written to {file}: {reason}"), self.path, fault(problem))
            return
        for missing in faults:
            warn_of(_("{file}: the step is not recorded whole: {reason}"), self.path, missing)

    def _written(self, raised: BaseException | None) -> list[Missing]:
        """Write the trace, and let it go, that nothing is left to be looked through for garbage.

        What of it the program is to be warned of is returned.
        """
        trace = self._ended(raised)
        write_trace(self.path, trace)
        return [missing for missing in trace.missing if missing.kind in FAULTS]

    def _begin(self, outermost: FrameType) -> None:
        framework = self.framework = self.framework or framework_in_use(self._model, self._inputs)
        if framework is None:
            self._missing = Missing("not_recorded")
            return
        if _running:
            self._missing = Missing("inside_another")
            return
        module, _colon, name = STEPS[framework].partition(":")
        kept = msgspec.structs.asdict(self._limits)
        step = getattr(importlib.import_module(module), name)(self._model, self._inputs, **kept)
        _running.append(step)
        try:
            step.start(outermost)
        except Exception:
            _running.clear()
            step.stop()
            raise
        self._running = step

    def ended(self, raised: BaseException | None) -> Trace:
        """The trace of what ran since begin(), which is not written."""
        with self._pause:
            return self._ended(raised)

    def _ended(self, raised: BaseException | None) -> Trace:
        """The trace of the block; one without a graph where there is no other."""
        name = self.path.stem
        running, self._running = self._running, None
        if running is not None:
            _running.clear()
            try:
                running.stop()
                trace: Trace = running.trace(name, self._step, raised)
                return trace
            except Exception as error:
                self._missing = fault(error)
        missing = (self._missing,) if self._missing else ()
        framework = self.framework or "torch"
        return Trace(name=name, framework=framework, step=self._step, missing=missing)


FAULTS = frozenset(
    {
        "fault",
        "not_recorded",
        "inside_another",
        "older_version",
        "other_version",
        "graph_mode",
        "no_pass",
    }
)
"""What of a trace's ``missing`` a program is warned of: the rest is the program's own doing."""

_running: list[Any] = []
"""The step that is being recorded in this process, if there is one."""


def of_rank(path: Path) -> Path:
    """The path with the rank of this process in it, where it is one of several of a job."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available():
        return path
    if not distributed.is_initialized() or distributed.get_world_size() == 1:
        return path
    return path.with_suffix(f".rank{distributed.get_rank()}{path.suffix}")


def framework_in_use(
    model: Any = None, inputs: Mapping[str, Any] | None = None
) -> Framework | None:
    """The framework of the step: that of the model or the inputs, or else one that is imported."""
    models = model.values() if isinstance(model, Mapping) else (model,)
    for given in (*models, *(inputs or {}).values()):
        packages = {kind.__module__.partition(".")[0] for kind in type(given).__mro__}
        for framework in STEPS:
            if not packages.isdisjoint(PACKAGES[framework]):
                return framework
    return next((framework for framework in STEPS if framework in sys.modules), None)


def warn_of(text: str, path: Path, missing: Missing) -> None:
    """Warn of what is not recorded, for a ``text`` with the places ``file`` and ``reason``."""
    warn(text.format(file=path, reason=_reason(missing)))


def warn(text: str) -> None:
    """Warn the program of something that is not recorded."""
    # Where warnings are errors it would be one of the program's.
    with suppress(RecordingWarning):
        warnings.warn(text, RecordingWarning, stacklevel=4)


def _reason(missing: Missing) -> str:
    if missing.kind == "inside_another":
        return _("the block is inside another block that records")
    if missing.error is not None:
        return f"{missing.error.type}: {missing.error.message}"
    if missing.kind == "graph_mode":
        return _("what GRAPH_MODE compiles is seen in programs that `explorer run` starts")
    if missing.kind == "no_pass":
        return _(
            "no gradient was seen: none was computed, or inside of a loop, or of many examples at once"
        )
    if missing.kind == "other_version":
        return _("steps of this version are not recorded, but those of {version}").format(
            version=missing.detail
        )
    if missing.detail:
        return _("it needs MindSpore {version} or newer").format(version=missing.detail)
    return _("no framework whose steps can be recorded was imported")
