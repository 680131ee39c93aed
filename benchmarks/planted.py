"""How many planted mistakes the explorer names, and at which line.

``python -m benchmarks.planted [--graphs] [NAME …]`` plants each mistake of ``tests/planted`` in its
net, compares the tapes (or the graphs), and prints what is named; then every net without a mistake,
which must name nothing.
"""

import argparse
import tempfile
import time
from collections import Counter
from pathlib import Path

from explorer.exploration.explore import explore
from explorer.model.errors import ExplorerError
from explorer.scenario.find import REAL, names
from explorer.scenario.load import load
from explorer.workers.workers import Workers
from tests.planted.mistake import plant
from tests.planted.mistakes import MISTAKES
from tests.planted.naming import GRAPHS, TAPES, tell

TIMEOUT = 300.0


def main() -> None:
    """Print a line for each mistake and each clean net, and the totals."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="mistakes or nets; all without")
    parser.add_argument("--graphs", action="store_true", help="the graphs instead of the tapes")
    arguments = parser.parse_args()
    engines = GRAPHS if arguments.graphs else TAPES
    chosen = set(arguments.names)

    start = time.perf_counter()
    with Workers(TIMEOUT) as workers:
        mistakes = [name for name in MISTAKES if not chosen or name in chosen]
        clean = [name for name in names((REAL,)) if not chosen or name in chosen]
        verdicts = tell_mistakes(mistakes, engines, workers)
        clean_verdicts = tell_clean(clean, engines, workers)
    print(f"{len(mistakes)} mistakes: {_counts(verdicts)}")
    print(f"{len(clean)} clean nets: {_counts(clean_verdicts)}")
    print(f"{time.perf_counter() - start:.0f} s")


def tell_mistakes(mistakes: list[str], engines: tuple[str, ...], workers: Workers) -> Counter[str]:
    """Print what is named for each mistake; the number of each verdict."""
    verdicts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for name in mistakes:
            planted = plant(MISTAKES[name], Path(folder))
            told = tell(planted, engines, workers)
            verdicts[told.verdict] += 1
            print(f"{told.verdict:12} {name}", flush=True)
            if told.verdict != "exact":
                wanted = ", ".join(map(str, sorted(planted.lines)))
                print(f"             lines {told.lines} for {wanted}: {told.sentence}", flush=True)
    return verdicts


def tell_clean(clean: list[str], engines: tuple[str, ...], workers: Workers) -> Counter[str]:
    """Print what is named in each net without a mistake; the number of clean ones and others."""
    verdicts: Counter[str] = Counter()
    for name in clean:
        verdict, accusation = accused(REAL / f"{name}.py", engines, workers)
        verdicts[verdict] += 1
        print(f"{verdict:12} {name}  {accusation}".rstrip(), flush=True)
    return verdicts


def accused(path: Path, engines: tuple[str, ...], workers: Workers) -> tuple[str, str]:
    """Whether a net without a mistake is called clean, and else of what it is accused."""
    try:
        report = explore(load(path), workers, engines=engines, selection="main")
    except ExplorerError as error:
        return "refused", str(error)
    if not report.alignments:
        return "refused", "; ".join(report.ungraphed.values())
    accusations = [finding.sentence for finding in report.findings if finding.is_alarm]
    divergences = [alignment.divergence for alignment in report.alignments]
    accusations.extend(divergence.sentence for divergence in divergences if divergence)
    return ("accused", " ".join(accusations)) if accusations else ("clean", "")


def _counts(verdicts: Counter[str]) -> str:
    return ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common())


if __name__ == "__main__":
    main()
