"""The command line in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if name not in ("COLUMNS", "NO_COLOR", "FORCE_COLOR")
}
"""This process's environment without what would change a page's width or colours."""

SECONDS = 300


def explorer(
    *arguments: str, cwd: Path = ROOT, **environment: str
) -> subprocess.CompletedProcess[str]:
    """``python -m explorer`` with some arguments, from any folder."""
    return subprocess.run(
        [sys.executable, "-m", "explorer", *arguments],
        cwd=cwd,
        env={**ENVIRONMENT, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
