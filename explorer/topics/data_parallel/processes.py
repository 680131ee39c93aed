"""What the ranks of both frameworks share: the net's numbers, a free port, a time limit."""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from explorer.model.measurement import Ask, Found
from explorer.workers.descendants import descendants, kill
from explorer.workers.environments import WAITING
from explorer.workers.garbage_collection import imported, paused

RANKS = 2
SAMPLES = ([1.0, 2.0, 3.0], [2.0, 4.0, 6.0])
"""The sample of each rank; its target is TARGET, and the net starts from WEIGHT on both."""

TARGET = 19.0
WEIGHT = np.array([[2, 3, 4]], np.float32)
BY_HAND = "value_and_grad and DistributedGradReducer"
"""The one way to take a step in MindSpore in which the caller has the gradients reduced."""

RATE = 2.0**-10
"""The learning rate of the one step: a power of two, so that float32 steps are exact."""

SECONDS = 300.0  # less than the topic's limit for a measurement, so that the message is this one
"""How long two ranks may take; they are stopped then."""

POLLING_SECONDS = 0.1
"""How long to wait between two looks for the ranks' answers."""

LOG_TAIL = 1500
"""How many of the last bytes of the ranks' output a message carries."""


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def rank_of(figures: str, folder: Path) -> tuple[str, ...]:
    """The script with its arguments that is one rank and writes its figures into ``folder``.

    ``figures`` is "module:function", which returns them.
    """
    return str(Path(__file__)), figures, str(folder)


def run_ranks(command: list[str], folder: Path, ask: Ask) -> Found:
    """Run ``command``, which starts all ranks, and gather what each wrote to ``folder``/rankN.json.

    Whatever happens, no process that it started is left. Raises TimeoutError when the ranks take
    too long, and RuntimeError when one of them gives no answer; both messages end with the last of
    what the ranks wrote.
    """
    seconds = float(ask.options.get("seconds", SECONDS))
    start = time.perf_counter()
    log = folder / "log"
    with log.open("wb") as output:
        child = subprocess.Popen(command, stdout=output, stderr=output, env=_environment())
        try:
            # Not until the launcher ends: MindSpore's takes seconds to take leave of its ranks.
            while child.poll() is None and len(_answers(folder)) < RANKS:
                if time.perf_counter() - start > seconds:
                    stopped = f"the {RANKS} ranks were stopped after {seconds:g} s"
                    raise TimeoutError(f"{stopped}; last words: {_last_words(log)}")
                time.sleep(POLLING_SECONDS)
        finally:
            # Also after a rank has failed: its launcher may leave the other one waiting for it.
            _stop(child)

    answers = _answers(folder)
    if len(answers) != RANKS:
        answered = f"{len(answers)} of {RANKS} ranks answered (exit code {child.returncode})"
        raise RuntimeError(f"{answered}; last words: {_last_words(log)}")
    ranks = [json.loads(path.read_text()) for path in answers]
    return Found(
        {"ranks": ranks, "processes": len(ranks)}, {"seconds": time.perf_counter() - start}
    )


def write_answer(folder: str, figures: dict[str, Any]) -> None:
    """Write what a rank found to the folder from which run_ranks gathers it."""
    # Under another name first: run_ranks looks while it is written.
    unfinished = Path(folder) / f"unfinished{figures['rank']}"
    unfinished.write_text(json.dumps(figures))
    unfinished.rename(Path(folder) / f"rank{figures['rank']}.json")


def _answers(folder: Path) -> list[Path]:
    return sorted(folder.glob("rank*.json"))


def _environment() -> dict[str, str]:
    # msrun starts whatever "python" is first on the path (MindSpore 2.10). Gloo is kept to the
    # loopback interface: by the name of the host it may find an address that nothing answers on. A
    # rank of MindSpore waits for each operator, as everywhere but where time is measured.
    path = str(Path(sys.executable).parent) + os.pathsep + os.environ.get("PATH", "")
    return {**os.environ, **WAITING, "PATH": path, "GLOO_SOCKET_IFNAME": "lo"}


def _last_words(log: Path) -> str:
    return log.read_bytes()[-LOG_TAIL:].decode(errors="replace").strip()


def _stop(child: "subprocess.Popen[bytes]") -> None:
    """Kill a process with all that descends from it."""
    # Its children are listed first: once it is gone they are nobody's, and cannot be found.
    family = descendants(child.pid)
    child.kill()
    child.wait()
    kill(family)


if __name__ == "__main__":
    # One rank of two: `python processes.py MODULE:FUNCTION FOLDER`.
    program, place = sys.argv[1:]
    name_of_module, _, name = program.partition(":")
    with paused():  # the rank of PyTorch imports its compiler too, once it needs it
        write_answer(place, getattr(imported(name_of_module), name)())
