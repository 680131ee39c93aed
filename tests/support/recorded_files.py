"""What explorer.load() gives of files whose kind is known."""

from pathlib import Path

import explorer
from explorer.api import Recorded, RecordedTraining


def loaded_trace(path: Path | str) -> Recorded:
    """The trace in a file."""
    loaded = explorer.load(path)
    assert isinstance(loaded, Recorded)
    return loaded


def loaded_training(path: Path | str) -> RecordedTraining:
    """The training in a file."""
    loaded = explorer.load(path)
    assert isinstance(loaded, RecordedTraining)
    return loaded
