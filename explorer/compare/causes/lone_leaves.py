"""What is tried where one graph alone has a leaf, such as a bias: its user computed with zeros instead."""

from typing import NamedTuple

from explorer.compare.causes.places import does_the_same, is_of_form
from explorer.compare.graphs.view import GraphView
from explorer.model.causes import InputChange, Trial
from explorer.model.divergence import LoneLeaf
from explorer.model.families import family
from explorer.model.graph import Node

FEW = 4
"""So many ops of the other side are compared that may be the user's counterpart, the nearest ones first."""


class WithoutLeaf(NamedTuple):
    """What reads a leaf, an op of the other side that may do the same without it, and the trial."""

    user: Node
    other: Node
    trial: Trial


def without_leaf(divergence: LoneLeaf, here: GraphView, there: GraphView) -> list[WithoutLeaf]:
    """The users of a leaf that the graph of ``here`` alone has, with zeros in its place."""
    leaf = divergence.nodes[0 if divergence.side == "left" else 1]
    found: list[WithoutLeaf] = []
    for edge in here.out_of(here.nodes[leaf]) if leaf else ():
        user = here.nodes[edge.target]
        if user.kind == "op":
            zeros = InputChange((edge.input,), "zeroed", label=divergence.name)
            trial = Trial(user.id, inputs=(zeros,))
            found += [WithoutLeaf(user, other, trial) for other in _alike(here, user, there)]
    return found


def _alike(here: GraphView, user: Node, there: GraphView) -> list[Node]:
    """The ops of the other side that yield as much and do the same as a user, or as what it reads."""
    read = [node for node in here.origins(user) if node.kind == "op"]
    families = {family(node.op) for node in (user, *read)}
    alike = []
    for node in there.graph.nodes:
        is_alike = is_of_form(node, user) and family(node.op) in families
        # What an op of the user's kind reads may have its own value for the leaf there.
        if is_alike and not does_the_same(there, node, user):
            alike.append(node)
    return sorted(alike, key=lambda node: abs(node.order - user.order))[:FEW]
