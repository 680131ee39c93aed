"""Replies of engines that are kept: what was asked before of the same net is not asked again."""

from pathlib import Path

import msgspec

from explorer.environments.known import environment_for
from explorer.model.engines import WorkerKind, framework_of
from explorer.model.errors import UsageError
from explorer.model.failures import Failure
from explorer.model.mended import MendedRun
from explorer.model.requests import NetRequest
from explorer.model.results import LOST, About, Estimate, OracleResult
from explorer.scenario.one_side import files_of
from explorer.store.code import code_in_worker
from explorer.store.keys import Key, key_in
from explorer.store.store import REPLY, Store
from explorer.workers.workers import Replies, Reply

ENGINES = "explorer.engines."
"""How the targets begin whose replies depend on the request, and on nothing else that changes."""

ONE_DEVICE = ("cpu",)
"""What a framework can use that runs everywhere: of other devices workers say anew which there are."""

OF_ENVIRONMENT = frozenset(
    {
        "ConnectionError",
        "FileNotFoundError",
        "ImportError",
        "MemoryError",
        "ModuleNotFoundError",
        "OSError",
        "OutOfMemoryError",
        "PermissionError",
        "TimeoutError",
    }
)
"""Types of errors that a net need not raise the next time."""

SAID_OF_MEMORY = (
    "out of memory",
    "allocate memory",
    "memory not enough",
    "memory isn't enough",
    "no space left",
)
"""What the frameworks' messages say where memory is short, in errors of general types."""


class KeptReplies(Replies):
    """Replies of engines in a store.

    The key holds the request, the framework's side of the scenario's files, the code that runs in the
    worker, what is installed in its environment, and the class of the machine.
    """

    def __init__(self, store: Store) -> None:
        self.store = store

    def key(self, kind: WorkerKind, target: str, argument: msgspec.Struct) -> Key | None:
        """The key of a reply; None of one that is not kept."""
        framework = framework_of(kind)
        if framework is None or not target.startswith(ENGINES):
            return None
        net = net_of(argument)
        try:
            files = files_of(Path(net.scenario), framework) if net else {}
            environment = environment_for(kind)
            name = f"{Path(net.scenario).stem} {net.engine}" if net else framework
            code = code_in_worker(target, framework)
            return key_in(environment, REPLY, name, target, code, placeless(argument), files)
        except (OSError, UsageError):  # whoever asks the worker says so
            return None

    def known(self, key: Key, reply: type[Reply]) -> Reply | None:
        """The reply that was kept under a key."""
        return self.store.get(key, reply)

    def keep(self, key: Key, reply: object) -> None:
        """Keep a reply, unless another time or another machine might have another one."""
        if _may_differ(reply) or any(map(is_of_environment, _errors(reply))):
            return
        self.store.put(key, reply)


def net_of(argument: msgspec.Struct) -> NetRequest | None:
    """The net that a request is about."""
    inner: object = argument
    while inner is not None and not isinstance(inner, NetRequest):
        inner = getattr(inner, "net", None) or getattr(inner, "request", None)
    return inner


def placeless(argument: msgspec.Struct) -> msgspec.Struct:
    """A request without the place of its scenario: temporary files have another one each time."""
    if isinstance(argument, NetRequest):
        return msgspec.structs.replace(argument, scenario="")
    for name in ("net", "request"):
        inner = getattr(argument, name, None)
        if isinstance(inner, msgspec.Struct):
            return msgspec.structs.replace(argument, **{name: placeless(inner)})
    return argument


def _may_differ(reply: object) -> bool:
    """Whether a reply depends on the devices that are there, or on how busy the machine was."""
    if isinstance(reply, About):
        return reply.devices != ONE_DEVICE
    if isinstance(reply, MendedRun):
        return reply.graph is None  # it does not say why
    if isinstance(reply, OracleResult):
        return any(_lacks_time(estimate) for estimate in reply.estimates)
    return False


def _lacks_time(estimate: Estimate) -> bool:
    return any(obstacle.kind == "time" for obstacle in estimate.obstacles)


def _errors(reply: object) -> list[Failure]:
    """The errors in a reply, and in the answer that comes with a captured graph."""
    found = []
    for part in (reply, getattr(reply, "result", None)):
        error = getattr(part, "error", None)
        if isinstance(error, Failure):
            found.append(error)
    return found


def is_of_environment(error: Failure) -> bool:
    """Whether an error is one of time, memory, files or packages, and not of the net."""
    if error.loss or error.kind == "no_memory" or error.type in (*LOST, *OF_ENVIRONMENT):
        return True
    said = error.message.lower()
    return any(words in said for words in SAID_OF_MEMORY)
