"""Sets two runs of benchmarks side by side: both medians, their ratio, and what has moved.

A figure has moved where its medians are further apart than the rounds of either run are.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks._figures import Figure
from benchmarks._presenting import detail
from benchmarks._records import RecordError, Run, read
from benchmarks._table import aligned, digits, quantity

HEADS = ("benchmark", "figure", "basis", "A", "B", "B ÷ A", "")
"""The columns; the last one says whether the figure has moved, and whether that is good."""

RIGHT = ("A", "B", "B ÷ A")


Key = tuple[str, str, str, str]
"""What a figure shares with the same one of another run: benchmark, name, basis and unit."""

Figures = dict[Key, Figure]


def main() -> int:
    """Print the comparison; 0, or 2 where a file is no record of a run."""
    options = argparse.ArgumentParser(
        prog="python -m benchmarks.compare",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    options.add_argument("a", type=Path, metavar="A", help="the file of a run, as in out/bench")
    options.add_argument("b", type=Path, metavar="B", help="the file of another one")
    given = options.parse_args()
    try:
        print(comparison(read(given.a), read(given.b)))
    except RecordError as error:
        detail(str(error))
        return 2
    return 0


def comparison(a: Run, b: Run) -> str:
    """The table of what both runs measured, what only one did, and how many figures have moved."""
    before = {key(figure): figure for figure in a.figures}
    after = {key(figure): figure for figure in b.figures}
    both = [name for name in before if name in after]
    rows = [HEADS, *(_cells(before[name], after[name]) for name in both)]
    verdicts = [row[-1] for row in rows[1:]]
    lines = [*_origins(a, b), *aligned(rows, RIGHT), ""]
    lines += _only("A", before, after)
    lines += _only("B", after, before)
    better, worse = verdicts.count("better"), verdicts.count("worse")
    lines.append(f"{len(both)} figures in both; {better} better, {worse} worse")
    return "\n".join(lines)


def key(figure: Figure) -> Key:
    """What a figure shares with the same one of another run."""
    return figure.benchmark, figure.name, figure.basis, figure.unit


def moved(before: Figure, after: Figure) -> str:
    """ "better", "worse", or "" where the medians are not further apart than the rounds of a run."""
    if before.median is None or after.median is None:
        return ""
    difference = after.median - before.median
    if abs(difference) <= max(before.spread, after.spread):
        return ""
    # One time alone says nothing of how it spreads.
    if is_timed(after) and min(len(before.rounds), len(after.rounds)) < 2:
        return "one round"
    return "better" if (difference < 0) == (after.wanted == "low") else "worse"


def is_timed(figure: Figure) -> bool:
    """Whether a figure is another one each time: all are but counts and shares of counts."""
    return figure.basis not in ("count", "share")


def _cells(before: Figure, after: Figure) -> tuple[str, ...]:
    ratio = "–"
    if before.median and after.median is not None:
        ratio = digits(after.median / before.median)
    return (
        after.benchmark,
        after.name,
        after.basis,
        quantity(before.median, before.unit),
        quantity(after.median, after.unit),
        ratio,
        moved(before, after),
    )


def _origins(a: Run, b: Run) -> Iterator[str]:
    """What is compared, and what else is another one in the second run."""
    for name, run in (("A", a), ("B", b)):
        yield f"{name}: {run.began}, commit {run.commit or 'unknown'}, {run.machine}"
    for package in sorted({*a.versions, *b.versions}):
        one, other = a.versions.get(package, "none"), b.versions.get(package, "none")
        if one != other:
            yield f"{package}: {one} in A, {other} in B"
    yield ""


def _only(name: str, these: Figures, those: Figures) -> Iterator[str]:
    """The figures of one run that the other one has not."""
    for benchmark, figure, *_ in sorted(these.keys() - those.keys()):
        yield f"only in {name}: {benchmark}: {figure}"


if __name__ == "__main__":
    sys.exit(main())
