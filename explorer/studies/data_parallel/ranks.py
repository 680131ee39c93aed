"""What both frameworks' ranks share: the net's numbers, a free port, and running them together within a time limit."""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil

from explorer.measuring import Ask, Found

RANKS = 2
DATA = ([1.0, 2.0, 3.0], [2.0, 4.0, 6.0])
"""The sample of each rank; its target is TARGET, and the net starts from WEIGHT on both."""

TARGET = 19.0
WEIGHT = np.array([[2, 3, 4]], np.float32)
RATE = 0.0009765625
"""The learning rate of the one step: 2^-10, so that float32 steps are exact."""

SECONDS = 80.0
"""How long two ranks may take; they are stopped then."""

STILL = 1500
"""How many characters of the ranks' last words a message carries."""


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        return int(door.getsockname()[1])


def together(command: list[str], folder: Path, ask: Ask) -> Found:
    """Run ``command``, which starts all ranks, and gather what each wrote to ``folder``/rankN.json.

    Whatever happens, no process that it started is left. Raises RuntimeError with the ranks' last words when one has no answer.
    """
    seconds = float(ask.options.get("seconds", SECONDS))
    start = time.perf_counter()
    log = folder / "said"
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))  # msrun starts whatever "python" is
    environment = {**os.environ, "PATH": path, "GLOO_SOCKET_IFNAME": "lo"}
    with log.open("wb") as said:
        child = subprocess.Popen(command, stdout=said, stderr=said, env=environment)
        try:
            child.wait(seconds)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"the {RANKS} ranks were stopped after {seconds:g} s; last words: {words(log)}") from None
        finally:
            stop(child)
    answers = sorted(folder.glob("rank*.json"))
    if len(answers) != RANKS:
        raise RuntimeError(f"{len(answers)} of {RANKS} ranks answered (exit code {child.returncode}); last words: {words(log)}")
    ranks = [json.loads(path.read_text()) for path in answers]
    return Found({"ranks": ranks, "processes": len(ranks)}, {"seconds": time.perf_counter() - start})


def words(log: Path) -> str:
    """The last words of the ranks."""
    return log.read_bytes()[-STILL:].decode(errors="replace").strip()


def stop(child: "subprocess.Popen[bytes]") -> None:
    """Kill a process with all that descends from it, and with what still is in its place in the process group."""
    try:
        family = psutil.Process(child.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        family = []
    for each in family:
        each.kill()
    child.kill()
    child.wait()
    psutil.wait_procs(family, timeout=5)
