"""A process that runs the listings of PyTorch, one after another: importing it takes seconds."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from explorer.workers.environments import ROOT

RUNNER = """
import contextlib, io, json, sys
import torch

torch.set_printoptions(precision=9, sci_mode=False)
for line in sys.stdin:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(json.loads(line), {"__name__": "__main__"})
    print(json.dumps(printed.getvalue()), flush=True)
"""


class Listings:
    """Runs what a reader would paste into a fresh file."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, code: str) -> str:
        """What a listing prints, with all digits; EOFError where it raises."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(code) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise EOFError("the listing raised; its traceback is on stderr")
        return str(json.loads(line))


@contextmanager
def running_listings() -> Iterator[Listings]:
    """The process, which ends with the block."""
    environment = {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore", "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        [sys.executable, "-c", RUNNER],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield Listings(process)
        assert process.stdin
        process.stdin.close()
