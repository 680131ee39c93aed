"""Two recorded values of which one may follow from the other, and the cause that this is."""

from typing import NamedTuple

from explorer.compare.causes.relations import FINDERS, Finders, Found
from explorer.compare.graphs.sameness import Sameness, noise_of, numbers_of, room_of
from explorer.compare.graphs.view import GraphView
from explorer.model.causes import Cause, RemoveOperator
from explorer.model.graph import Layer, Node, Output, SideName


class ValuePair(NamedTuple):
    """The first values of two nodes, of which that of ``other`` may follow from that of ``node``.

    ``node`` is one of ``side``, and ``other`` one of ``there``; or of the same side, which alone has it
    (``is_extra``). How it may follow is what the ``finders`` look for; with a ``name``, by that alone. Of a
    leaf that is cut, the ``part`` that is read has the value.
    """

    side: SideName
    here: GraphView
    there: GraphView
    node: Node
    other: Node
    is_extra: bool = False
    finders: Finders = FINDERS
    name: str = ""
    part: Node | None = None

    @property
    def own(self) -> Output:
        """The value from which the other one may follow."""
        return (self.part or self.node).outputs[0]

    @property
    def target(self) -> Output:
        """The value that may follow."""
        return self.other.outputs[0]


def cause_by(found: Found, pair: ValuePair) -> Cause:
    """That the second of two values follows from the first one, as a cause."""
    node = pair.other if pair.is_extra else pair.node
    layers: tuple[Layer | None, Layer | None] = (
        pair.here.graph.layers.get(node.scope),
        None if pair.is_extra else pair.there.graph.layers.get(pair.other.scope),
    )
    return Cause(
        side=pair.side,
        node=node.id,
        op=node.name or node.op,
        edits=(RemoveOperator(), *found.edits) if pair.is_extra else found.edits,
        proven="recorded_values",
        greatest=found.apart,
        noise=noise_of(pair.own, pair.target),
        layers=layers if pair.side == "left" else layers[::-1],
        tried=1,
    )


def are_same(node: Node, other: Node) -> bool:
    """Whether two values hold the same numbers in one order, in whichever shapes."""
    own, target = numbers_of(node.outputs[0]), numbers_of(other.outputs[0])
    if own is None or target is None or own.size != target.size:
        return False
    room = room_of(node.outputs[0], other.outputs[0])
    return Sameness(room.base).apart(own.ravel(), target.ravel()) is not None
