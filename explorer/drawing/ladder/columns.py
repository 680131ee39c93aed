"""Sorts the nodes of a gradient graph into the columns of a ladder."""

from typing import Final, Literal

import msgspec

from explorer.model.graph import GradGraph, Node

ColumnName = Literal["leaves", "forward", "backward", "gradients"]

LEAF_KINDS: Final = frozenset({"input", "parameter", "constant"})
"""Kinds of the nodes that no operator computes."""


class Columns(msgspec.Struct, frozen=True):
    """The ids of the nodes in each column from left to right, in the graph's order.

    ``forward`` and ``backward`` are the two lanes, ``leaves`` and ``gradients`` the side columns.
    """

    leaves: list[str]
    forward: list[str]
    backward: list[str]
    gradients: list[str]

    def by_node(self) -> dict[str, ColumnName]:
        """The column of every node, keyed by id."""
        columns: dict[str, ColumnName] = {}
        columns.update(dict.fromkeys(self.leaves, "leaves"))
        columns.update(dict.fromkeys(self.forward, "forward"))
        columns.update(dict.fromkeys(self.backward, "backward"))
        columns.update(dict.fromkeys(self.gradients, "gradients"))
        return columns


def ladder_columns(graph: GradGraph) -> Columns:
    """The four columns of a ladder."""
    computed = {edge.target for edge in graph.edges}
    read = {edge.origin for edge in graph.edges}
    columns = Columns([], [], [], [])
    for node in graph.nodes:
        # A subgraph's own leaf, a leaf that is computed and a gradient that is read on are steps of
        # the computation: they stand in the lanes.
        if _is_leaf(node) and node.id not in computed:
            columns.leaves.append(node.id)
        elif node.phase == "forward":
            columns.forward.append(node.id)
        elif node.kind == "output" and node.id not in read:
            columns.gradients.append(node.id)
        else:
            columns.backward.append(node.id)
    return columns


def single_column(graph: GradGraph) -> Columns:
    """All nodes in one lane that runs down."""
    return Columns([], [node.id for node in graph.nodes], [], [])


def _is_leaf(node: Node) -> bool:
    # A backward constant is a seed, which stands where the backward begins.
    return node.phase == "forward" and node.kind in LEAF_KINDS and not node.body
