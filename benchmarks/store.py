"""How long a stored answer takes against one that is asked, and one of which one net was edited.

The store is one of its own, and empty at first.
"""

import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks._figures import Figure
from benchmarks._presenting import parser, present
from explorer.cli.exit_codes import AS_EXPECTED, DIFFERENT
from explorer.folders import STORE
from explorer.scenario.find import find

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


def seconds(arguments: tuple[str, ...], folder: str, exit_code: int = AS_EXPECTED) -> float:
    """The time of one command with a store in ``folder``; RuntimeError where it ends otherwise."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "explorer", *arguments]
    ran = subprocess.run(
        command, check=False, capture_output=True, text=True, env={**os.environ, STORE: folder}
    )
    if ran.returncode != exit_code:
        raise RuntimeError(f"{shlex.join(command)} exited with {ran.returncode}: {ran.stderr}")
    return time.perf_counter() - start


def of_empty_store(arguments: tuple[str, ...]) -> float:
    """The time of one command with a store that is empty."""
    with tempfile.TemporaryDirectory() as folder:
        return seconds(arguments, folder)


EDITED = "gpt"
"""The scenario of which a line of one net is edited."""

MENDS = {
    "MindSpore's": ("nn.GELU(approximate=False)", "nn.GELU()"),
    "PyTorch's": ("nn.GELU()", 'nn.GELU(approximate="tanh")'),
}
"""A mistake in a line of each net, and the line without it."""

EDITED_LIMIT = 0.5
"""The share of the first answer's time that the answer after an edit may take."""


def edited(wrong: str, right: str) -> tuple[float, float]:
    """The times of ``diff`` of a net with a mistake, and of ``diff`` again once its line is mended."""
    text = find(EDITED).read_text()
    if right not in text:
        raise ValueError(f"{EDITED} does not hold the line of the mistake: {right}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "edited.py"
        command = ("diff", str(path), "torch-tape", "mindspore-graph")
        path.write_text(text.replace(right, wrong))
        first = seconds(command, folder, exit_code=DIFFERENT)
        path.write_text(text)
        return first, seconds(command, folder)


def of_edits() -> Iterator[Figure]:
    """A figure a net: the time after an edit as a share of the time of an empty store."""
    for whose, change in MENDS.items():
        rounds = [edited(*change) for _ in range(ASKED_ROUNDS)]
        yield Figure(
            name=f"diff {EDITED}, a line of {whose} net edited: again ÷ first",
            unit="×",
            basis="ratio of wall times",
            rounds=tuple(again / first for first, again in rounds),
            bar=EDITED_LIMIT,
        )


def measure() -> Iterator[Figure]:
    """The figures of edits, then three a command: asked, stored, how often the one takes the other."""
    yield from of_edits()
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
