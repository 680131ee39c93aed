"""How long a stored answer takes against one that is asked, from the shell.

The store is one of its own, and empty at first.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

from benchmarks._figures import Figure
from benchmarks._presenting import parser, present
from explorer.folders import STORE

COMMANDS = {
    "scenario dense_mse": ("scenario", "dense_mse"),
    "scenario dense_mse --json": ("scenario", "dense_mse", "--json"),
    "study devices": ("study", "devices"),
    "claims": ("claims",),
}
"""The commands that are timed; the first of the two on one scenario asks for both."""

ASKED_LIMITS = {"scenario dense_mse": 8.0, "claims": 40.0}
"""Seconds that an answer may take that is not stored, on two cores that do nothing else."""

ASKED_ROUNDS = 3
"""So often those are asked, each time of an empty store: what one round takes says little."""

ROUNDS = 5
LIMIT = 0.6
"""Seconds that a stored answer may take."""


def seconds(arguments: tuple[str, ...], folder: str) -> float:
    """The time of one command with a store in ``folder``."""
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "explorer", *arguments],
        check=True,
        capture_output=True,
        env={**os.environ, STORE: folder},
    )
    return time.perf_counter() - start


def of_empty_store(arguments: tuple[str, ...]) -> float:
    """The time of one command with a store that is empty."""
    with tempfile.TemporaryDirectory() as folder:
        return seconds(arguments, folder)


def measure() -> Iterator[Figure]:
    """Three figures a command: asked, stored, and how often the one takes the other."""
    with tempfile.TemporaryDirectory() as folder:
        for name, arguments in COMMANDS.items():
            bar = ASKED_LIMITS.get(name)
            again = ASKED_ROUNDS - 1 if bar else 0
            earlier = [of_empty_store(arguments) for _ in range(again)]
            asked = seconds(arguments, folder)
            stored = tuple(seconds(arguments, folder) for _ in range(ROUNDS))
            yield Figure(
                name=f"{name}: asked", unit="s", basis="wall", rounds=(*earlier, asked), bar=bar
            )
            yield Figure(name=f"{name}: stored", unit="s", basis="wall", rounds=stored, bar=LIMIT)
            yield Figure(
                name=f"{name}: asked ÷ stored",
                unit="×",
                basis="ratio of wall times",
                rounds=tuple(asked / one for one in stored),
                wanted="high",
            )


if __name__ == "__main__":
    sys.exit(present(measure(), parser(__doc__).parse_args().figures))
