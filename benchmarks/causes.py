"""How many planted mistakes have their cause named, and that nets without a mistake have none.

Plants mistakes of ``tests/planted/library.toml`` one by one, or sets of them in one net (--sets), compares
the two nets as ``diff`` does, and judges what is named by the facts that stand beside each mistake; or
compares nets without a mistake (--clean). With --own-names the layers of the net beside PyTorch's are
called otherwise, and which parameter is which is found by the values. For engines that cannot run the
library's nets, mistakes in shipped nets are planted. Says of each on stderr what is named.
"""

import argparse
import difflib
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks._figures import Figure
from benchmarks._presenting import add_engines, detail, parser, present
from explorer.exploration.explore import explore
from explorer.model.engines import engine_named
from explorer.scenario.load import load
from explorer.words.causes import cause as cause_text
from explorer.words.divergences import first_divergence
from explorer.workers.workers import Workers
from tests.planted.causes import tell_causes
from tests.planted.clean import write_variants
from tests.planted.library import IN_PORTS, LIBRARY, SETS, SHIPPED, fitting
from tests.planted.mistake import plant_all
from tests.planted.naming import TAPES
from tests.planted.own_names import with_own_names

TIMEOUT = 300.0

DRAWN = 24
"""How many are drawn where neither names nor all of them are asked for; the draw is always the same."""

ALL = {**LIBRARY, **SHIPPED, **IN_PORTS}
"""The mistakes whose names are known."""

NAMED = ("cause",)
PLACED = ("cause", "other cause", "place")


def measure(
    sets: list[tuple[str, ...]], engines: tuple[str, ...], has_own_names: bool
) -> Iterator[Figure]:
    """The shares of mistakes whose cause and whose place are named, and the seconds of each set."""
    verdicts: list[str] = []
    seconds = []
    with Workers(TIMEOUT) as workers, tempfile.TemporaryDirectory() as folder:
        for names in sets:
            start = time.perf_counter()
            mistakes = tuple(ALL[name] for name in names)
            planted = plant_all(mistakes, Path(folder))
            if has_own_names:
                name_otherwise(planted[0].path, engines)
            told = tell_causes(zip(mistakes, planted, strict=True), engines, workers)
            seconds.append(time.perf_counter() - start)
            for name, found in zip(names, told, strict=True):
                verdicts.append(found.verdict)
                detail(f"{found.verdict:12} {name}")
                detail(f"             {found.sentence}")
    counts = Counter(verdicts)
    note = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
    for what, wanted in (("cause named", NAMED), ("place named", PLACED)):
        share = 100 * sum(counts[verdict] for verdict in wanted) / len(verdicts)
        yield Figure(
            name=f"planted mistakes: {what}",
            unit="%",
            basis="share",
            rounds=(share,),
            wanted="high",
            note=f"of {len(verdicts)}: {note}",
        )
    yield Figure(name="one comparison", unit="s", basis="wall", rounds=tuple(seconds))


def name_otherwise(path: Path, engines: tuple[str, ...]) -> None:
    """Call the layers of the net otherwise that is not PyTorch's."""
    (framework,) = {engine_named(name).framework for name in engines} - {"torch"}
    text = with_own_names(path.read_text(encoding="utf-8"), framework)
    path.write_text(text, encoding="utf-8")


def measure_clean(engines: tuple[str, ...]) -> Iterator[Figure]:
    """The share of nets without a mistake of which nothing is said."""
    clean = []
    with Workers(TIMEOUT) as workers, tempfile.TemporaryDirectory() as folder:
        for path in write_variants(Path(folder)).values():
            report = explore(load(path), workers, engines=engines, selection="main", oracle=False)
            said = [*map(first_divergence, report.alignments)]
            said += [cause_text(alignment) for alignment in report.alignments]
            clean.append(not any(said))
            detail(
                f"{'clean' if clean[-1] else 'accused':12} {path.stem}  {' '.join(said)}".rstrip()
            )
    yield Figure(
        name="nets without a mistake: nothing said",
        unit="%",
        basis="share",
        rounds=(100 * sum(clean) / len(clean),),
        wanted="high",
        note=f"of {len(clean)}",
    )


def chosen(given: argparse.Namespace) -> list[tuple[str, ...]]:
    """The sets of mistakes that are planted together."""
    if given.sets:
        return [
            tuple(mistake.scenario + "-" + mistake.name for mistake in mistakes)
            for mistakes in SETS.values()
        ]
    if given.names:
        return [(name,) for name in given.names]
    names = sorted(fitting(given.engines))
    if not given.all:
        names = random.Random(given.seed).sample(names, min(given.drawn, len(names)))
    return [(name,) for name in names]


def options() -> argparse.Namespace:
    """What was typed; ends with a line for a mistake that there is not, or a draw of too many."""
    known = parser(__doc__)
    known.add_argument("names", nargs="*", help="mistakes; without, some that are drawn")
    known.add_argument("--all", action="store_true", help="all mistakes")
    known.add_argument("--sets", action="store_true", help="the sets of several in one net")
    known.add_argument("--clean", action="store_true", help="nets without a mistake")
    known.add_argument("--own-names", action="store_true", help="layers are called otherwise")
    known.add_argument("--drawn", type=int, default=DRAWN, help="how many are drawn")
    known.add_argument("--seed", type=int, default=0, help="of the draw")
    add_engines(known, TAPES)
    given = known.parse_args()
    given.engines = tuple(given.engines)
    unknown = [name for name in given.names if name not in ALL]
    if unknown:
        near = difflib.get_close_matches(unknown[0], ALL, n=1, cutoff=0.0)
        known.error(f"no mistake is called {', '.join(unknown)}; one is called {near[0]}")
    for name in given.names:
        if not ALL[name].is_between(given.engines):
            known.error(f"{name} is in {ALL[name].framework}'s net, which none of the engines runs")
    there_are = len(fitting(given.engines))
    if not 1 <= given.drawn <= max(there_are, DRAWN):
        known.error(f"--drawn {given.drawn}: there are {there_are} mistakes, and 1 is the fewest")
    return given


if __name__ == "__main__":
    given = options()
    figures = measure(chosen(given), given.engines, given.own_names)
    if given.clean:
        figures = measure_clean(given.engines)
    sys.exit(present(figures, given.figures))
