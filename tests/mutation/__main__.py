"""``python -m tests.mutation --area align --sample 60`` makes small changes and counts what notices.

It writes out/mutants/AREA.md: each survivor with its line, before and after. The exit code is 1 where
fewer mutants are noticed than the area asks for.
"""

import argparse
import random
import sys
from collections import Counter
from pathlib import Path

from tests.mutation.areas import AREAS, ROOT, Area
from tests.mutation.equivalent import why_equivalent
from tests.mutation.mutators import Mutant, count, mutants
from tests.mutation.running import KEPT, base, check, run

SAMPLE = 60

NOTICED = ("killed", "broken", "timed out")
"""What becomes of a mutant that the tests notice."""


def main() -> int:
    """Runs a sample of the mutants of one area, or of all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--area", choices=[*AREAS, "all"], default="all")
    parser.add_argument("--sample", type=int, default=SAMPLE, help="mutants an area; 0 for all")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--jobs", type=int, default=2, help="mutants that are run side by side")
    parser.add_argument("--file", default="", help="files of the area whose path holds this, alone")
    arguments = parser.parse_args()
    names = list(AREAS) if arguments.area == "all" else [arguments.area]
    short = [name for name in names if not noticed_enough(name, arguments)]
    if short:
        print(f"too few are noticed in: {', '.join(short)}", file=sys.stderr)
    return 1 if short else 0


def noticed_enough(name: str, arguments: argparse.Namespace) -> bool:
    """Runs the sample of one area, and says whether its tests notice as many as they must."""
    area = AREAS[name]
    chosen = sampled(area, arguments.sample, arguments.seed, arguments.file)
    outcomes: list[tuple[Mutant, str, str]] = []
    known = base(area)
    check(chosen, known, area)
    for mutant, outcome in run(chosen, known, area, arguments.jobs):
        why = "" if outcome in NOTICED else why_equivalent(mutant)
        outcomes.append((mutant, "equivalent" if why else outcome, why))
        if outcome not in NOTICED and not why:
            print(f"{outcome:10} {mutant.label}")
            print(f"  - {mutant.before}\n  + {mutant.after}", flush=True)
    counts = Counter(outcome for _, outcome, _ in outcomes)
    noticed = sum(counts[outcome] for outcome in NOTICED)
    judged = len(outcomes) - counts["equivalent"]
    share = noticed / judged if judged else 1.0
    summary = (
        f"{name}: {noticed} of {judged} noticed, {share:.0%} (at least {area.least:.0%};"
        f" {counts['broken']} on import, {counts['timed out']} by running too long,"
        f" {counts['equivalent']} equivalent beside)"
    )
    print(summary)
    write(name, summary, outcomes)
    return share >= area.least


def sampled(area: Area, sample: int, seed: int, part: str) -> list[tuple[Mutant, str]]:
    """Mutants of an area with their texts: a seeded sample, or all of them."""
    places: list[tuple[Path, int]] = []
    for path in area.paths():
        if part in str(path):
            places += [(path, number) for number in range(count(ROOT / path))]
    if sample and sample < len(places):
        places = random.Random(seed).sample(places, sample)
    by_path: dict[Path, set[int]] = {}
    for path, number in places:
        by_path.setdefault(path, set()).add(number)
    chosen = []
    for path, numbers in sorted(by_path.items()):
        for mutant, text in mutants(ROOT / path, numbers):
            chosen.append((mutant._replace(path=path), text))
    return chosen


def write(name: str, summary: str, outcomes: list[tuple[Mutant, str, str]]) -> None:
    """Writes the report of one area."""
    lines = [f"# Mutants of {name}", "", summary, ""]
    for mutant, outcome, why in outcomes:
        if outcome in NOTICED:
            continue
        lines += [f"- {mutant.label}: {outcome}{f', {why}' if why else ''}"]
        lines += [f"  - `{mutant.before}`", f"  - `{mutant.after}`"]
    (KEPT / f"{name}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
