"""Whether any value of a captured graph can be changed without the alignment saying so.

``python -m benchmarks.changed_values [NAME …]`` changes, in the graphs of two engines at a time, the
value of one op node after another by a hundredth, everything else as it was; it prints how many of
the changes are told, and which are not.
"""

import sys
import time
from itertools import combinations

from explorer.exploration.explore import explore
from explorer.model.engines import ENGINES
from explorer.model.graph import GradGraph
from explorer.scenario.find import find, names
from explorer.scenario.load import load
from explorer.workers.workers import Workers
from tests.support.changed_values import changes

LARGEST = 120
"""Nodes of a graph beyond which a scenario is left out: each change is an alignment of its own."""


def main() -> None:
    """Print a line for each scenario and pair of engines, and the totals."""
    start = time.perf_counter()
    told = untold = 0
    with Workers() as workers:
        for name in sys.argv[1:] or names():
            report = explore(load(find(name)), workers, selection="main")
            last = {graph.engine: graph for graph in report.graphs}
            for one, other in combinations(filter(last.__contains__, ENGINES), 2):
                silent = _silent(last[one], last[other])
                if silent is None:
                    print(f"{name}: {one} · {other}: left out, too large", flush=True)
                    continue
                count, nodes = silent
                told += count - len(nodes)
                untold += len(nodes)
                print(f"{name}: {one} · {other}: {count - len(nodes)} of {count} told", flush=True)
                for node in nodes:
                    print(f"    not told: {node}")
    print(f"{told} of {told + untold} changes told; {time.perf_counter() - start:.0f} s")


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


if __name__ == "__main__":
    main()
