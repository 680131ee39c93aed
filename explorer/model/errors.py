"""The one tree of errors that the explorer raises on purpose.

Every message says what was given, what is allowed, and what to do.
"""

import re
from typing import ClassVar

from explorer.model.failures import Failure, FailureKind, Loss
from explorer.shipped import PACKAGE

OWN_FRAME = re.compile(rf'File "{re.escape(str(PACKAGE.parent))}/(explorer/[^"]+\.py)", line (\d+)')
"""A frame of a traceback that is in the explorer's own code, which a checkout called "explorer" is not."""


class ExplorerError(Exception):
    """Base of all errors meant for a person; printed as one message, never as a traceback.

    ``values`` fill the places in braces of a text, which comes from the catalogue.
    """

    def __init__(self, text: str = "", **values: object) -> None:
        super().__init__(text.format(**values) if values else text)

    # What Click exits with for wrong usage: to a script both are the same.
    exit_code = 2


class UsageError(ExplorerError):
    """A request that cannot be met as given: a name, a file, a device, a folder."""


class RecordedError(Exception):
    """An error that is recorded as a fact: ``failure``, whose words are in text/failures."""

    recorded_as: ClassVar[str]
    """The type of the failure."""

    def __init__(self, kind: FailureKind, *details: str) -> None:
        super().__init__(" ".join((kind, *details)))
        self.failure = Failure(self.recorded_as, kind=kind, details=details)


class RefusedNetError(RecordedError, UsageError):
    """A net, or a way to ask for its gradients, that a worker refuses."""

    recorded_as = "UsageError"


class UncapturedError(RecordedError, ExplorerError):
    """A result whose graph cannot be captured whole."""

    recorded_as = "ExplorerError"


class OddOutputError(RecordedError, TypeError):
    """A net that returns something other than tensors and numbers."""

    recorded_as = "TypeError"

    def __init__(self, output: object) -> None:
        super().__init__("odd_output", type(output).__name__)


class ScenarioError(UsageError):
    """A scenario module that cannot be found, read, or run as a pair of nets."""


class MissingNetError(ScenarioError):
    """A scenario that defines no net for the framework that is to run it."""


class UnreadScenarioError(ScenarioError):
    """A scenario whose file ended the process that read it, or exceeded its time limit."""

    exit_code = 3


class MissingFrameworkError(ExplorerError):
    """A required framework is not installed, or its worker cannot start."""

    exit_code = 3


class TimeLimitError(ExplorerError):
    """A time limit was reached before a required framework's worker had answered."""

    exit_code = 3


class WorkerStartError(ExplorerError):
    """A worker process that cannot be started, for lack of disk space, memory or processes."""

    exit_code = 3


class WorkerFaultError(RuntimeError):
    """An internal error of the explorer in a worker; carries the worker's traceback."""

    @property
    def loss(self) -> Loss:
        """The last line of the traceback, and the place in the explorer."""
        text = str(self).strip()
        line = text.rpartition("\n")[2]
        places = OWN_FRAME.findall(text)
        if places:
            file, number = places[-1]
            line += f" ({file}:{number})"
        return Loss(kind="fault", output=line)
