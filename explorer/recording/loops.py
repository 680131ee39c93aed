"""``recorder``: the steps of a program's loop, of which some are recorded as traces, or all as a training."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from explorer.model.trace import fault
from explorer.recording.blocks import Function, in_block, record, warn_of
from explorer.recording.trainings import MEMORY, Due, TrainingSteps
from explorer.text.language import _


def recorder(
    *,
    every: int = 0,
    first: int | None = None,
    out: str | Path = "traces",
    training: bool = False,
    **options: Any,
) -> "Steps | TrainingSteps":
    """Records some steps of a loop: the ``first`` ones, by default one, and then each ``every``-th.

    Each trace is a file in the folder ``out``, which is made. ``options`` are those of record(). As a
    decorator of a function, each of its calls is a step.

    With ``training`` every step is recorded: its data, losses, gradients, settings of the optimizer,
    weights and state; the ``first`` ones, by default none, and each ``every``-th with their graphs. All
    are in one file, ``out`` or "run.training" in that folder. Options are then ``model``, as of record(),
    ``average``, a module with averages of the weights, and ``memory``: once the steps need that many
    bytes, 256 MB by default, a few elements of each tensor are left of ever more of them.
    """
    place = Path(out).absolute()  # a program may change its folder before it ends
    if training:
        memory = options.pop("memory", MEMORY)
        return TrainingSteps(place, options, Due(every, first or 0), memory)
    return Steps(Due(every, 1 if first is None else first), place, options)


class Steps:
    """The steps of a loop, of which some are recorded; ``number`` is that of the last one."""

    def __init__(self, due: Due, out: Path, options: Mapping[str, Any]) -> None:
        self.number = 0
        self._due = due
        self._out = out
        self._options = options

    def __call__(self, function: Function) -> Function:
        """The function, each call of which is a step."""
        return in_block(function, self.step)

    def step(self) -> AbstractContextManager[Any]:
        """The block of the next step, which does nothing unless the step is to be recorded."""
        self.number += 1
        if not self._due.has(self.number):
            return nullcontext()
        try:
            self._out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            warn_of(_("no trace is written to {file}: {reason}"), self._out, fault(error))
            return nullcontext()
        path = self._out / f"step-{self.number:06d}.trace"
        return record(path, step=self.number, **self._options)
