"""What explorer.load() gives of files whose kind is known."""

from pathlib import Path

import explorer
from explorer.api import Recorded, RecordedTraining
from tests.support.narrowing import of_type


def loaded_trace(path: Path | str) -> Recorded:
    """The trace in a file."""
    return of_type(Recorded, explorer.load(path))


def loaded_training(path: Path | str) -> RecordedTraining:
    """The training in a file."""
    return of_type(RecordedTraining, explorer.load(path))
