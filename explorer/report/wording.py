"""Words that all things shown share."""

from collections.abc import Mapping

from explorer.model.errors import WorkerFaultError

NOTHING = "—"
"""The text of an empty cell."""


def versions_text(versions: Mapping[str, str]) -> str:
    """Packages with their versions: "mindspore 2.10.0, torch 2.13.0"."""
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def fault_text(error: WorkerFaultError) -> str:
    """A fault of the explorer itself in one line, the last one of its traceback."""
    last_line = str(error).strip().rpartition("\n")[2]
    return f"a fault of the explorer itself, in a worker: {last_line}"
