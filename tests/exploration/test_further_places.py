"""The further places of a mistake whose cause is known."""

import msgspec
import pytest

from explorer.compare.causes.explanations import once_more
from explorer.model.alignment import Seen
from explorer.model.causes import Cause, InsertOperator
from explorer.model.divergence import OtherValue, Place, Row
from tests.support.divergence_records import other_value
from tests.support.explained import CAUSE
from tests.support.narrowing import present


def at(scope: str, op: str = "GeLU") -> OtherValue:
    """Two ops in a module that give different values."""
    left, right = (
        Row(first=Place(label=label, scope=scope), last=label, count=1)
        for label in ("aten.gelu.default", op)
    )
    return other_value(rows=(left, right))


def test_two_ops_that_differ_by_one_cause_at_two_places_are_one_mistake() -> None:
    found = present(once_more(Seen(at("blocks.1"), CAUSE), Seen(at("blocks.0"), CAUSE)))
    places = present(found.cause).also_at
    assert [[place.scope for place in both] for both in places] == [["blocks.1"] * 2]
    again = present(present(once_more(Seen(at("blocks.2"), CAUSE), found)).cause)
    assert [left.scope for left, _ in again.also_at] == ["blocks.1", "blocks.2"]


@pytest.mark.parametrize(
    ("op", "cause", "known"),
    [
        ("Gelu", CAUSE, CAUSE),
        ("GeLU", CAUSE, None),
        ("GeLU", None, CAUSE),
        ("GeLU", msgspec.structs.replace(CAUSE, side="right"), CAUSE),
        ("GeLU", *[msgspec.structs.replace(CAUSE, edits=(InsertOperator(op="flip"),))] * 2),
    ],
)
def test_other_ops_and_other_causes_are_mistakes_of_their_own(
    op: str, cause: Cause | None, known: Cause | None
) -> None:
    assert once_more(Seen(at("blocks.1", op), cause), Seen(at("blocks.0"), known)) is None
