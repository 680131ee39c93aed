"""The one tree of errors that the explorer raises on purpose; every message says what was given,
what is allowed, what to do.
"""


class ExplorerError(Exception):
    """Base of all errors meant for a person; printed as one message, never as a traceback."""

    exit_code = 2


class UsageError(ExplorerError):
    """What was asked for cannot be done as given: a name, a file, a device, a folder."""


class ScenarioError(UsageError):
    """A scenario module that cannot be found, read, or run as a pair of nets."""


class MissingFrameworkError(ExplorerError):
    """A framework that the question needs is not installed, or its worker cannot start."""

    exit_code = 3


class WorkerFaultError(RuntimeError):
    """A fault of the explorer itself inside a worker; carries the worker's traceback."""
