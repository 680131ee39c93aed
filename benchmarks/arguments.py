"""How many op nodes say what the op takes beside tensors, and how much longer a graph's record is for it.

Of each scenario the graphs of the case that asks for most, on all four engines.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator

import msgspec

from benchmarks._figures import Figure, absent
from benchmarks._presenting import detail, parser, present
from benchmarks.proofs import NAMES, capture, requests
from explorer.model.errors import ExplorerError
from explorer.model.graph import GradGraph
from explorer.scenario.find import SHIPPED, names
from explorer.workers.workers import Workers


def without_arguments(graph: GradGraph) -> GradGraph:
    """A graph as it would be if nodes and layers said nothing of arguments."""
    nodes = [msgspec.structs.replace(node, arguments={}) for node in graph.nodes]
    return msgspec.structs.replace(graph, nodes=tuple(nodes), layers={})


def counted(name: str, graph: GradGraph) -> Counter[str]:
    """The op nodes of a graph, those whose arguments are known, and the letters of its JSON."""
    ops = [node for node in graph.nodes if node.kind == "op"]
    absences = [node.missing["arguments"] for node in ops if "arguments" in node.missing]
    known = len(ops) - len(absences)
    detail(f"{name} {graph.engine}: arguments of {known} of {len(ops)} op nodes")
    for absence, number in Counter(absences).items():
        detail(f"    {number} missing: {absence.kind} {absence.detail}")
    return Counter(
        op=len(ops),
        known=known,
        letters=len(msgspec.json.encode(graph)),
        letters_without=len(msgspec.json.encode(without_arguments(graph))),
    )


def measure(chosen: list[str]) -> Iterator[Figure]:
    """The share of op nodes by engine, and by how much JSON grows."""
    totals: dict[str, Counter[str]] = {}
    with Workers() as workers:
        for name in chosen:
            error = count(name, workers, totals)
            if error:
                yield absent(name, "share", error)
    for engine, counts in totals.items():
        yield share(engine, counts)
    if totals:
        yield share("all engines", sum(totals.values(), Counter()))


def count(name: str, workers: Workers, totals: dict[str, Counter[str]]) -> str:
    """Add what the graphs of a scenario have to the totals by engine; "", or why there are none."""
    try:
        for request in requests(name, workers):
            captured, _ = capture(request, workers, "none")
            for graph in captured.graphs[-1:]:
                totals.setdefault(graph.engine, Counter()).update(counted(name, graph))
    except ExplorerError as error:
        return str(error).splitlines()[0]
    return ""


def share(name: str, counts: Counter[str]) -> Figure:
    """The share of op nodes whose arguments are known."""
    grown = counts["letters"] / max(1, counts["letters_without"]) - 1
    return Figure(
        name=f"{name}: op nodes with arguments",
        unit="%",
        basis="share",
        rounds=(100 * counts["known"] / max(1, counts["op"]),),
        wanted="high",
        note=f"{counts['known']} of {counts['op']}; JSON grows by {grown:.1%}",
    )


def options() -> argparse.Namespace:
    """What was typed."""
    known = parser(__doc__)
    known.add_argument("names", nargs="*", default=NAMES, help="scenarios or files")
    known.add_argument("--all", action="store_true", help="every shipped scenario")
    return known.parse_args()


if __name__ == "__main__":
    given = options()
    sys.exit(present(measure(list(names(SHIPPED)) if given.all else given.names), given.figures))
