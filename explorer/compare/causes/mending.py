"""What is put in as if divergences were mended, and which divergences and places are then known.

One of two graphs is computed again with values of the other one where they are known to differ. What still
differs is another mistake, or the gradient of a known one.
"""

from collections.abc import Collection, Iterable, Iterator
from math import prod
from typing import NamedTuple

from msgspec.structs import replace

from explorer.compare.align.alignment import Joint, Seam
from explorer.compare.causes.candidates import Suspect
from explorer.compare.graphs.layouts import COMPUTED, in_one_layout, order_of_axes
from explorer.compare.graphs.sameness import are_equal
from explorer.compare.graphs.view import GraphView, reach
from explorer.model.alignment import Pair, Seen
from explorer.model.arrays import Array
from explorer.model.causes import Cause, Trial
from explorer.model.divergence import (
    Divergence,
    GradientAdded,
    GradientStopped,
    OtherValue,
    Place,
    Places,
    ResultElsewhere,
)
from explorer.model.graph import GradGraph, Node, Phase, SideName, Slot
from explorer.model.mended import NotPutIn, Obstacle, PutIn
from explorer.operators.families import family


class FurtherPlace(NamedTuple):
    """Two ops at another place that may differ by the same cause, as one eps in many equal layers.

    ``suspect`` is tried as it was and with the cause's edits. ``seam`` joins the graphs again: the one op
    gets the value of the other and, where each has one, the gradient that it hands on.
    """

    places: Places
    suspect: Suspect
    seam: Seam


class Half:
    """One of two graphs, and what is known of it.

    ``differing`` are the nodes that take part in divergences, ``around`` those before and behind them.
    ``replaced`` lead to a value that was put in. The gradients of all of them differ.
    """

    def __init__(self, graph: GradGraph, name: SideName) -> None:
        self.name = name
        self.view = GraphView(graph)
        self.nodes = self.view.nodes
        self.differing: set[str] = set()
        self.around: set[str] = set()
        self.replaced: set[str] = set()
        self.gradients = [
            node for node in graph.nodes if node.kind == "output" and node.phase == "backward"
        ]
        # What ops of backward hand on, each with the op of forward from which what reads it derives.
        self.handed_on: list[tuple[Slot, str]] = []
        for edge in graph.edges:
            origin, reader = self.nodes[edge.origin], self.nodes[edge.target]
            is_made = origin.kind in COMPUTED and edge.output < len(origin.outputs)
            is_read = edge.kind == "data" and reader.kind != "output" and family(reader.op) != "add"
            if (
                is_made
                and is_read
                and reader.forward
                and origin.phase == reader.phase == "backward"
            ):
                self.handed_on.append(((edge.origin, edge.output), reader.forward))

    def is_of_known(self, name: str) -> bool:
        """Whether a node derives from what differs in forward, or from what is before or behind that."""
        forward = self.nodes[name].forward
        return any(forward in known for known in (self.differing, self.around, self.replaced))

    def at(self, place: Place) -> list[Node]:
        """The ops of forward where a reader finds them: by their op, module and line."""
        wanted = place.label, place.scope, place.source
        ops = (it for it in self.nodes.values() if it.phase == "forward" and it.outputs)
        return [it for it in ops if (it.op, it.scope, it.source[0] if it.source else "") == wanted]

    def gradient(self, node: Node) -> Slot | None:
        """The only output as large as an op's that an op in backward makes which derives from it."""
        size = prod(node.outputs[0].shape)
        slots = [
            (derived.id, place)
            for derived in self.view.derived(node)
            if derived.phase == "backward" and derived.kind == "op"
            for place, output in enumerate(derived.outputs)
            if prod(output.shape) == size
        ]
        return slots[0] if len(slots) == 1 else None


class Mending:
    """Two graphs of which that of ``side`` is computed again: where they differ, and what is put in there.

    ``here`` is that half, ``there`` the other one; ``put_in`` are the values by the outputs that get them.
    """

    def __init__(self, left: GradGraph, right: GradGraph, side: SideName) -> None:
        self.laid = in_one_layout(left, right)
        self._halves = Half(self.laid.graphs[0], "left"), Half(self.laid.graphs[1], "right")
        self.here, self.there = self._halves[:: 1 if side == "left" else -1]
        self._recorded = (right if side == "left" else left).by_id()
        self.put_in: dict[Slot, PutIn] = {}
        self._earlier: dict[Slot, list[PutIn]] = {}
        self._paired: set[str] = set()

    # What is put in

    def mend(
        self, divergences: Iterable[Divergence], seams: Iterable[Seam]
    ) -> tuple[NotPutIn, ...]:
        """Put in the other side's values at divergences, which are known from now on.

        Not yet at those that are assumed. Returns the divergences at which nothing could be put in.
        """
        left_out: dict[tuple[str | None, str | None], NotPutIn] = {}
        for divergence, seam in zip(divergences, seams, strict=True):
            if seam.is_assumed:
                continue
            self._note(seam)
            # Nothing reads a further output, such as a running statistic.
            is_result = isinstance(divergence, ResultElsewhere) and divergence.do_correspond
            if is_result and divergence.phase == "forward":
                continue
            is_stopped = isinstance(divergence, GradientStopped)
            why: Obstacle | None = "stopped" if is_stopped else "no_place"
            for here, there, _ in seam.joints[self.here.name]:
                value = None if there is None else self._value(here, there)
                why = value if isinstance(value, str) else None
                if not isinstance(value, str):
                    self._put(here, value)
                    self.here.around.add(here[0])
                    self.there.around.update([there[0]] if there else [])
            if why is not None:
                sources = tuple(end.source for end in divergence.ends if end.source)
                one = NotPutIn(nodes=divergence.nodes, sources=sources, why=why)
                left_out.setdefault(divergence.nodes, one)
        return tuple(left_out.values())

    def mend_gradients(self, differing: Collection[str], pairs: Iterable[Pair]) -> None:
        """Put in the gradients that known ops hand on.

        They go to leaves whose gradients are ``differing``, and to ops that correspond by ``pairs``.
        """
        wanted: list[tuple[Slot, Slot]] = []
        theirs = {it.name: it.id for it in self.there.gradients if it.name in differing}
        for gradient in self.here.gradients:
            makers = self.here.view.slots(gradient.id) if gradient.name in theirs else ()
            known = (maker for maker in makers if self.here.is_of_known(maker[0]))
            wanted.extend((maker, (theirs[gradient.name], 0)) for maker in known)
        for here, there in (*wanted, *self._of_readers(pairs)):
            value = None if here in self.put_in else self._value(here, there)
            if isinstance(value, Array):
                self._put(here, value)

    def join(self, seam: Seam) -> bool:
        """Put in the values at a place that may be like a known divergence; whether all of them fit."""
        values: dict[Slot, Array] = {}
        for here, there, _ in seam.joints[self.here.name]:
            value = self._value(here, there) if there and here not in self.put_in else None
            if not isinstance(value, Array):
                return False
            values[here] = value
        self._note(seam)
        for here, value in values.items():
            self._put(here, value)
        return True

    def take_back(self, seam: Seam) -> None:
        """Take back what was put in at such a place, which is not like the divergence."""
        for half in self._halves:
            half.differing -= seam.parts[half.name]
        for here, _, _ in seam.joints[self.here.name]:
            self.put_in.pop(here, None)
            self._earlier.pop(here, None)

    def _note(self, seam: Seam) -> None:
        for half in self._halves:
            half.differing |= seam.parts[half.name]
            half.around |= {node for side, node in seam.laid if side == half.name}

    def _put(self, here: Slot, value: Array | None) -> None:
        """Put in a value, but for one that was there earlier: two alignments may name two in turn."""
        one = PutIn(*here, value)
        earlier = self._earlier.setdefault(here, [])
        if one not in earlier:
            earlier.append(one)
            self.put_in[here] = one

    def _value(self, here: Slot, there: Slot) -> Array | Obstacle:
        """The other side's value as it lies in the output that gets it; or why there is none."""
        own, other = self.here.view, self.there.view
        if prod(own.shape(here)) != prod(other.shape(there)):
            return "size"
        order = order_of_axes(own, other, (here, there))
        if order is None:
            return "layout"
        value = self._recorded[there[0]].whole(there[1])
        if value is None or not value.data:
            return "no_value"
        return self.laid.handed_on(self.here.name, there, here, value, order)

    def _of_readers(self, pairs: Iterable[Pair]) -> Iterator[tuple[Slot, Slot]]:
        """Gradients that known ops hand on, and what their readers' counterparts read.

        A reader derives from an op in forward: what derives from the partner of that is its counterpart.
        """
        partners: dict[str, tuple[str, ...]] = {}
        for pair in pairs:
            own = pair.members(self.here.name)
            if self.here.differing.isdisjoint(own):
                partners.update(dict.fromkeys(own, pair.members(self.there.name)))
        found: dict[Slot, set[Slot]] = {}
        for slot, forward in self.here.handed_on:
            others = partners.get(forward, ()) if self.here.is_of_known(slot[0]) else ()
            for other, read_for in self.there.handed_on if others else ():
                if read_for not in others:
                    continue
                maker = self.there.nodes[other[0]]
                # A sum of gradients is linked to what reads it.
                is_handed_on = family(maker.op) == "add" or maker.forward not in others
                size = prod(self.here.view.shape(slot))
                if is_handed_on and prod(self.there.view.shape(other)) == size:
                    found.setdefault(slot, set()).add(other)
        yield from ((slot, other) for slot, (other, *more) in found.items() if not more)

    # What is known

    def see(self, pairs: Iterable[Pair]) -> set[str]:
        """Note what a run has paired; the nodes that are equal without a value that was put in there."""
        self._paired.clear()
        equal: set[str] = set()
        for pair in pairs:
            own = pair.members(self.here.name)
            # The numbers of others lie in another order.
            if pair.how not in ("transposed", "reordered"):
                self._paired.add(own[0])
                equal.update(own if self.here.differing.isdisjoint(own) else ())
        # What was put in takes the place of the ops that lead to it alone.
        self.here.replaced = self._leading_to([node for node, _ in self.put_in], "forward")
        return equal

    def is_known(self, divergence: Divergence, seam: Seam) -> bool:
        """Whether a divergence of the last run is a known one, or in the gradients of one."""
        if not all(half.differing.isdisjoint(seam.parts[half.name]) for half in self._halves):
            return True
        # What is said of a value that was put in belongs to the divergence where it was.
        if any(here[0] in self.here.differing for here, *_ in seam.joints[self.here.name]):
            return True
        places = self._places
        if isinstance(divergence, GradientAdded):
            return (divergence.term.scope, divergence.term.source) in places
        if divergence.phase == "forward" or isinstance(divergence, GradientStopped):
            return False
        parts = ((half, part) for half in self._halves for part in seam.parts[half.name])
        return any(self._derives(half, part, places) for half, part in parts)

    def without_known(self, divergence: Divergence) -> Divergence:
        """A divergence without the places that are equal because values were put in there."""
        if not isinstance(divergence, OtherValue):
            return divergence
        side, places = self.here.name == "right", self._places
        equal_at = [
            it for it in divergence.equal_at if (it[side].scope, it[side].source) not in places
        ]
        return replace(divergence, equal_at=tuple(equal_at))

    def _derives(self, half: Half, part: str, places: set[tuple[str, str]]) -> bool:
        """Whether a node of backward derives from what differs in forward, by its link or its line."""
        node = half.nodes[part]
        if node.kind == "output":
            made_of = self._leading_to([part], "backward") if half is self.here else ()
            return any(map(half.is_of_known, made_of))
        if half.is_of_known(part) or (node.source and (node.scope, node.source[0]) in places):
            return True
        # A sum of gradients differs as one of them does.
        terms = half.view.slots(part) if node.kind == "accumulate" else ()
        return any(half.is_of_known(term) for term, _ in terms)

    def _leading_to(self, names: list[str], phase: Phase) -> set[str]:
        """What some nodes here are computed from in a phase, as far back as it may differ."""

        def onwards(name: str) -> Iterator[str]:
            for slot in self.here.view.slots(name):
                node = self.here.nodes[slot[0]]
                is_equal = slot in self.put_in or node.id in self._paired
                if node.phase == phase and node.kind in COMPUTED and not is_equal:
                    yield node.id

        return reach((before for name in names for before in onwards(name)), onwards)

    @property
    def _places(self) -> set[tuple[str, str]]:
        """The modules and lines of what differs in forward."""
        nodes = [half.nodes[name] for half in self._halves for name in half.differing]
        forward = (node for node in nodes if node.phase == "forward" and node.source)
        return {(node.scope, node.source[0]) for node in forward}

    # Further places of a mistake whose cause is known

    def further_places(self, one: Seen) -> Iterator[FurtherPlace]:
        """The places where the two ops of a divergence follow, with the arguments that its cause names.

        The other side's values are put in there, where they fit. There are no places where the cause is no
        change of an op of the side that is computed again.
        """
        here, there, divergence, cause = self.here, self.there, one.divergence, one.cause
        order = 1 if here.name == "left" else -1
        if cause is None or not (is_of_op(cause) and cause.side == here.name):
            return
        if not isinstance(divergence, OtherValue) or any(it.count > 1 for it in divergence.rows):
            return
        if cause.node != divergence.nodes[::order][0]:
            return
        for places in divergence.also_at:
            own, other = places[::order]
            nodes, others = here.at(own), there.at(other)
            if not len(nodes) == len(others) == 1:
                continue
            (node,), (counterpart,) = nodes, others
            if not cause.own.items() <= node.arguments.items():
                continue
            edits = tuple(replace(edit, node=node.id) for edit in cause.edits)
            trials = Trial((node.id,)), Trial((node.id,), edits)
            outputs = node.outputs[0], counterpart.outputs[0]
            shapes = outputs[0].shape, outputs[1].shape
            joints = [Joint((node.id, 0), (counterpart.id, 0), shapes)]
            gradient, of_other = here.gradient(node), there.gradient(counterpart)
            if gradient and of_other:
                joints.append(Joint(gradient, of_other, shapes))
            parts = {here.name: frozenset({node.id}), there.name: frozenset({counterpart.id})}
            seam = Seam(parts, {here.name: tuple(joints), there.name: ()}, is_assumed=False)
            if self.join(seam):
                suspect = Suspect(here.name, node, counterpart, *outputs, trials)
                yield FurtherPlace(places, suspect, seam)


def is_of_op(cause: Cause) -> bool:
    """Whether a cause is an op with other arguments, or another operator."""
    return len(cause.edits) == 1 and cause.form in ("arguments", "operator")


def large_slots(graph: GradGraph, nodes: Iterable[str], most: int) -> Iterator[Slot]:
    """The outputs of some nodes that are not kept whole, as long as all have at most ``most`` elements."""
    by_id, left = graph.by_id(), most
    for name in nodes:
        for output, record in enumerate(by_id[name].outputs):
            is_large = record.values is not None and record.whole is None
            if is_large and prod(record.shape) <= left:
                left -= prod(record.shape)
                yield name, output


def give_the_same_results(one: GradGraph, other: GradGraph) -> bool:
    """Whether all that two graphs of one form return is equal, up to rounding; False where one is unknown."""
    here, there = one.by_id(), other.by_id()
    results = [edge for edge in one.edges if here[edge.target].kind == "output"]
    return bool(results) and all(
        are_equal(there[it.origin].outputs[it.output], here[it.origin].outputs[it.output])
        for it in results
    )
