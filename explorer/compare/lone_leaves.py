"""What is tried where one graph alone has a leaf, such as a bias: its user computed with zeros instead."""

from typing import NamedTuple

from explorer.compare.related import does_the_same
from explorer.model.causes import InputChange, Trial
from explorer.model.divergence import LoneLeaf
from explorer.model.families import family
from explorer.model.graph import GradGraph, Node

FEW = 4
"""So many ops of the other side are compared that may be the user's counterpart, the nearest ones first."""


class WithoutLeaf(NamedTuple):
    """What reads a leaf, an op of the other side that may do the same without it, and the trial."""

    user: Node
    other: Node
    trial: Trial


def without_leaf(divergence: LoneLeaf, here: GradGraph, there: GradGraph) -> list[WithoutLeaf]:
    """The users of a leaf that the graph of ``here`` alone has, with zeros in its place."""
    leaf = divergence.nodes[0 if divergence.side == "left" else 1]
    nodes = here.by_id()
    found = []
    for edge in here.edges:
        user = nodes[edge.target]
        if edge.origin != leaf or edge.kind == "control" or user.kind != "op":
            continue
        zeros = InputChange((edge.input,), "zeroed", label=divergence.name)
        trial = Trial(user.id, inputs=(zeros,))
        found += [WithoutLeaf(user, other, trial) for other in _alike(here, user, there)]
    return found


def _alike(here: GradGraph, user: Node, there: GradGraph) -> list[Node]:
    """The ops of the other side that yield as much and do the same as a user, or as what it reads."""
    nodes = here.by_id()
    read = [nodes[edge.origin] for edge in here.edges if edge.target == user.id]
    families = {family(node.op) for node in (user, *read) if node.kind == "op"}
    shapes = [output.shape for output in user.outputs[:1]]
    alike = [
        node
        for node in there.nodes
        if node.kind == "op"
        and node.phase == user.phase
        and family(node.op) in families
        and [output.shape for output in node.outputs[:1]] == shapes
        # What an op of the user's kind reads may have its own value for the leaf there.
        and not does_the_same(there, node, user)
    ]
    return sorted(alike, key=lambda node: abs(node.order - user.order))[:FEW]
