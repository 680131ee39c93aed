"""What is seen of a divergence: the ops of both sides, what these derive from, and what they read."""

from collections.abc import Iterator
from math import isfinite, isnan, nan
from typing import NamedTuple

from explorer.compare.causes.rows import at_place, rows_at
from explorer.compare.graphs.view import MOVES, GraphView
from explorer.model.alignment import Alignment
from explorer.model.causes import Cause
from explorer.model.divergence import Divergence, ExtraOps, Reading
from explorer.model.engines import engine_named, plain
from explorer.model.graph import Arguments, Layer, Node, Output, SideName
from explorer.operators.families import family, squashed


class Side(NamedTuple):
    """What one graph has at a divergence: its ``row`` of ops, none where it has no counterpart.

    ``forward`` is what they compute or differentiate: of a side without ops, the counterpart of the
    other side's. ``reads`` is what that reads, ``layer`` where it runs, without a name where that is in
    none, and ``arguments`` are those of the first op, and of what it derives from. ``names`` are the bare
    names and families of the ops, in backward of those that are differentiated; ``parties`` are the engine
    and its framework.
    """

    name: SideName
    flow: GraphView
    row: list[Node]
    forward: Node | None
    value: Reading
    parties: frozenset[str]
    names: frozenset[str]
    layer: Layer
    arguments: Arguments
    reads: list[Output]

    @property
    def size(self) -> float:
        """How large its number is that differs most; nan where that is not finite, or not known."""
        numbers = self.value.numbers
        return abs(numbers[0]) if numbers and all(map(isfinite, numbers)) else nan

    @property
    def is_nan(self) -> bool:
        """Whether what is read of it has a nan."""
        return any(map(isnan, self.value.numbers))

    def integers(self, name: str) -> tuple[int, ...]:
        """Of an argument the whole number, or those of a sequence."""
        value = self.arguments.get(name)
        values = value if isinstance(value, tuple) else (value,)
        return tuple(number for number in values if isinstance(number, int))

    def origins(self) -> Iterator[Node]:
        """What the ops read, and behind what only moves numbers also what that reads."""
        waiting = [origin for node in self.row for origin in self.flow.origins(node)]
        seen: set[str] = set()
        while waiting:
            node = waiting.pop()
            if node.id not in seen:
                seen.add(node.id)
                yield node
                if family(node.op) in MOVES | {"identity", "contiguous"}:
                    waiting += self.flow.origins(node)


Partners = dict[tuple[SideName, str], str]
"""The counterpart of each node, by its side and its id."""


class Context(NamedTuple):
    """A divergence, its cause where one is known, both sides, and which nodes are counterparts.

    The sides are in the order of a row's parties: where one is MindSpore's, it is the first.
    """

    divergence: Divergence
    cause: Cause | None
    ours: Side
    theirs: Side
    partners: Partners

    @property
    def sides(self) -> tuple[Side, Side]:
        """The side of the first party, and that of the second."""
        return self.ours, self.theirs

    @property
    def has_shapes(self) -> bool:
        """Whether the two values have other sizes."""
        return all(side.value.what == "shape" for side in self.sides)

    def changed(self, *names: str) -> tuple[float, ...]:
        """The op's own value of an argument and the one that gives the other side's, in order of size.

        Empty where the cause is not another number for one of these arguments.
        """
        change = self.cause.changed if self.cause else None
        if change is None or len(change.arguments) != 1:
            return ()
        ((name, other),) = change.arguments.items()
        own = change.own.get(name)
        if name not in names or not isinstance(own, float) or not isinstance(other, float):
            return ()
        return tuple(sorted((own, other)))


def contexts(
    alignment: Alignment,
    divergence: Divergence,
    cause: Cause | None,
    flows: tuple[GraphView, GraphView],
) -> tuple[Context, Context]:
    """What is seen of a divergence of two graphs, the left side first, and the same the other way round."""
    partners: Partners = {}
    for pair in alignment.pairs:
        for node in pair.members("left"):
            partners.setdefault(("left", node), pair.right)
        for node in pair.members("right"):
            partners.setdefault(("right", node), pair.left)
    rows = rows_at(divergence, *flows)
    if rows is None:
        # The op of each side; of one that has none in forward, what it goes on with.
        goes_on = None
        if isinstance(divergence, ExtraOps) and divergence.phase == "forward":
            goes_on = divergence.goes_on
        named = [
            flow.nodes.get(name or "") or (goes_on and at_place(flow, goes_on))
            for name, flow in zip(divergence.nodes, flows, strict=True)
        ]
        rows = ([named[0]] if named[0] else [], [named[1]] if named[1] else [])
    # In backward an op derives from another one; a side without an op has the counterpart of the other's.
    firsts = [row[0] if row else None for row in rows]
    forwards = [
        flow.nodes.get(first.forward or "") if first and first.phase == "backward" else first
        for first, flow in zip(firsts, flows, strict=True)
    ]
    names: tuple[SideName, SideName] = ("left", "right")
    sides = []
    for here, there in ((0, 1), (1, 0)):
        flow, row, forward, other = flows[here], rows[here], forwards[here], forwards[there]
        if forward is None and other is not None:
            forward = flow.nodes.get(partners.get((names[there], other.id), ""))
        nodes = [*row[:1], *([forward] if forward else [])]
        ops = [node.op for node in (row if forward is None or forward in row else (forward,))]
        side = Side(
            names[here],
            flow,
            row,
            forward,
            divergence.ends[here].value,
            parties=frozenset(
                (plain(flow.graph.engine), engine_named(flow.graph.engine).framework)
            ),
            names=frozenset((*map(squashed, ops), *map(family, ops))),
            layer=flow.graph.layers.get(nodes[0].scope if nodes else "", Layer("")),
            arguments={key: it for node in reversed(nodes) for key, it in node.arguments.items()},
            reads=list(flow.tensors(forward).values()) if forward else [],
        )
        sides.append(side)
    left, right = sides
    seen = Context(divergence, cause, left, right, partners)
    return seen, seen._replace(ours=right, theirs=left)
