"""Pairs of trainings: those of which one has a mistake, what is to be named of it, and right ones."""

from pathlib import Path

import msgspec

from explorer.model.training_comparison import Question, Reason
from tests.planted.trainings.plan import Plan


class Pair(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Two trainings, and where and in what they first differ, if they do.

    ``unlike`` are the settings in which the rules of an update differ.
    """

    name: str
    left: Plan
    right: Plan
    step: int = 0
    question: Question | None = None
    reason: Reason | None = None
    unlike: tuple[str, ...] = ()


TABLE = (Path(__file__).parent / "library.toml").read_bytes()

PAIRS = msgspec.toml.decode(TABLE, type=dict[str, tuple[Pair, ...]])

MISTAKES, RIGHT = PAIRS["mistakes"], PAIRS["right"]
