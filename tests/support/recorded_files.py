"""What explorer.load() gives of files whose kind is known."""

from pathlib import Path

import explorer
from explorer.api import Recorded, RecordedTraining
from explorer.compare.training.comparison import compare
from explorer.model.arrays import AnyArray, unpack
from explorer.model.results import Leaf
from explorer.model.training_comparison import TrainingComparison
from explorer.recording.files import read_training
from tests.support.narrowing import of_type


def loaded_trace(path: Path | str) -> Recorded:
    """The trace in a file."""
    return of_type(Recorded, explorer.load(path))


def loaded_training(path: Path | str) -> RecordedTraining:
    """The training in a file."""
    return of_type(RecordedTraining, explorer.load(path))


def values(leaves: tuple[Leaf, ...]) -> dict[str, AnyArray]:
    """The arrays of what a step holds, by name."""
    return {leaf.name: unpack(leaf.value) for leaf in leaves}


def compared(folder: Path, one: str, other: str) -> TrainingComparison:
    """Two trainings of a folder, by the names of their files."""
    return compare(*(read_training(folder / f"{name}.training") for name in (one, other)))
