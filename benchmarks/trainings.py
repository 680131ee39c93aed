"""Planted mistakes in small trainings of PyTorch and MindSpore, and how many are named; and right pairs.

A mistake counts as named where the step, the quantity and the reason are those that were planted, and
of an update the settings too in which the rules differ.
"""

import sys
from collections.abc import Iterator

from benchmarks._figures import Figure
from benchmarks._presenting import detail, parser, present
from explorer.compare.training.comparison import compare
from explorer.model.training_comparison import TrainingComparison
from tests.planted.trainings.library import MISTAKES, RIGHT, Pair
from tests.planted.trainings.run import trainings

MAY_BE_MISSED = 2
"""So many of the planted mistakes need not be named."""


def figures() -> Iterator[Figure]:
    """How many of the mistakes are named, and of how many right pairs nothing is."""
    pairs = (*MISTAKES, *RIGHT)
    sides = ("left", "right")
    records = trainings(
        {f"{side} {pair.name}": getattr(pair, side) for pair in pairs for side in sides}
    )
    counts = []
    for library in (MISTAKES, RIGHT):
        count = 0
        for pair in library:
            comparison = compare(records[f"left {pair.name}"], records[f"right {pair.name}"])
            is_right = is_as_expected(pair, comparison)
            count += is_right
            if not is_right:
                detail(f"{pair.name}: {comparison.difference}")
        counts.append(count)
    yield Figure(
        name="planted mistakes named with step, quantity and rule",
        unit=f"of {len(MISTAKES)}",
        basis="count",
        rounds=(counts[0],),
        bar=len(MISTAKES) - MAY_BE_MISSED,
        wanted="high",
    )
    yield Figure(
        name="right pairs without a difference",
        unit=f"of {len(RIGHT)}",
        basis="count",
        rounds=(counts[1],),
        bar=len(RIGHT),
        wanted="high",
    )


def is_as_expected(pair: Pair, comparison: TrainingComparison) -> bool:
    """Whether what was planted is named, or nothing where nothing was."""
    found = comparison.difference
    if found is None or pair.question is None:
        return found is None and pair.question is None
    unlike = {one.name for one in found.unlike}
    where = (found.step, found.question, found.reason)
    return where == (pair.step, pair.question, pair.reason) and set(pair.unlike) <= unlike


if __name__ == "__main__":
    options = parser(__doc__).parse_args()
    sys.exit(present(figures(), options.figures))
