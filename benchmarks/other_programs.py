"""What other programs record of the same net, and how long they take beside the explorer.

A residual net in PyTorch, forward and backward, one thread; each program in a process of its own, ROUNDS
times, in processor time. None but the explorer records every value of both directions: torchviz names the
tape's functions, torchview draws the forward modules and functions with their shapes, torchlens keeps
the values of the forward ops and, run backward too, the gradients of their outputs, msprobe writes
statistics of what goes into and comes out of every call. Beside each time stands what was recorded.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import msgspec

from benchmarks._figures import Figure, absent
from benchmarks._presenting import parser, present
from benchmarks._programs import Recorded

ROOT = Path(__file__).resolve().parent.parent
SCENARIO = ROOT / "tests" / "nets" / "torch_residual.py"
REFERENCE = 75
BLOCKS = (7, REFERENCE)
ROUNDS = 3

FASTER = 10.0
"""How many times as fast as torchlens's forward trace alone a whole capture is to be, at least."""

DISTRIBUTIONS = {
    "plain": "torch",
    "explorer": "torch",
    "torchviz": "torchviz",
    "torchview": "torchview",
    "torchlens, forward": "torchlens",
    "torchlens, both": "torchlens",
    "msprobe": "mindstudio-probe",
}
"""What pip installs for each program."""

MSPROBE = "pip install mindstudio-probe==26.2.0, with 19 packages, into an environment of its own"


def measure() -> Iterator[Figure]:
    """The figures of each net, then whether msprobe can compare the frameworks here."""
    for blocks in BLOCKS:
        with tempfile.TemporaryDirectory() as folder:
            yield from figures(blocks, Path(folder))
    yield from msprobe_on_mindspore()


def figures(blocks: int, folder: Path) -> Iterator[Figure]:
    """What every program takes on one net, and how often the explorer's time goes into it."""
    text = SCENARIO.read_text().replace(f"BLOCKS = {REFERENCE}", f"BLOCKS = {blocks}")
    net = folder / "torch_residual.py"
    net.write_text(text)
    own: tuple[float, ...] = ()
    for program, distribution in DISTRIBUTIONS.items():
        name = f"{blocks} blocks: {program}"
        number = installed(distribution)
        if not number:
            yield absent(name, "processor", f"{distribution} is not installed: {MSPROBE}")
            continue
        recorded = record(program, net, folder)
        yield Figure(
            name=name, unit="s", basis="processor", rounds=recorded.seconds, note=told(recorded)
        )
        if program == "explorer":
            own = recorded.seconds
        elif own:
            yield Figure(
                name=f"{name} ÷ explorer",
                unit="×",
                basis="ratio of processor times",
                rounds=ratios_of_sorted(recorded.seconds, own),
                bar=FASTER if (blocks, program) == (REFERENCE, "torchlens, forward") else None,
                wanted="high",
            )


def ratios_of_sorted(over: tuple[float, ...], under: tuple[float, ...]) -> tuple[float, ...]:
    """The ratios of times of two processes, the fastest round with the fastest, and so on.

    Rounds of two processes have nothing else in common: the first of each pays for what is loaded.
    """
    pairs = zip(sorted(over), sorted(under), strict=True)
    return tuple(one / other for one, other in pairs)


def told(recorded: Recorded) -> str:
    """What was recorded, in words."""
    if not recorded.forward + recorded.backward:
        return "records nothing"
    return (
        f"{recorded.forward} forward nodes, {recorded.forward_values} with their value; "
        f"{recorded.backward} backward nodes, {recorded.backward_values} with their value"
    )


def record(program: str, net: Path, folder: Path) -> Recorded:
    """What a program takes and records, in a process of its own."""
    done = process(program, net, folder)
    done.check_returncode()
    # The net and the program may print too.
    return msgspec.json.decode(done.stdout.strip().rpartition("\n")[2], type=Recorded)


def process(program: str, net: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """A process with one thread that runs a program on a net."""
    quiet = {"OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore", "PYTHONPATH": str(ROOT)}
    scratch = Path(tempfile.mkdtemp(dir=folder))
    return subprocess.run(
        [sys.executable, "-m", "benchmarks._programs", program, net, str(ROUNDS), scratch],
        cwd=folder,
        env={**os.environ, **quiet},
        capture_output=True,
        text=True,
        check=False,
    )


def msprobe_on_mindspore() -> Iterator[Figure]:
    """Whether msprobe dumps MindSpore here, without which it cannot compare the frameworks."""
    name = "msprobe dumps MindSpore"
    if not installed("mindstudio-probe"):
        yield absent(name, "count", f"mindstudio-probe is not installed: {MSPROBE}")
        return
    with tempfile.TemporaryDirectory() as folder:
        done = process("dump_mindspore", SCENARIO, Path(folder))
    errors = [line for line in done.stderr.splitlines() if "Error:" in line]
    yield Figure(
        name=name,
        unit="",
        basis="count",
        rounds=(float(not done.returncode and not errors),),
        wanted="high",
        note=errors[-1] if errors else "",
    )


def installed(distribution: str) -> str:
    """The version of an installed package, "" where there is none."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""


if __name__ == "__main__":
    sys.exit(present(measure(), parser(__doc__).parse_args().figures))
