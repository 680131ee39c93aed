"""Runs every environment that `explorer env` knows, and writes what is seen into docs/reference/versions.md.

Each version of PyTorch is compared with each of MindSpore on some nets. On each version claims are judged,
gradients at kinks computed, and the programs of the surprises run. What is stored is not run again, but for
the programs. Half an hour for six versions of one framework and four of the other; NAMES of scenarios take
the place of the default ones.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

# Run as a file, as the Makefile does, Python looks for modules in this folder alone.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from packaging.version import Version
from surprises_by_version import facts as surprise_facts

from explorer.blocks.markdown import page as markdown_page
from explorer.blocks.records import Block, Paragraph, Row, Section, Table, columns
from explorer.exploration.options import Wanted
from explorer.exploration.stored import explored
from explorer.model.claim import Tried
from explorer.model.engines import FRAMEWORK_LABELS, Framework, placed
from explorer.model.errors import ExplorerError
from explorer.model.report import Report
from explorer.report.claims.versions import versions_blocks
from explorer.report.recorded.results import VERSIONS_FILE
from explorer.scenario.find import find
from explorer.scenario.load import load
from explorer.store.store import Store
from explorer.topics import claims
from explorer.topics.version_boards import version_board, versions_there
from explorer.words.proofs import last_stages, proofs
from explorer.workers.workers import Workers

PAGE = Path(__file__).parent / "reference" / "versions.md"

NAMES = ("dense_mse", "attention_block", "batch_norm_train", "lstm", "kinks")
"""The scenarios that are compared where none are named."""

STYLES = ("tape", "graph")
SECONDS = 300.0


def engines(tried: Tried) -> tuple[str, ...]:
    """The engines of a version."""
    return tuple(placed(f"{tried.framework}-{style}", tried.environment) for style in STYLES)


def seen(report: Report, engine: str) -> Counter[str]:
    """What an engine gave: answers, graphs, values of op nodes, and what the proofs say of them."""
    found: Counter[str] = Counter()
    for case in report.cases:
        result = case.results.get(engine)
        found["asked"] += 1
        found["answers"] += result is not None and result.outcome == "ok"
    for graph in last_stages(report.graphs):
        if graph.engine == engine:
            counts = proofs(graph)
            found["graphs"] += 1
            found.update(nodes=counts.op_nodes, proven=counts.proven, wrong=len(counts.refuted))
    return found


def compared(one: Tried, other: Tried, names: Iterable[str]) -> Iterator[tuple[str, Report | str]]:
    """The reports on some scenarios by two versions, or why there is none."""
    store = Store()
    wanted = Wanted(engines=(*engines(one), *engines(other)), selection="structure", prove="all")
    with Workers(SECONDS) as workers:
        for name in names:
            yield name, _report(name, wanted, workers, store)


def _report(name: str, wanted: Wanted, workers: Workers, store: Store) -> Report | str:
    try:
        return explored(load(find(name)), wanted, workers, store)
    except ExplorerError as error:
        return str(error)


def matrix(names: tuple[str, ...]) -> Iterator[Block]:
    """A table of pairs, and one of what each engine of each version gave."""
    tried = versions_there()
    mindspore = [each for each in tried if each.framework == "mindspore"]
    torch = [each for each in tried if each.framework == "torch"]
    totals: dict[str, Counter[str]] = {}
    rows: list[Row] = []
    for one in torch:
        cells = []
        for other in mindspore:
            verdicts: Counter[str] = Counter()
            for name, report in compared(one, other, names):
                if isinstance(report, str):
                    print(f"{one.version} x {other.version} {name}: {report}", file=sys.stderr)
                    verdicts["not run"] += 1
                    continue
                verdicts.update(case.verdict for case in report.cases)
                for of in (one, other):
                    for engine in engines(of):
                        label = _label(of.framework, of.version, engine)
                        totals.setdefault(label, Counter()).update(seen(report, engine))
            cells.append(", ".join(f"{n} {verdict}" for verdict, n in verdicts.most_common()))
            print(f"torch {one.version} x mindspore {other.version}: {cells[-1]}", flush=True)
        rows.append((one.version, *cells))
    heads = ("PyTorch", *(f"MindSpore {each.version}" for each in mindspore))
    shown = ", ".join(f"`{name}`" for name in names)
    text = f"Verdicts on the cases of {shown}, each with the engines of both versions."
    yield Section("Pairs of versions", (Paragraph(text), Table(columns(heads), tuple(rows))))
    given = Table(
        columns(HEADS), tuple(_row(label, totals[label]) for label in sorted(totals, key=_order))
    )
    yield Section("What each version gives", (Paragraph(SUMMED), given))


SUMMED = (
    "Summed over all pairs. A wrong value is one that its op does not give when it is computed again from"
    " its recorded inputs."
)


HEADS = ("engine", "answers", "graphs", "values of op nodes proven", "wrong values")


def _label(framework: Framework, version: str, engine: str) -> str:
    style = "graph" if "-graph" in engine else "tape"
    return f"{FRAMEWORK_LABELS[framework]} {version}, {style}"


def _order(label: str) -> tuple[str, Version, str]:
    name, version, style = label.split()
    return name, Version(version.rstrip(",")), style


def _row(label: str, counts: Counter[str]) -> Row:
    answers = f"{counts['answers']} of {counts['asked']}"
    proven = f"{counts['proven']} of {counts['nodes']}"
    return label, answers, str(counts["graphs"]), proven, str(counts["wrong"])


def main() -> int:
    """Run everything, and write the page and the recorded board."""
    known = argparse.ArgumentParser(description=__doc__)
    known.add_argument("names", nargs="*", metavar="NAMES")
    known.add_argument(
        "--no-claims", action="store_true", help="leave the claims as they are recorded"
    )
    typed = known.parse_args()
    blocks: list[Block] = [Section("Versions", (Paragraph(INTRODUCTION),), 1)]
    blocks += matrix(tuple(typed.names) or NAMES)
    if not typed.no_claims:
        tried = versions_there()
        board = version_board(tuple(claims().values()), tried, SECONDS, store=Store())
        board = msgspec.structs.replace(board, facts=(*board.facts, *surprise_facts(tried)))
        VERSIONS_FILE.write_bytes(msgspec.json.format(msgspec.json.encode(board)) + b"\n")
        blocks.append(Section("Claims", tuple(versions_blocks(board))))
    PAGE.write_text(markdown_page(blocks), encoding="utf-8")
    print(f"wrote {PAGE}")
    return 0


INTRODUCTION = (
    "What was seen with other versions of the frameworks than the pinned ones. Written by `make versions`"
    " from the environments that `explorer env list` has."
)


if __name__ == "__main__":
    sys.exit(main())
