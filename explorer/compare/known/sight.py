"""What is seen of a divergence: the ops of both sides, what these derive from, and what they read."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from explorer.compare.causes.places import at_place, rows_at
from explorer.compare.graphs.view import MOVES, GraphView
from explorer.model.alignment import Alignment
from explorer.model.causes import Cause
from explorer.model.divergence import Divergence, ExtraOps, Reading
from explorer.model.engines import Framework, engine_named
from explorer.model.families import family, squashed
from explorer.model.graph import Layer, Node, Output, SideName


class Side(NamedTuple):
    """What one graph has at a divergence: its ``row`` of ops, none where it has no counterpart.

    ``forward`` is what they compute or differentiate: of a side without ops, the counterpart of the
    other side's. ``value`` is what is read of it.
    """

    name: SideName
    engine: str
    flow: GraphView
    row: tuple[Node, ...]
    forward: Node | None
    value: Reading

    @property
    def framework(self) -> Framework:
        """The framework of the engine."""
        return engine_named(self.engine).framework

    @property
    def node(self) -> Node | None:
        """The first op of the row."""
        return self.row[0] if self.row else None

    @property
    def names(self) -> frozenset[str]:
        """The bare names and the families of the ops, in backward those that are differentiated."""
        nodes = list(self.row)
        if self.forward is not None and self.forward not in nodes:
            nodes = [self.forward]
        ops = [node.op for node in nodes]
        return frozenset((*map(squashed, ops), *map(family, ops)))

    @property
    def layer(self) -> Layer:
        """The layer that they run in; one without a name where they run in none."""
        node = self.node or self.forward
        return self.flow.graph.layers.get(node.scope if node else "", Layer(""))

    def reads(self, node: Node | None = None) -> list[Output]:
        """The tensors that an op reads; those of the ``forward`` op where none is given."""
        node = node or self.forward
        return [] if node is None else list(self.flow.tensors(node).values())

    def argument(self, name: str) -> object:
        """The value of an argument of the first op, or of what it derives from; None without one."""
        for node in (self.node, self.forward):
            if node is not None and name in node.arguments:
                return node.arguments[name]
        return None

    def origins(self) -> Iterator[Node]:
        """What the ops read, and behind what only moves numbers also what that reads."""
        waiting = [origin for node in self.row for origin in self.flow.origins(node)]
        seen: set[str] = set()
        while waiting:
            node = waiting.pop()
            if node.id in seen:
                continue
            seen.add(node.id)
            yield node
            if family(node.op) in MOVES or family(node.op) in ("identity", "contiguous"):
                waiting += self.flow.origins(node)


class Sight(NamedTuple):
    """A divergence, its cause where one is known, both sides, and which nodes are counterparts."""

    divergence: Divergence
    cause: Cause | None
    sides: tuple[Side, Side]
    partners: dict[tuple[SideName, str], str]

    @property
    def turned(self) -> "Sight":
        """The same with the right side first."""
        return self._replace(sides=self.sides[::-1])

    def are_counterparts(self, node: Node, other: Node) -> bool:
        """Whether a node of the first side holds the same quantity as one of the second."""
        return self.partners.get((self.sides[0].name, node.id)) == other.id


def sight(
    alignment: Alignment,
    divergence: Divergence,
    cause: Cause | None,
    flows: tuple[GraphView, GraphView],
) -> Sight:
    """What is seen of a divergence of two graphs, the left side first."""
    partners: dict[tuple[SideName, str], str] = {}
    for pair in alignment.pairs:
        for node in pair.members("left"):
            partners.setdefault(("left", node), pair.right)
        for node in pair.members("right"):
            partners.setdefault(("right", node), pair.left)
    rows = _rows(divergence, flows)
    forwards = [_forward(row, flow) for row, flow in zip(rows, flows, strict=True)]
    names: tuple[SideName, SideName] = ("left", "right")
    sides = []
    for here, there in ((0, 1), (1, 0)):
        forward, other = forwards[here], forwards[there]
        if forward is None and other is not None:
            forward = flows[here].nodes.get(partners.get((names[there], other.id), ""))
        engine = flows[here].graph.engine
        value = divergence.ends[here].value
        sides.append(Side(names[here], engine, flows[here], rows[here], forward, value))
    return Sight(divergence, cause, (sides[0], sides[1]), partners)


def _rows(
    divergence: Divergence, flows: tuple[GraphView, GraphView]
) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    """The ops of both sides; one that has none at the divergence has what its forward goes on with."""
    known = rows_at(divergence, *flows)
    if known is not None:
        return tuple(known[0]), tuple(known[1])
    goes_on = None
    if isinstance(divergence, ExtraOps) and divergence.phase == "forward":
        goes_on = divergence.goes_on
    rows = []
    for node, flow in zip(divergence.nodes, flows, strict=True):
        found = flow.nodes.get(node or "")
        if found is None and goes_on is not None:
            found = at_place(flow, goes_on)
        rows.append((found,) if found else ())
    return rows[0], rows[1]


def _forward(row: tuple[Node, ...], flow: GraphView) -> Node | None:
    """What the first op of a row derives from in backward; the op itself in forward."""
    if not row:
        return None
    return flow.nodes.get(row[0].forward or "") if row[0].phase == "backward" else row[0]


Condition = Callable[[Sight], bool]
"""Whether something is true of a divergence."""


# What several conditions ask

CLOSE = 1e-5
"""How far two settings may be apart, relative to them, that were written as one."""


def has_shapes(sight: Sight) -> bool:
    """Whether the two values have other sizes."""
    return all(side.value.what == "shape" for side in sight.sides)


def integers(value: object) -> tuple[int, ...]:
    """An argument that is a whole number, or those of a sequence."""
    values = value if isinstance(value, tuple) else (value,)
    return tuple(number for number in values if isinstance(number, int))


def reads_negative(side: Side) -> bool:
    """Whether a side reads a number below 0."""
    return any(it.values and it.values.minimum < 0 for it in side.reads())
