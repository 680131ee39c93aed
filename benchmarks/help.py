"""How long `python -m explorer --help` takes against a bare start of Python.

A command line should answer at once.
"""

import subprocess
import sys
import time

ROUNDS = 7
LIMIT = 0.5
"""Seconds above which the benchmark fails."""


def seconds(*arguments: str) -> float:
    """The least time that a Python process with these arguments takes."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    """Print both times and their ratio; exit with 1 above the limit."""
    bare = seconds("-c", "pass")
    help_page = seconds("-m", "explorer", "--help")
    ratio = help_page / bare
    print(
        f"bare Python {bare:.3f} s, --help {help_page:.3f} s, ratio {ratio:.1f} (at most {LIMIT} s)"
    )
    sys.exit(int(help_page > LIMIT))


if __name__ == "__main__":
    main()
