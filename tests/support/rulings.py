"""Tables of rulings: a claim's row, a world, and what the line about the claim says there."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import NamedTuple

import pytest

from explorer.model.measurement import Figures
from explorer.topics import claims
from explorer.topics.question import Question
from explorer.topics.topic import Claim
from explorer.words.claims import ANY_ADVICE
from tests.support.topics import Change, Ruled, judge, ruled, unchanged

Written = Mapping[tuple[Question, str], Figures]
"""A world that is written down: the figures of each party by question."""

World = Change | Written


USUAL = "the usual advice"
"""Stands in a case for the advice that goes with a verdict where there is no advice of the claim's own."""


class Case(NamedTuple):
    """A world of a claim, the verdict that the claim gets there, and words of its line.

    The world is a change of what is recorded, or is written down. ``unsaid`` are words that the
    advice lacks, and ``unseen`` those that the evidence lacks.
    """

    row: int
    world: World
    verdict: str
    advice: str = ""
    evidence: str = ""
    unsaid: str = ""
    unseen: str = ""


@cache
def as_recorded(row: int) -> Ruled:
    """The ruling on a claim in the world that is recorded."""
    return judge(claims()[row])


def ruling_in(row: int, world: World = unchanged) -> Ruled:
    """The ruling on a claim in a world."""
    return _ruling(claims()[row], world)


def _ruling(claim: Claim, world: World) -> Ruled:
    if isinstance(world, Mapping):
        return ruled(claim, world)
    return judge(claim, world)


def check(case: Case, claim: Claim) -> None:
    """Asserts that a claim is ruled on as a case says."""
    ruling = _ruling(claim, case.world)
    assert ruling.verdict == case.verdict, ruling.evidence
    if case.advice == USUAL:
        assert ruling.advice == ANY_ADVICE[ruling.verdict]
    else:
        assert case.advice in ruling.advice, (case.advice, ruling.advice)
    assert case.evidence in ruling.evidence, (case.evidence, ruling.evidence)
    assert not case.unsaid or case.unsaid not in ruling.advice, (case.unsaid, ruling.advice)
    assert not case.unseen or case.unseen not in ruling.evidence, (case.unseen, ruling.evidence)


def following(cases: Iterable[Case]) -> Callable[[Case], None]:
    """A test that each case is ruled on as it says."""
    table = [pytest.param(case, id=f"{case.row}-{n}") for n, case in enumerate(cases)]

    @pytest.mark.parametrize("case", table)
    def test(case: Case) -> None:
        check(case, claims()[case.row])

    return test
