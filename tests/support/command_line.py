"""The command line in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

SECONDS = 300

OF_A_TERMINAL = ("COLUMNS", "NO_COLOR", "FORCE_COLOR")
"""Variables that would change a page's width or colours."""


def environment(**others: str) -> dict[str, str]:
    """This process's environment for a command that finds the package; ``others`` are put over it.

    It is read at each call: a test has a store of its own, which a variable names.
    """
    own = {name: value for name, value in os.environ.items() if name not in OF_A_TERMINAL}
    return {**own, "PYTHONPATH": str(ROOT), **others}


def explorer(
    *arguments: str, cwd: Path = ROOT, **variables: str
) -> subprocess.CompletedProcess[str]:
    """``python -m explorer`` with some arguments, from any folder."""
    return subprocess.run(
        [sys.executable, "-m", "explorer", *arguments],
        cwd=cwd,
        env=environment(**variables),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
