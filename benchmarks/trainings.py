"""Planted mistakes in small trainings of PyTorch and MindSpore, and how many are named; and right pairs.

A mistake counts as named where the step, the quantity and the reason are those that were planted, and
of an update the settings too in which the rules differ. With --programs, the trainings are those that whole
programs of several kinds record, in JAX too; of each kind it is said on stderr what is named.
"""

import sys
from collections.abc import Iterator

from benchmarks._figures import Figure
from benchmarks._presenting import detail, parser, present
from explorer.compare.training.comparison import compare
from explorer.model.training_comparison import TrainingComparison
from explorer.words.training import headline
from tests.planted.trainings import recorded
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
    counts: list[int] = []
    for library in (MISTAKES, RIGHT):
        count = 0
        for pair in library:
            comparison = compare(records[f"left {pair.name}"], records[f"right {pair.name}"])
            is_right = is_as_expected(pair, comparison)
            count += is_right
            if not is_right:
                detail(f"{pair.name}: {comparison.difference}")
        counts.append(count)
    yield count_of("planted mistakes named with step, quantity and rule", counts[0], len(MISTAKES))
    yield count_of("right pairs without a difference", counts[1], len(RIGHT), may_be_missed=0)


def count_of(name: str, count: int, of: int, may_be_missed: int = MAY_BE_MISSED) -> Figure:
    """So many of all, of which few may be missed."""
    return Figure(
        name=name,
        unit=f"of {of}",
        basis="count",
        rounds=(count,),
        bar=of - may_be_missed,
        wanted="high",
    )


def figures_of_programs() -> Iterator[Figure]:
    """The same of whole programs, with what is named of each kind."""
    named, right, mistakes = 0, 0, recorded.MISTAKES
    ports = recorded.ports()
    for port in ports:
        comparison = recorded.compared(recorded.Program(port.kind, "torch"), port)
        right += comparison.difference is None
        of_port = [one for one in mistakes if recorded.beside(one)[1][:2] == port[:2]]
        missed = []
        for mistake in of_port:
            found = recorded.compared(*recorded.beside(mistake))
            if not mistake.is_named(found):
                missed.append(f"    {mistake.name}, in {mistake.framework}: {headline(found)}")
        count = len(of_port) - len(missed)
        named += count
        detail(f"{port.kind} in {port.framework}: {headline(comparison)}")
        detail(f"    {count} of {len(of_port)} mistakes named")
        for line in missed:
            detail(line)
    what = "mistakes in programs named with step, quantity and rule"
    yield count_of(what, named, len(mistakes), len(mistakes) // 10)
    yield count_of("right programs without a difference", right, len(ports), may_be_missed=0)


def is_as_expected(pair: Pair, comparison: TrainingComparison) -> bool:
    """Whether what was planted is named, or nothing where nothing was."""
    found = comparison.difference
    if found is None or pair.question is None:
        return found is None and pair.question is None
    unlike = {one.name for one in found.unlike}
    where = (found.step, found.question, found.reason)
    return where == (pair.step, pair.question, pair.reason) and set(pair.unlike) <= unlike


if __name__ == "__main__":
    known = parser(__doc__)
    known.add_argument("--programs", action="store_true", help="those of whole programs")
    options = known.parse_args()
    measured = figures_of_programs() if options.programs else figures()
    sys.exit(present(measured, options.figures))
