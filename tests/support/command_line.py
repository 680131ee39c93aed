"""The command line in a process of its own."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

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


def ran(
    *command: str | Path,
    cwd: Path = ROOT,
    env: Mapping[str, str] | None = None,
    seconds: float = 900,
    check: bool = True,
) -> subprocess.CompletedProcess[str]:
    """What a command did, which succeeds if ``check``, with this process's environment or another one."""
    done = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env=env or environment(),
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert not check or done.returncode == 0, done.stderr
    return done


def python(*arguments: str | Path, **options: Any) -> str:
    """What this Python prints, called with some arguments; ``options`` are those of ran()."""
    return ran(sys.executable, *arguments, **options).stdout


def explorer(
    *arguments: str, cwd: Path = ROOT, **variables: str
) -> subprocess.CompletedProcess[str]:
    """``python -m explorer`` with some arguments, from any folder."""
    command = (sys.executable, "-m", "explorer", *arguments)
    return ran(*command, cwd=cwd, env=environment(**variables), seconds=SECONDS, check=False)
