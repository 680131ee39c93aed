"""A program that runs as it is, while some of its steps are recorded: what ``explorer run`` starts.

``python -m explorer.recording.scripts FILE FIRST EVERY SCRIPT ARGUMENTS…``. A step begins with its
forward and ends with an optimizer's update; one that is never followed by an update ends with the program.
"""

import atexit
import importlib
import importlib.util
import runpy
import sys
from functools import partial
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from explorer.model.engines import Framework
from explorer.model.trace import fault
from explorer.recording.blocks import Recording, record, warn, warn_of
from explorer.text.language import _

STARTS: dict[Framework, str] = {
    "torch": "explorer.engines.torch.step_starts",
    "mindspore": "explorer.engines.mindspore.step_starts",
    "jax": "explorer.engines.jax.step_starts",
}
"""The module of each framework whose StepStarts says where steps begin and end."""

NAME = "__main__"
"""The name of the module as which a program runs."""


class RecordedScript:
    """The steps of a program: the ``first`` ones are recorded, and from then on each ``every``-th.

    A single one is written to ``path``, several beside it with their numbers.
    """

    def __init__(self, path: Path, first: int, every: int) -> None:
        self._path = path
        self._first = first
        self._every = every
        self._number = 1
        self._recording: Recording | None = None
        self._starts: list[Any] = []
        self._recorded = False
        self._files: dict[Path, int] = {}

    def run(self, script: Path, arguments: list[str]) -> None:
        """Run the program; what it raises is raised."""
        sys.meta_path.insert(0, AfterImport(self))
        atexit.register(self._exit)
        sys.argv = [str(script), *arguments]
        sys.path[0] = str(script.resolve().parent)
        runpy.run_path(str(script), run_name=NAME)

    def imported(self, framework: Framework) -> None:
        """A framework was imported: its steps are waited for."""
        begin = partial(self._begin, framework)
        try:
            starts = importlib.import_module(STARTS[framework]).StepStarts(begin, self._end)
            starts.watch()
        except Exception as error:  # the program goes on, as it would without
            self._recorded = True
            warn_of(_("{file}: no step is recorded: {reason}"), self._path, fault(error))
        else:
            self._starts.append(starts)

    def _begin(self, framework: Framework) -> None:
        if self._recording is None and self._is_due():
            self._recorded = True
            self._recording = record(self._file(), step=self._number)
            self._files[self._file()] = self._number
            self._recording.framework = framework
            self._recording.begin(_outermost())

    def _end(self) -> None:
        self._finish()
        self._number += 1
        if not self._every and self._number > self._first:
            for starts in self._starts:
                starts.leave()

    def _finish(self) -> None:
        if self._recording is not None:
            self._recording.__exit__(None, None, None)
            self._recording = None

    def _exit(self) -> None:
        self._finish()
        if not self._recorded:
            warn(_("no step was recorded: the program computed no gradient"))
        self._say_what_is_there()

    def _say_what_is_there(self) -> None:
        """Say on stderr, which is none of the program's answer, which step is in which file."""
        there = {path: number for path, number in self._files.items() if path.is_file()}
        if not there:
            return
        first, last = (list(there)[place] for place in (0, -1))
        size = f"{sum(path.stat().st_size for path in there) / 1e6:.3g}"
        text = _("explorer: step {first} is recorded in {file} ({size} MB)")
        if len(there) > 1:
            text = _(
                "explorer: {n} steps, {first} to {last}, are recorded in {file} to {end} ({size} MB)"
            )
        said = {"n": len(there), "first": there[first], "last": there[last], "size": size}
        print(text.format(file=first, end=last.name, **said), file=sys.stderr)

    def _is_due(self) -> bool:
        is_nth = self._every > 0 and self._number % self._every == 0
        return is_nth or self._number <= self._first

    def _file(self) -> Path:
        if self._first == 1 and not self._every:
            return self._path
        return self._path.with_name(f"{self._path.stem}-{self._number:06d}{self._path.suffix}")


class AfterImport:
    """Finds the frameworks as Python does, and notes when one has been imported."""

    def __init__(self, script: RecordedScript) -> None:
        self._script = script
        self._seen: set[str] = set()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The spec of a framework, whose loader tells when it has run; None of anything else."""
        framework = next((known for known in STARTS if known == name), None)
        if framework is None or framework in self._seen:
            return None
        self._seen.add(framework)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                execute(module)
                self._script.imported(framework)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]  # of this loader alone
        return spec


def _outermost() -> FrameType:
    """The frame of the program itself; the first one of this thread where another module runs it."""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        is_program = frame.f_globals.get("__name__") == NAME
        if is_program and frame.f_code.co_name == "<module>":
            break
        frame = frame.f_back
    return frame


def main(arguments: list[str]) -> None:
    """Run a program; the arguments are those of this module."""
    path, first, every, script, *rest = arguments
    RecordedScript(Path(path), int(first), int(every)).run(Path(script), rest)


if __name__ == "__main__":
    main(sys.argv[1:])
