"""Whether any value of a captured graph can be changed without the alignment saying so.

Changes, in the graphs of two engines at a time, the value of one op node after another by a hundredth,
everything else as it was, and counts the changes that are told; says on stderr which are not.
"""

import argparse
import sys
from collections.abc import Iterator
from itertools import combinations

from benchmarks._figures import Figure
from benchmarks._presenting import detail, parser, present
from explorer.exploration.explore import explore
from explorer.model.engines import ENGINES
from explorer.model.graph import GradGraph
from explorer.scenario.find import find, names
from explorer.scenario.load import load
from explorer.workers.workers import Workers
from tests.support.changed_values import changes

NAMES = ("dense_mse", "attention_block", "in_place_update")
"""The scenarios where none are named."""

LARGEST = 120
"""Nodes of a graph beyond which a scenario is left out: each change is an alignment of its own."""


def measure(chosen: list[str]) -> Iterator[Figure]:
    """The share of changes that are told, a scenario after the other, and in all."""
    told = changed = 0
    with Workers() as workers:
        for name in chosen:
            counts = counted(name, workers)
            told, changed = told + counts[0], changed + counts[1]
            yield share(name, *counts)
    yield share("in all", told, changed)


def counted(name: str, workers: Workers) -> tuple[int, int]:
    """The changes to a scenario's graphs that are told, and all of them."""
    told = changed = 0
    report = explore(load(find(name)), workers, selection="main")
    last = {graph.engine: graph for graph in report.graphs}
    for one, other in combinations(filter(last.__contains__, ENGINES), 2):
        silent = _silent(last[one], last[other])
        if silent is None:
            detail(f"{name}: {one} · {other}: left out, too large")
            continue
        count, nodes = silent
        told += count - len(nodes)
        changed += count
        for node in nodes:
            detail(f"{name}: {one} · {other}: not told: {node}")
    return told, changed


def share(name: str, told: int, changed: int) -> Figure:
    """The share of changes that are told."""
    return Figure(
        name=f"{name}: changed values told",
        unit="%",
        basis="share",
        rounds=(100 * told / changed,) if changed else (),
        wanted="high",
        note=f"{told} of {changed}",
    )


def _silent(left: GradGraph, right: GradGraph) -> tuple[int, list[str]] | None:
    """How many changes were made, and those not told; None where the graphs are too large."""
    if max(len(left.nodes), len(right.nodes)) > LARGEST:
        return None
    count, nodes = 0, []
    for side, node, is_told in changes(left, right):
        count += 1
        if not is_told:
            nodes.append(f"{node.id} {node.op} ({side})")
    return count, nodes


def options() -> argparse.Namespace:
    """What was typed."""
    known = parser(__doc__)
    known.add_argument("names", nargs="*", default=NAMES, help="scenarios")
    known.add_argument("--all", action="store_true", help="every scenario of scenarios/")
    return known.parse_args()


if __name__ == "__main__":
    given = options()
    sys.exit(present(measure(list(names()) if given.all else given.names), given.figures))
