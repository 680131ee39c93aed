"""How long `python -m explorer --help` takes against a bare start of Python.

A command line should answer at once.
"""

import subprocess
import sys
import time
from collections.abc import Iterator

from benchmarks._figures import Figure, ratios
from benchmarks._presenting import parser, present

ROUNDS = 7
LIMIT = 0.5
"""Seconds that the help may take."""


def seconds(*arguments: str) -> float:
    """The time that a Python process with these arguments takes."""
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    return time.perf_counter() - start


def measure() -> Iterator[Figure]:
    """Both times, which take turns, and their ratio."""
    turns = [(seconds("-c", "pass"), seconds("-m", "explorer", "--help")) for _ in range(ROUNDS)]
    bare, help_page = zip(*turns, strict=True)
    yield Figure(name="bare Python", unit="s", basis="wall", rounds=bare)
    yield Figure(name="explorer --help", unit="s", basis="wall", rounds=help_page, bar=LIMIT)
    yield Figure(
        name="explorer --help ÷ bare Python",
        unit="×",
        basis="ratio of wall times",
        rounds=ratios(help_page, bare),
    )


if __name__ == "__main__":
    sys.exit(present(measure(), parser(__doc__).parse_args().figures))
