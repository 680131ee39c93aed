"""How many planted mistakes the explorer names, and at which line.

Plants mistakes of ``tests/planted`` in their nets, compares the tapes (or other engines), and counts those
that are named at their line; then nets without a mistake, which must name nothing. Says of each on
stderr what is named.
"""

import argparse
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
from explorer.model.errors import ExplorerError
from explorer.scenario.find import SHIPPED as FOLDERS
from explorer.scenario.find import find, names
from explorer.scenario.load import load
from explorer.words.divergences import first_divergence
from explorer.words.findings import sentence as finding_sentence
from explorer.words.graphs import why_no_graph
from explorer.workers.workers import Workers
from tests.planted.library import MISTAKES, SHIPPED
from tests.planted.mistake import has_nets, plant
from tests.planted.naming import TAPES, tell

TIMEOUT = 300.0

MISTAKES_DRAWN, NETS_DRAWN = 16, 8
"""How many are drawn where neither names nor all of them are asked for; the draw is always the same."""


ALL = {**MISTAKES, **SHIPPED}
"""The mistakes, by name."""


def measure(chosen: set[str], engines: tuple[str, ...], whole: bool) -> Iterator[Figure]:
    """The share of mistakes named at their line, that of nets called clean, and the seconds of each."""
    mistakes = sorted(name for name, mistake in ALL.items() if mistake.is_between(engines))
    clean = [name for name, path in names(FOLDERS).items() if is_clean(path, engines)]
    if chosen:
        mistakes = [name for name in mistakes if name in chosen]
        clean = [name for name in clean if name in chosen]
    elif not whole:
        mistakes = random.Random(0).sample(mistakes, MISTAKES_DRAWN)
        clean = random.Random(0).sample(clean, NETS_DRAWN)
    with Workers(TIMEOUT) as workers:
        if mistakes:
            yield from share("planted mistakes", "exact", tell_mistakes(mistakes, engines, workers))
        if clean:
            yield from share("nets without one", "clean", tell_clean(clean, engines, workers))


def share(what: str, wanted: str, told: Iterator[tuple[str, float]]) -> Iterator[Figure]:
    """How many of the verdicts are as wanted, and the seconds that one takes."""
    verdicts, seconds = zip(*told, strict=True)
    counts = Counter(verdicts)
    yield Figure(
        name=f"{what}: {wanted}",
        unit="%",
        basis="share",
        rounds=(100 * counts[wanted] / len(verdicts),),
        wanted="high",
        note=f"of {len(verdicts)}: {_counts(counts)}",
    )
    yield Figure(name=f"{what}: one", unit="s", basis="wall", rounds=seconds)


def tell_mistakes(
    mistakes: list[str], engines: tuple[str, ...], workers: Workers
) -> Iterator[tuple[str, float]]:
    """The verdict on what is named for each mistake, and its seconds."""
    with tempfile.TemporaryDirectory() as folder:
        for name in mistakes:
            start = time.perf_counter()
            planted = plant(ALL[name], Path(folder))
            told = tell(planted, engines, workers)
            yield told.verdict, time.perf_counter() - start
            detail(f"{told.verdict:12} {name}")
            if told.verdict != "exact":
                wanted = ", ".join(map(str, sorted(planted.lines)))
                detail(f"             lines {told.lines} for {wanted}: {told.sentence}")


def tell_clean(
    clean: list[str], engines: tuple[str, ...], workers: Workers
) -> Iterator[tuple[str, float]]:
    """The verdict on each net without a mistake, and its seconds."""
    for name in clean:
        start = time.perf_counter()
        verdict, accusation = accused(find(name), engines, workers)
        yield verdict, time.perf_counter() - start
        detail(f"{verdict:12} {name}  {accusation}".rstrip())


def is_clean(path: Path, engines: tuple[str, ...]) -> bool:
    """Whether a scenario has the nets of these engines, and no difference is its point."""
    text = path.read_text("utf-8")
    return has_nets(text, engines) and "EXPECTED_DIFFERENCES" not in text


def accused(path: Path, engines: tuple[str, ...], workers: Workers) -> tuple[str, str]:
    """Whether a net without a mistake is called clean, and else of what it is accused."""
    try:
        report = explore(load(path), workers, engines=engines, selection="main")
    except ExplorerError as error:
        return "refused", str(error)
    if not report.alignments:
        return "refused", "; ".join(map(why_no_graph, report.ungraphed.values()))
    accusations = [finding_sentence(finding) for finding in report.findings if finding.is_alarm]
    sentences = map(first_divergence, report.alignments)
    accusations.extend(filter(None, sentences))
    return ("accused", " ".join(accusations)) if accusations else ("clean", "")


def _counts(verdicts: Counter[str]) -> str:
    return ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common())


def options() -> argparse.Namespace:
    """What was typed."""
    known = parser(__doc__)
    known.add_argument("names", nargs="*", help="mistakes or nets; without, some that are drawn")
    known.add_argument("--all", action="store_true", help="all mistakes and nets")
    add_engines(known, TAPES)
    return known.parse_args()


if __name__ == "__main__":
    given = options()
    figures = measure(set(given.names), tuple(given.engines), given.all)
    sys.exit(present(figures, given.figures))
