"""Runs a program of this folder once in all processes of the tests, in a folder of its own."""

import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


def found_once(base: pytest.TempPathFactory, module: str, argument: str) -> dict[str, Any]:
    """What ``python -m module argument`` prints as JSON; the first process that asks runs it."""
    own = base.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    folder = shared / f"{module}-{argument}"
    (folder / "ir").mkdir(parents=True, exist_ok=True)
    answer = folder / "answer.json"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not answer.exists():
            done = subprocess.run(
                [sys.executable, "-m", module, argument],
                cwd=folder,
                env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
                capture_output=True,
                text=True,
            )
            assert done.returncode == 0, done.stderr
            answer.write_text(done.stdout, encoding="utf-8")
    found: dict[str, Any] = json.loads(answer.read_text(encoding="utf-8"))
    return found
