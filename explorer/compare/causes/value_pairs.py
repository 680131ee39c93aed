"""Two recorded values of which one may follow from the other, and the cause that this is."""

from typing import NamedTuple

from explorer.compare.causes.relations import Found
from explorer.compare.causes.rooms import Room, noise_of, numbers_of, room_of
from explorer.compare.graphs.view import GraphView
from explorer.model.causes import Cause, Change, LeftOut
from explorer.model.graph import Layer, Node, Output, SideName


class ValuePair(NamedTuple):
    """Two values of which one may follow from the other.

    ``own`` is a node's of ``side``; ``target`` is the value that should follow, a node's of ``there``,
    or what an op makes of ``own``, in ``there`` too (``is_extra``: then both are one side's). With the name
    of a ``leaf``, it follows by that one alone; where it is ``rounded_to`` a dtype, by that; where both are
    ``inside`` two rows, as a softmax of other logits alone; where it ``is_masked``, as other elements masked.
    """

    side: SideName
    here: GraphView
    there: GraphView
    node: Node
    other: Node
    own: Output
    target: Output
    is_extra: bool = False
    leaf: str = ""
    rounded_to: str = ""
    inside: bool = False
    is_masked: bool = False


def cause_by(found: Found, ends: ValuePair, flows: tuple[GraphView, GraphView]) -> Cause:
    """A cause by a relation of two values."""
    change: Change = LeftOut(relation=found.relation) if ends.is_extra else found.relation
    here, there = flows if ends.side == "left" else flows[::-1]
    node = ends.other if ends.is_extra else ends.node
    layers: tuple[Layer | None, Layer | None] = (
        here.graph.layers.get(node.scope),
        None if ends.is_extra else there.graph.layers.get(ends.other.scope),
    )
    return Cause(
        side=ends.side,
        node=node.id,
        op=node.name or node.op,
        change=change,
        greatest=found.apart,
        noise=noise_of(ends.own, ends.target),
        layers=layers if ends.side == "left" else layers[::-1],
        tried=1,
    )


def are_same(node: Node, other: Node) -> bool:
    """Whether two values hold the same numbers in one order, in whichever shapes."""
    own, target = numbers_of(node.outputs[0]), numbers_of(other.outputs[0])
    if own is None or target is None or own.size != target.size:
        return False
    room = room_of(node.outputs[0], other.outputs[0])
    return Room(room.base).apart(own.ravel(), target.ravel()) is not None
