"""Boxes in a row: apart, in order, and as near as can be to where they should stand."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.drawing.layout import Wish, spread

APART = 5.0

WISHES = st.lists(
    st.builds(
        Wish,
        centre=st.floats(-1e3, 1e3),
        size=st.floats(0, 100),
        weight=st.floats(0.5, 20),
    ),
    max_size=12,
)


def distance(wishes: list[Wish], centres: list[float]) -> float:
    """What is to be least: the weighted squares of the distances."""
    pairs = zip(wishes, centres, strict=True)
    return sum(wish.weight * (centre - wish.centre) ** 2 for wish, centre in pairs)


@pytest.mark.slow
@settings(max_examples=50)
@given(wishes=WISHES)
def test_neighbours_keep_their_distance(wishes: list[Wish]) -> None:
    placed = list(zip(wishes, spread(wishes, APART), strict=True))
    for (left, left_centre), (right, right_centre) in pairwise(placed):
        least = (left.size + right.size) / 2 + APART
        assert right_centre - left_centre >= least - 1e-6


@pytest.mark.slow
@settings(max_examples=50)
@given(wishes=WISHES, start=st.integers(0, 11), by=st.sampled_from([-1.0, 1.0]))
def test_nothing_is_nearer_to_the_wishes(wishes: list[Wish], start: int, by: float) -> None:
    """Moving any box with all that is on its side of the row brings it no nearer."""
    centres = spread(wishes, APART)
    moved = []
    for index, centre in enumerate(centres):
        is_moved = index >= start if by > 0 else index <= start
        moved.append(centre + by if is_moved else centre)
    assert distance(wishes, centres) <= distance(wishes, moved) + 1e-6


def test_boxes_that_have_room_stand_where_they_should() -> None:
    wishes = [Wish(0.0, 10.0), Wish(50.0, 10.0), Wish(65.0, 10.0)]
    assert spread(wishes, APART) == [0.0, 50.0, 65.0]
    # Two at one place move aside by their weights.
    assert spread([Wish(0.0, 10.0), Wish(0.0, 10.0)], APART) == [-7.5, 7.5]
    heavy, light = spread([Wish(0.0, 10.0, 1e9), Wish(0.0, 10.0)], APART)
    assert heavy == pytest.approx(0.0, abs=1e-6)
    assert light == pytest.approx(15.0, abs=1e-6)
