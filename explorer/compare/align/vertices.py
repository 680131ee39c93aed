"""The two graphs as the aligner walks them: nodes in execution order, and what they hold."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf, nan, prod

import msgspec

from explorer.compare.graphs.sameness import elements
from explorer.compare.graphs.view import GraphView, reach
from explorer.model.arrays import Array, Summary
from explorer.model.graph import GradGraph, Node, Phase, SideName, is_users
from explorer.numeric.differences import Floats
from explorer.operators.families import BOOKKEEPING, family


@dataclass(eq=False, slots=True)
class Bucket:
    """Numbers that values of either side hold, bit for bit the same whatever their layout.

    ``figures`` do not depend on layout; ``elements`` are sorted, and None unless all are known. ``unit`` is
    the relative error of rounding to the dtype of each value, ``coarseness`` the greatest of theirs, and so
    is ``noise``, which is NaN where none was measured; ``noisiest`` is the value that it is of. ``scale`` is
    the magnitude that rounding is relative to. A bucket that ``is_plain`` holds one number over and over, so
    that equality says little; it ``is_distinctive`` all the same when that is a single number other than 0
    and ±1. ``near`` are the buckets that agree within tolerance, itself first, each with the greatest
    distance of their figures relative to the scale.
    """

    figures: list[float]
    elements: Floats | None
    unit: float
    coarseness: float = 0.0
    noise: float = nan
    noisiest: "OutputValue | None" = None
    scale: float = 0.0
    is_plain: bool = False
    is_distinctive: bool = False
    near: dict["Bucket", float] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self.near[self] = 0.0


@dataclass(eq=False, slots=True)
class OutputValue:
    """The value of one output of a node.

    ``summary`` is None where the value was not observed, ``bucket`` also where it has no elements.
    ``noise`` is how far it moves under rounding, None where that was not measured, and ``levels``
    how far each example does where some move far less. A value that ``is_taken`` is in a pair.
    """

    node: "Vertex"
    output: int
    shape: tuple[int, ...] = ()
    summary: Summary | None = None
    noise: float | None = None
    levels: tuple[float, ...] = ()
    bucket: Bucket | None = None
    is_taken: bool = False

    @property
    def size(self) -> int:
        """The number of its elements."""
        return prod(self.shape)

    @property
    def dtype(self) -> str:
        """Its dtype; "" where the record does not list it."""
        outputs = self.node.record.outputs
        return outputs[self.output].dtype if self.output < len(outputs) else ""

    @property
    def whole(self) -> Array | None:
        """All its elements, where they are known."""
        return self.summary.whole if self.summary else None

    @property
    def numbers(self) -> Floats | None:
        """All its elements in C order, where they are known."""
        return None if self.whole is None else elements(self.whole)

    @property
    def finite_numbers(self) -> Floats | None:
        """All its elements in C order, where they are known and finite."""
        return None if self.summary is None or self.summary.nonfinite else self.numbers

    @property
    def is_main(self) -> bool:
        """Whether it stands for its node."""
        return self is self.node.value

    @property
    def is_distinctive(self) -> bool:
        """Whether it could hardly be equal to another by chance."""
        return self.bucket is not None and self.bucket.is_distinctive

    @property
    def varies(self) -> bool:
        """Whether it holds more than one number over and over."""
        return self.bucket is not None and not self.bucket.is_plain

    @property
    def only_number(self) -> float:
        """The number that it holds over and over; NaN where it holds several, or is not known."""
        known = self.summary
        is_one = known and not known.nonfinite and known.minimum == known.maximum
        return known.minimum if known and is_one else nan

    @property
    def near(self) -> dict[Bucket, float]:
        """The buckets that agree with it, its own first; none where it was not observed."""
        return {} if self.bucket is None else self.bucket.near

    def is_within(self, limit: float) -> bool:
        """Whether all its elements are known to be finite and within ``limit`` of zero."""
        known = self.summary
        if known is None or known.nonfinite:
            return False
        return max(-known.minimum, known.maximum) <= limit

    def agrees(self, other: "OutputValue") -> bool | None:
        """Whether two values are the same numbers up to layout; None when one was not observed."""
        if self.bucket is None or other.bucket is None:
            return None
        return other.bucket in self.near

    def distance(self, other: "OutputValue") -> float:
        """The distance of two values that agree, relative to their scale."""
        return inf if self.bucket is None or other.bucket is None else self.near[other.bucket]


class Vertex:
    """A node of one side: what its record says, its place in the graph, and what the search found.

    ``values`` are what its outputs hold; ``main`` is the first that was observed, an index only where
    there is nothing else, and ``value`` is ``main`` or else the first. ``inputs`` are the values that the
    node reads, in slot order, ``feeders`` the nodes that hold them, and ``work_read`` those of its own phase
    that compute something; ``consumers`` are the nodes that read its own values, in execution order, of
    which ``rank`` is the place, and ``users_in_phase`` those of its own phase.

    A node ``is_leaf`` that is an input or a parameter, ``is_result`` that stands for an output of the net or
    for a gradient, ``is_work`` that computes something, and ``is_bookkeeping`` that makes no new numbers.

    ``source`` is the user's line that the node stands on, ``line`` that in its module and phase, ``caller``
    the one of its ``callers`` that called what holds that line; "" where there is none. ``origin`` is the
    node whose numbers this one passes on in another shape or dtype, or itself; ``users`` are the first few
    nodes that compute with its numbers, or with what passes these on.
    ``coarseness`` is the greatest relative rounding error on the way to the node. ``step`` is the
    place among those of its side that are needed. A node ``is_needed`` unless it is in forward and
    no result depends on it.

    ``partner`` is the node of the other side that holds the same quantity, and a node ``is_agreed``
    when that is its main value. ``counterpart``, of an origin, is the origin of the same numbers on
    the other side. A leaf that ``is_reserved`` pairs by its name or not at all; one that
    ``is_packed``, and its gradient, is held in other pieces on the other side. A node that
    ``is_refuted`` never pairs: its recorded values are not what its op yields, and count as not
    observed. ``steps`` lead to this node and are taken by its partner inside itself; ``host`` is
    the node of the same side in whose pair this one takes part, as such a step or beside a further
    output.
    """

    def __init__(self, side: "Side", record: Node, rank: int) -> None:
        self.side = side
        self.record = record
        self.rank = rank
        self.id = record.id
        self.op = record.op
        self.kind = record.kind
        self.phase = record.phase
        self.name = record.name
        self.scope = record.scope
        self.source = next(iter(record.source), "")
        self.line = self.phase, self.scope, self.source
        self.callers = list(filter(is_users, record.source[1:]))
        # The lines of an accumulation are those of its addends.
        self.caller = "" if record.kind == "accumulate" else next(iter(self.callers), "")
        self.family = family(record.op)
        self.is_leaf = record.kind in ("input", "parameter")
        self.is_work = record.kind in ("op", "call", "accumulate")
        self.is_result = record.kind == "output"
        self.is_bookkeeping = self.family in BOOKKEEPING
        self.is_refuted = record.proof == "refuted"

        self.values: list[OutputValue] = []
        for index, output in enumerate(record.outputs):
            summary = None if self.is_refuted else output.values
            value = OutputValue(self, index, output.shape, summary, output.noise, output.levels)
            self.values.append(value)
        observed = [value for value in self.values if value.summary is not None]
        first = [value for value in observed if record.outputs[value.output] is record.main]
        self.main = next(iter(first or observed), None)
        self.value = self.main or self.output(0)
        self.inputs: list[OutputValue] = []
        self.feeders: list[Vertex] = []
        self.work_read: list[Vertex] = []
        self.consumers: list[Vertex] = []
        self.users_in_phase: list[Vertex] = []
        self.forward: Vertex | None = None
        self.step = 0
        self.is_needed = False

        self.origin: Vertex = self
        self.users: list[Vertex] = []
        self.coarseness = 0.0
        self.partner: Vertex | None = None
        self.is_agreed = False
        self.counterpart: Vertex | None = None
        self.is_reserved = False
        self.is_packed = False
        self.steps: tuple[Vertex, ...] = ()
        self.host: Vertex | None = None

    def __repr__(self) -> str:
        return f"<{self.side.name} {self.id} {self.op}>"

    @property
    def origins(self) -> list["Vertex"]:
        """The origins of what it reads, in slot order."""
        return [value.node.origin for value in self.inputs]

    @property
    def result(self) -> OutputValue:
        """The value of a result: its own where it was observed, else the one that it reads."""
        if self.main is None and self.inputs:
            return self.inputs[0]
        return self.value

    def output(self, index: int) -> OutputValue:
        """The value of an output; one that the record does not list was not observed."""
        while len(self.values) <= index:
            self.values.append(OutputValue(self, len(self.values)))
        return self.values[index]

    # What is paired with it

    @property
    def there(self) -> "Vertex | None":
        """The node of the other side that holds the same numbers, as they were made or are passed on."""
        return self.partner if self.is_agreed else self.origin.counterpart

    @property
    def is_free(self) -> bool:
        """Whether it has no partner yet."""
        return self.partner is None

    @property
    def representative(self) -> "Vertex":
        """The node by which it takes part in a pair, if in any: its host, or itself."""
        return self.host or self

    @property
    def is_paired(self) -> bool:
        """Whether it is in a pair: by a partner of its own, or by that of its host."""
        return self.representative.partner is not None

    @property
    def is_partial(self) -> bool:
        """Whether it is in a pair by a further output alone, and nothing confirms its main value."""
        if not (self.is_paired and self.main and self.is_work):
            return False
        # A step is what the partner of its host takes inside itself.
        is_step = self.host is not None and self in self.host.steps
        if is_step or self.main.is_taken or self.record.proof == "proven":
            return False
        # Partners by a further output may hold the same main value all the same.
        partner = self.representative.partner
        return not (partner and partner.main and self.main.agrees(partner.main))


class Side:
    """One of the two graphs, and the ``other`` one.

    ``name`` says on which side a caller sees it. The search itself goes by ``is_first``, which does
    not depend on that: what it finds is the same whichever graph is named first. ``nodes``
    are in execution order, forward first, ``length`` of them needed; ``work`` are those that
    compute something, ``leading`` those that some result depends on, all where the graph names no
    results, ``derived`` are the backward nodes of each forward one, and ``callers`` the lines that call each
    line of a module.
    """

    other: "Side"

    def __init__(self, graph: GradGraph, name: SideName, is_first: bool) -> None:
        self.name = name
        self.is_first = is_first
        view = GraphView(graph)
        records = view.execution_order()
        vertices = {it.id: Vertex(self, it, rank) for rank, it in enumerate(records)}
        self.nodes = tuple(vertices.values())
        for node in self.nodes:
            # Several edges may lead to one place; the order in which they were drawn must not matter.
            read = sorted(
                view.into(node.record), key=lambda edge: (edge.input, edge.origin, edge.output)
            )
            node.inputs = [vertices[edge.origin].output(edge.output) for edge in read]
            node.feeders = [value.node for value in node.inputs]
            node.work_read = [it for it in node.feeders if it.is_work and it.phase == node.phase]
            node.consumers = in_order(vertices[reader.id] for reader in view.readers(node.record))
            node.users_in_phase = [user for user in node.consumers if user.phase == node.phase]
            node.forward = vertices.get(node.record.forward or "")
        self.work = tuple(node for node in self.nodes if node.is_work)
        self.leading = reach(self.results() or self.nodes, lambda node: node.feeders)
        self.length = 0
        self.derived: dict[Vertex, list[Vertex]] = {}
        self.callers: dict[tuple[str, str], set[str]] = {}
        for node in self.nodes:
            # A gradient that is dropped is one that is missing somewhere: it counts.
            node.is_needed = node in self.leading or node.is_leaf or node.phase == "backward"
            node.step = self.length
            self.length += node.is_needed
            if node.forward:
                self.derived.setdefault(node.forward, []).append(node)
            self.callers.setdefault((node.scope, node.source), set()).add(node.caller)

    def results(self, phase: Phase | None = None) -> list[Vertex]:
        """The result nodes in execution order, of one phase or of both."""
        return [node for node in self.nodes if node.is_result and phase in (None, node.phase)]


def view(left: GradGraph, right: GradGraph) -> tuple[Side, Side]:
    """Two graphs in the form in which they are walked, each knowing the other.

    Which of them comes first does not depend on which is on the left.
    """
    one, other = ((graph.engine, graph.stage, graph.case) for graph in (left, right))
    left_is_first = one < other
    if one == other:  # two graphs of one engine are ordered by what they hold
        left_is_first = msgspec.msgpack.encode(left) <= msgspec.msgpack.encode(right)
    left_side = Side(left, "left", left_is_first)
    right_side = Side(right, "right", not left_is_first)
    left_side.other, right_side.other = right_side, left_side
    return left_side, right_side


def as_seen(node: Vertex, other: Vertex) -> tuple[Vertex, Vertex]:
    """A node of each side, that of the left side first."""
    return (node, other) if node.side.name == "left" else (other, node)


def span(nodes: Iterable[Vertex]) -> tuple[int, int]:
    """The steps at which some nodes begin and end."""
    steps = [node.step for node in nodes]
    return min(steps), max(steps)


def in_order(nodes: Iterable[Vertex]) -> list[Vertex]:
    """Nodes of one side in execution order."""
    return sorted(nodes, key=lambda node: node.rank)
