"""Runs the programs in ``programs/``, as they are and with a mistake, and reads what they have recorded."""

import shutil
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import msgspec

from explorer.compare.training.comparison import compare
from explorer.environments.known import home_of
from explorer.model.engines import Framework
from explorer.model.training import Training
from explorer.model.training_comparison import Question, Reason, TrainingComparison
from explorer.recording.files import read_training
from explorer.workers.environments import program_environment
from tests.planted.trainings.batches import write
from tests.support.command_line import ran
from tests.support.kept import kept_run, key_of_run, texts
from tests.support.recorded_files import loaded_training

HERE = Path(__file__).parent

PROGRAMS = HERE / "programs"
LOOP = PROGRAMS / "recorded_loop.py"

FILE = "run.training"


class Mistake(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A text in the place of another one in a program, and what is to be named of it.

    ``unlike`` are settings in which the rules of an update differ; ``missed`` says why it is not named.
    """

    name: str
    kind: str
    framework: Framework
    old: str
    new: str
    step: int
    question: Question
    reason: Reason
    unlike: tuple[str, ...] = ()
    missed: str = ""

    def is_named(self, comparison: TrainingComparison) -> bool:
        """Whether the step, the quantity and the rule are those that were planted."""
        found = comparison.difference
        if found is None:
            return False
        where = (found.step, found.question, found.reason)
        unlike = {one.name for one in found.unlike}
        return where == (self.step, self.question, self.reason) and unlike >= set(self.unlike)


MISTAKES = msgspec.toml.decode(
    (HERE / "programs.toml").read_bytes(), type=dict[str, tuple[Mistake, ...]]
)["mistakes"]


class Program(NamedTuple):
    """A program of a kind in a framework, as it is or with a mistake."""

    kind: str
    framework: Framework
    mistake: Mistake | None = None

    @property
    def text(self) -> str:
        """What is run."""
        text = (PROGRAMS / f"{self.kind}_in_{self.framework}.py").read_text(encoding="utf-8")
        if self.mistake is None:
            return text
        assert text.count(self.mistake.old) == 1, self.mistake
        return text.replace(self.mistake.old, self.mistake.new)


def ports() -> list[Program]:
    """The programs that begin with what PyTorch's begins with."""
    named = (path.stem.rpartition("_in_") for path in sorted(PROGRAMS.glob("*_in_*.py")))
    found = [Program(kind, msgspec.convert(name, Framework)) for kind, _in, name in named]
    return [program for program in found if program.framework != "torch"]


def beside(mistake: Mistake) -> tuple[Program, Program]:
    """A program with a mistake and the right one of another framework, that of PyTorch first."""
    wrong = Program(mistake.kind, mistake.framework, mistake)
    if mistake.framework == "torch":
        return wrong, Program(mistake.kind, "mindspore")
    return Program(mistake.kind, "torch"), wrong


def recorded(program: Program) -> Training:
    """The training that a program records where it is run by itself; of which nothing is missing."""
    training = read_training(_file(program))
    assert not training.missing, (program, training.missing)
    return msgspec.structs.replace(training, name=program.framework)


def compared(left: Program, right: Program) -> TrainingComparison:
    """How what two programs record compares."""
    return compare(recorded(left), recorded(right))


@cache
def _file(program: Program) -> Path:
    """The file that a program has written: once in this working copy."""
    is_first = program.framework == "torch"
    start = None if is_first else _file(Program(program.kind, "torch"))

    def run(folder: Path) -> str:
        script, batches = folder / "program.py", folder / "batches.npz"
        script.write_text(program.text, encoding="utf-8")
        shutil.copy(LOOP, folder)
        write(batches)
        arguments = [script, folder / FILE, batches]
        if start is not None:
            # JAX's programs read arrays.
            arrays = loaded_training(start).start.save(folder / "start.npz")
            arguments.append(arrays if program.framework == "jax" else start)
        home = home_of(program.framework)
        with TemporaryDirectory() as scratch:
            ran(home.python, *arguments, env=program_environment(home, Path(scratch)))
        return FILE

    code = texts([HERE / "batches.py", LOOP]), start and start.parent.name
    folder, name = kept_run(key_of_run(program.framework, "program", program.text, code), run)
    return Path(folder / name)
