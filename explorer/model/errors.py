"""The one tree of errors that the explorer raises on purpose.

Every message says what was given, what is allowed, and what to do.
"""

import re

OWN_FRAME = re.compile(r'File "[^"]*/(explorer/[^"]+\.py)", line (\d+)')
"""A frame of a traceback that is in the explorer's own code."""


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


class WorkerStartError(ExplorerError):
    """A worker process that cannot be started, for lack of disk space, memory or processes."""

    exit_code = 3


class WorkerFaultError(RuntimeError):
    """An internal error of the explorer in a worker; carries the worker's traceback."""

    @property
    def line(self) -> str:
        """The error in one line: the last line of the traceback, and the place in the explorer."""
        text = str(self).strip()
        line = f"internal error of the explorer in a worker: {text.rpartition(chr(10))[2]}"
        places = OWN_FRAME.findall(text)
        if not places:
            return line
        file, number = places[-1]
        return f"{line} ({file}:{number})"
