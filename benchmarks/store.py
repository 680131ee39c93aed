"""How long a stored answer takes against one that is asked, from the shell.

The store is one of its own, and empty at first.
"""

import os
import subprocess
import sys
import tempfile
import time

from explorer.store.store import FOLDER

COMMANDS = {
    "scenario dense_mse": ("scenario", "dense_mse"),
    "scenario dense_mse --json": ("scenario", "dense_mse", "--json"),
    "study devices": ("study", "devices"),
    "claims": ("claims",),
}
"""The commands that are timed; the first of the two on one scenario asks for both."""

ROUNDS = 5
LIMIT = 0.6
"""Seconds above which a stored answer misses its limit."""


def seconds(arguments: tuple[str, ...], folder: str) -> float:
    """The time of one command with a store in ``folder``."""
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "explorer", *arguments],
        check=True,
        capture_output=True,
        env={**os.environ, FOLDER: folder},
    )
    return time.perf_counter() - start


def main() -> None:
    """Print both times of each command and their ratio; exit with 1 where one is above the limit."""
    slowest = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for name, arguments in COMMANDS.items():
            asked = seconds(arguments, folder)
            stored = min(seconds(arguments, folder) for _ in range(ROUNDS))
            slowest = max(slowest, stored)
            print(
                f"{name:28s} asked {asked:6.1f} s, stored {stored:.2f} s, ratio {asked / stored:.0f}"
            )
    print(f"stored answers take {slowest:.2f} s at most (limit {LIMIT} s)")
    sys.exit(int(slowest > LIMIT))


if __name__ == "__main__":
    main()
