"""Keeps the boxes of a row apart, each as near as can be to where it should stand."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec


class Wish(msgspec.Struct, frozen=True):
    """The preferred place of a box in a row.

    ``centre`` is where its centre should be and ``size`` its length along the row, both in points.
    ``weight`` is how much it holds its place against others.
    """

    centre: float
    size: float
    weight: float = 1.0


class _Block(NamedTuple):
    """Boxes that touch: the place they share, the sum of their weights, and their number."""

    place: float
    weight: float
    members: int


def spread(wishes: Sequence[Wish], apart: float) -> list[float]:
    """The centres nearest to the preferred ones, with at least ``apart`` points between neighbours.

    The order of the boxes stays. Nearest means the least sum of squared distances, each times its
    weight. This is isotonic regression, by the pool-adjacent-violators algorithm; source: M. J.
    Best and N. Chakravarti, "Active set algorithms for isotonic regression", Mathematical
    Programming 47 (1990).
    """
    # Once the room that the boxes before it need is subtracted, a centre only has to be no smaller
    # than the one before: that is the isotonic regression which the algorithm solves.
    offsets = _offsets(wishes, apart)
    blocks: list[_Block] = []
    for wish, offset in zip(wishes, offsets, strict=True):
        block = _Block(wish.centre - offset, wish.weight, 1)
        # Boxes that would overlap move together from here on, to the mean of their wishes.
        while blocks and blocks[-1].place > block.place:
            block = _pooled(blocks.pop(), block)
        blocks.append(block)

    places: list[float] = []
    for block in blocks:
        places += [block.place] * block.members
    return [place + offset for place, offset in zip(places, offsets, strict=True)]


def _offsets(wishes: Sequence[Wish], apart: float) -> list[float]:
    """How far each centre is from the first when all boxes stand as close as they may."""
    offsets = [0.0] * len(wishes)
    for index in range(1, len(wishes)):
        distance = (wishes[index - 1].size + wishes[index].size) / 2 + apart
        offsets[index] = offsets[index - 1] + distance
    return offsets


def _pooled(first: _Block, second: _Block) -> _Block:
    weight = second.weight + first.weight
    place = (first.place * first.weight + second.place * second.weight) / weight
    return _Block(place, weight, first.members + second.members)
