"""The longest choice of partners that keeps the order of both sides."""

from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.compare.align.pairing import NEAREST, increasing, nearest


def chosen(candidates: list[list[int]]) -> list[tuple[int, int]]:
    """The pairs of items 0, 1, … with candidates that rank as they are."""
    return increasing(list(enumerate(candidates)), lambda rank: rank)


def longest(candidates: list[list[int]]) -> int:
    """The greatest length there is, by trying every choice."""
    greatest = 0
    for choice in product(*([None, *ranks] for ranks in candidates)):
        ranks = [rank for rank in choice if rank is not None]
        if all(first < second for first, second in pairwise(ranks)):
            greatest = max(greatest, len(ranks))
    return greatest


def test_the_longest_common_order_wins_over_the_first_candidate() -> None:
    assert chosen([[9], [1], [2, 9], [3]]) == [(1, 1), (2, 2), (3, 3)]


def test_nothing_is_chosen_from_nothing() -> None:
    assert chosen([]) == []
    assert chosen([[], []]) == []


@pytest.mark.slow
@settings(max_examples=40)
@given(st.lists(st.lists(st.integers(0, 6), max_size=3), max_size=6))
def test_the_choice_is_in_order_and_no_other_is_longer(candidates: list[list[int]]) -> None:
    pairs = chosen(candidates)
    items, ranks = [item for item, _ in pairs], [rank for _, rank in pairs]
    assert items == sorted(set(items))
    assert ranks == sorted(set(ranks))
    assert all(rank in candidates[item] for item, rank in pairs)
    assert len(pairs) == longest(candidates)


def test_items_that_share_many_candidates_see_those_near_their_own_position() -> None:
    count = 10 * NEAREST
    views = [nearest(range(count), position) for position in range(count)]
    assert {len(view) for view in views} == {NEAREST}
    assert all(position in view for position, view in enumerate(views))
