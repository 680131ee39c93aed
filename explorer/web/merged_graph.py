"""A gradient graph with its modules merged, as the page shows it, and the alignment of two such."""

from collections import Counter

import msgspec

from explorer.drawing.collapse import collapse_with_ids
from explorer.model.alignment import Alignment, Pair, Unpaired
from explorer.model.graph import GradGraph


class MergedGraph(msgspec.Struct, frozen=True):
    """A graph in sight.

    ``home`` gives, for every node of the whole graph, the one that shows it; ``modules`` are the
    nodes in sight that show several.
    """

    graph: GradGraph
    home: dict[str, str]
    modules: frozenset[str]

    def apart(self, nodes: tuple[str, ...]) -> tuple[str, ...]:
        """The nodes of the whole graph that are not merged into a module, by the ids in sight."""
        homes = []
        for node in nodes:
            home = self.home[node]
            if home not in self.modules:
                homes.append(home)
        return tuple(homes)


def merged(graph: GradGraph, depth: int | None) -> MergedGraph:
    """The graph merged to ``depth`` parts of the module path; None leaves every op apart."""
    if depth is None:
        return MergedGraph(graph, {node.id: node.id for node in graph.nodes}, frozenset())
    collapsed, home = collapse_with_ids(graph, depth)
    sizes = Counter(home.values())
    modules = frozenset(node for node, size in sizes.items() if size > 1)
    return MergedGraph(collapsed, home, modules)


def merged_alignment(alignment: Alignment, left: MergedGraph, right: MergedGraph) -> Alignment:
    """The alignment in the ids of what is in sight.

    Pairs of nodes inside merged modules pair the modules, each once, under the least number.
    """
    # The first pair between two modules stands for all of them.
    pairs: dict[tuple[str, str], Pair] = {}
    for pair in sorted(alignment.pairs, key=lambda pair: pair.number):
        homes = (left.home[pair.left], right.home[pair.right])
        pairs.setdefault(homes, _merged_pair(pair, left, right))
    unpaired = [_merged_unpaired(node, left, right) for node in alignment.unpaired]
    return msgspec.structs.replace(alignment, pairs=tuple(pairs.values()), unpaired=tuple(unpaired))


def _merged_pair(pair: Pair, left: MergedGraph, right: MergedGraph) -> Pair:
    return msgspec.structs.replace(
        pair,
        left=left.home[pair.left],
        right=right.home[pair.right],
        left_within=left.apart(pair.left_within),
        right_within=right.apart(pair.right_within),
    )


def _merged_unpaired(unpaired: Unpaired, left: MergedGraph, right: MergedGraph) -> Unpaired:
    side = left if unpaired.side == "left" else right
    return msgspec.structs.replace(unpaired, node=side.home[unpaired.node])
