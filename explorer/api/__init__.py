"""The Python API: the shell commands as functions, whose results display in a notebook.

No framework is imported in the caller's process: the nets run in workers.
"""

from explorer.api.assertions import assert_same_gradients
from explorer.api.functions import claims, diff, explore, graph, load, nets, study
from explorer.api.mends import MendedNet, mend
from explorer.api.results import (
    Claims,
    Difference,
    Exploration,
    Picture,
    Recorded,
    RecordedStart,
    RecordedTraining,
    Study,
)
from explorer.api.trainings import TrainingsDifference

__all__ = [
    "Claims",
    "Difference",
    "Exploration",
    "MendedNet",
    "Picture",
    "Recorded",
    "RecordedStart",
    "RecordedTraining",
    "Study",
    "TrainingsDifference",
    "assert_same_gradients",
    "claims",
    "diff",
    "explore",
    "graph",
    "load",
    "mend",
    "nets",
    "study",
]
