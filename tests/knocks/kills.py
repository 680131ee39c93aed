"""Kills a worker of a command at a random moment, and sees what the command makes of it.

``python -m tests.knocks.kills --count 200 --seed 1`` goes through the commands again and again. After each
kill the command must end with the answer that it gives undisturbed, or with exit code 3 and a word on what
was lost; without a traceback, a process or a scratch folder left.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from explorer.cli.exit_codes import LOST
from tests.knocks.harms import text
from tests.support.command_line import environment
from tests.support.traces import left_behind, processes_of

SECONDS = 240.0
"""How long a command may take, disturbed or not, on a busy machine."""

NET = "net.py"
"""The file of the net that commands are run on: PyTorch's alone, since it starts soonest."""

SIMPLE = b"Simple layout: Graphviz ended"
"""What a picture says that was laid out without Graphviz."""

Said = subprocess.CompletedProcess[str]


class Command(NamedTuple):
    """The arguments of a command, and what of its output is the answer."""

    arguments: tuple[str, ...]
    answer: Callable[[str, Path], Any]


class Outcome(NamedTuple):
    """What became of a command one of whose workers was killed.

    ``moment`` is the time of the kill in seconds since its start; ``problem`` is "" where there is none.
    """

    command: str
    moment: float
    victim: str
    how: str
    problem: str


def _of_each(part: str, *keys: str) -> Callable[[str, Path], Any]:
    """What each entry of a part of a document in JSON has under some keys."""
    return lambda said, _: [[entry[key] for key in keys] for entry in json.loads(said)[part]]


def _findings(said: str, _: Path) -> Any:
    return json.loads(said)["findings"]


def _text(said: str, _: Path) -> Any:
    # Noise that a lost worker could not measure is told in a remark, and changes no answer.
    return [
        line for line in said.splitlines() if not line.startswith("remark: the rounding noise of")
    ]


def _picture(_: str, folder: Path) -> Any:
    return (folder / "graph.svg").read_bytes()


COMMANDS: dict[str, Command] = {
    "scenario": Command(("scenario", NET, "--json"), _of_each("cases", "label", "verdict")),
    "graph": Command(("graph", NET, "--engine", "torch-tape", "-o", "graph.svg"), _picture),
    "diff": Command(("diff", NET, "torch-tape", "torch-graph"), _text),
    "claims": Command(("claims", "20", "--json"), _of_each("rows", "id", "verdict")),
    "sweep": Command(("sweep", NET, "--json"), _of_each("rows", "scenario", "verdict", "cases")),
    "study": Command(("study", "tape-life", NET, "--json"), _findings),
}
"""The commands that have workers."""


class Trial:
    """One run of a command in a folder of its own, with an empty store."""

    def __init__(self, name: str, folder: Path) -> None:
        self.command = COMMANDS[name]
        self.folder = folder
        self.scratch = folder / "scratch"
        self.scratch.mkdir(parents=True)
        (folder / NET).write_text(text("pass", "module"))
        self._output = (folder / "stdout").open("w+")
        self._errors = (folder / "stderr").open("w+")
        own = {"TMPDIR": str(self.scratch), "EXPLORER_STORE": str(folder / "store")}
        self.start = time.monotonic()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "explorer", *self.command.arguments],
            cwd=folder,
            env=environment(**own),
            stdout=self._output,
            stderr=self._errors,
        )

    def workers(self) -> list[psutil.Process]:
        """The processes that the command has started, and theirs, as they stand now."""
        return [each for each in processes_of(self.scratch) if each.pid != self.process.pid]

    def end(self) -> Said:
        """Wait for the command; one that does not end is killed, and has None for a code."""
        code: int | None
        try:
            code = self.process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            code = None
        said = []
        for file in (self._output, self._errors):
            file.seek(0)
            said.append(file.read())
            file.close()
        return subprocess.CompletedProcess(self.command.arguments, code or 0, *said)

    def seconds(self) -> float:
        """The time since the command was started."""
        return time.monotonic() - self.start


class Undisturbed(NamedTuple):
    """What a command answers when nobody is killed, its exit code, and how long it takes."""

    answer: Any
    code: int
    seconds: float


def undisturbed(name: str, folder: Path) -> Undisturbed:
    """Run a command as it is meant to be."""
    trial = Trial(name, folder)
    done = trial.end()
    seconds = trial.seconds()
    assert done.returncode in (0, 1), done.stderr
    return Undisturbed(trial.command.answer(done.stdout, folder), done.returncode, seconds)


def disturbed(
    name: str, folder: Path, usual: Undisturbed, choice: random.Random, at: float | None = None
) -> Outcome:
    """Run a command, and kill one of its workers ``at`` a moment: a random one."""
    moment = choice.uniform(0, usual.seconds) if at is None else at
    trial = Trial(name, folder)
    while trial.seconds() < moment and trial.process.poll() is None:
        time.sleep(0.005)
    victims = sorted(trial.workers(), key=lambda process: process.pid)
    victim = "none"
    if victims:
        chosen = choice.choice(victims)
        victim = f"1 of {len(victims)}"
        try:
            chosen.kill()
        except psutil.Error:
            victim = "one just gone"
    done = trial.end()
    how, problem = _judged(trial, done, usual)
    left = left_behind(trial.scratch)
    if left:
        problem = f"{problem} left behind: {left}".strip()
    return Outcome(name, moment, victim, how, problem)


def _judged(trial: Trial, done: Said, usual: Undisturbed) -> tuple[str, str]:
    """How a command ended, and what is wrong about that."""
    if trial.seconds() > SECONDS:
        return "no end", f"did not end within {SECONDS:g} s"
    said = done.stdout + done.stderr
    if "Traceback" in said:
        return "traceback", said[-2000:]
    is_told = any(word in said for word in ("died", "closed its pipe", "cannot be read"))
    if done.returncode == LOST:
        return "told", "" if is_told else f"exit code 3 without a word on it: {said[-2000:]}"
    if done.returncode != usual.code:
        return f"exit code {done.returncode}", said[-2000:]
    answer = trial.command.answer(done.stdout, trial.folder)
    if isinstance(answer, bytes) and SIMPLE in answer:
        return "drawn simply", ""  # it was Graphviz that was killed, and the picture says so
    if answer != usual.answer:
        # The results are there, and it says of which engine there is no graph.
        return ("told", "") if is_told else ("another answer", done.stdout[-2000:])
    return "answered", ""


def kills(count: int, seed: int, names: tuple[str, ...] = tuple(COMMANDS)) -> list[Outcome]:
    """Disturb the commands in turn, ``count`` times in all; prints a line each."""
    choice = random.Random(seed)
    outcomes = []
    with tempfile.TemporaryDirectory(prefix="kills-") as place:
        usual = {name: undisturbed(name, Path(place) / f"usual-{name}") for name in names}
        for number in range(count):
            name = names[number % len(names)]
            folder = Path(place) / str(number)
            outcome = disturbed(name, folder, usual[name], choice)
            outcomes.append(outcome)
            print(
                f"{number + 1}/{count} {name} at {outcome.moment:.2f} s ({outcome.victim}): "
                f"{outcome.how} {outcome.problem}",
                flush=True,
            )
            shutil.rmtree(folder)
    return outcomes


def main() -> int:
    """Exit with 1 where a command did not end as it must."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--command", choices=tuple(COMMANDS), action="append")
    given = parser.parse_args()
    os.environ.pop("EXPLORER_WORKER_MB", None)
    outcomes = kills(given.count, given.seed, tuple(given.command or COMMANDS))
    counts = Counter(outcome.how for outcome in outcomes)
    wrong = [outcome for outcome in outcomes if outcome.problem]
    hit = sum(outcome.victim.startswith("1 of") for outcome in outcomes)
    told = ", ".join(f"{number} {how}" for how, number in sorted(counts.items()))
    print(f"{len(outcomes)} moments, {hit} with a worker: {told}; {len(wrong)} not as they must be")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
