"""Planted mistakes in small trainings of PyTorch and MindSpore, and how many are named; and right pairs.

A mistake counts as named where the step, the quantity and the reason are those that were planted, and
of an update the settings too in which the rules differ.
"""

import sys

from benchmarks._figures import Figure
from benchmarks._presenting import detail, parser, present
from explorer.compare.training.comparison import compare
from explorer.model.training_comparison import TrainingComparison
from tests.planted.trainings.library import MISTAKES, RIGHT, Pair
from tests.planted.trainings.run import trainings

LEAST_NAMED = 20
"""So many of the planted mistakes are to be named."""


def main() -> int:
    """Print the figures; 0 where all bars are kept."""
    options = parser(__doc__).parse_args()
    pairs = (*MISTAKES, *RIGHT)
    plans = {
        f"{place} {side}": getattr(pair, side)
        for place, pair in enumerate(pairs)
        for side in ("left", "right")
    }
    records = trainings(plans)
    named = silent = 0
    for place, pair in enumerate(pairs):
        comparison = compare(records[f"{place} left"], records[f"{place} right"])
        is_right = is_as_expected(pair, comparison)
        named += is_right and pair in MISTAKES
        silent += is_right and pair in RIGHT
        if not is_right:
            detail(f"{pair.name}: {comparison.difference}")
    figures = (
        Figure(
            name="planted mistakes named with step, quantity and rule",
            unit=f"of {len(MISTAKES)}",
            basis="count",
            rounds=(named,),
            bar=LEAST_NAMED,
            wanted="high",
        ),
        Figure(
            name="right pairs without a difference",
            unit=f"of {len(RIGHT)}",
            basis="count",
            rounds=(silent,),
            bar=len(RIGHT),
            wanted="high",
        ),
    )
    return present("trainings", figures, options)


def is_as_expected(pair: Pair, comparison: TrainingComparison) -> bool:
    """Whether what was planted is named, or nothing where nothing was."""
    found = comparison.difference
    if found is None or pair.question is None:
        return found is None and pair.question is None
    unlike = {one.name for one in found.unlike}
    where = (found.step, found.question, found.reason)
    return where == (pair.step, pair.question, pair.reason) and set(pair.unlike) <= unlike


if __name__ == "__main__":
    sys.exit(main())
