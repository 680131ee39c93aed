"""A gradient graph as the page shows it: its modules merged to a depth, and the alignment said of
what is in sight.
"""

from collections import Counter

import msgspec

from explorer.drawing.collapse import collapse_named
from explorer.model.alignment import Alignment, SideName
from explorer.model.graph import GradGraph


class Shown(msgspec.Struct, frozen=True):
    """A graph in sight, and for every node of the whole graph the id of the node that stands for
    it.
    """

    graph: GradGraph
    home: dict[str, str]

    @staticmethod
    def of(graph: GradGraph, depth: int | None) -> "Shown":
        """The graph merged to ``depth`` parts of the module path; None leaves every op apart."""
        if depth is None:
            return Shown(graph, {node.id: node.id for node in graph.nodes})
        return Shown(*collapse_named(graph, depth))


def translated(alignment: Alignment, left: Shown, right: Shown) -> Alignment:
    """The alignment in the ids of what is in sight: pairs of nodes inside merged modules pair the
    modules, each once.
    """
    pairs = {
        (left.home[pair.left], right.home[pair.right]): pair for pair in reversed(alignment.pairs)
    }
    homes = {"left": left.home, "right": right.home}
    held = {"left": Counter(left.home.values()), "right": Counter(right.home.values())}

    def apart(side: SideName, steps: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(homes[side][step] for step in steps if held[side][homes[side][step]] == 1)

    return msgspec.structs.replace(
        alignment,
        pairs=tuple(
            msgspec.structs.replace(
                pair,
                left=one,
                right=other,
                left_within=apart("left", pair.left_within),
                right_within=apart("right", pair.right_within),
            )
            for (one, other), pair in sorted(pairs.items(), key=lambda item: item[1].number)
        ),
        unpaired=tuple(
            msgspec.structs.replace(each, node=homes[each.side][each.node])
            for each in alignment.unpaired
        ),
    )
