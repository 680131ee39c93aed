"""Two graphs of which one goes on with the other's values where they part: what is put in, and what is new.

One of the graphs, that of ``here``, is computed again, with the values of the other one, that of ``there``,
at the divergences that are known. What then still differs is another mistake, or the gradient of one that
is known.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from math import prod
from typing import NamedTuple

import msgspec

from explorer.compare.align.axes import Before, order_of_axes
from explorer.compare.align.joints import Joint, Seam
from explorer.compare.causes.rooms import are_equal
from explorer.compare.graphs.layouts import Laid
from explorer.compare.graphs.view import Slot
from explorer.model.alignment import Pair
from explorer.model.arrays import Array
from explorer.model.divergence import (
    Divergence,
    GradientAdded,
    GradientStopped,
    OtherValue,
    ResultElsewhere,
)
from explorer.model.graph import OTHER, GradGraph, Node, SideName
from explorer.model.mended import NotPutIn, Obstacle, PutIn
from explorer.operators.families import family

Find = Callable[[Slot], Array | None]
"""Finds all elements of an output; None where they are not known."""


class Found(NamedTuple):
    """What came of a run: divergences that are new, and the ones that were known before.

    Each has its place among the divergences of the alignment.
    """

    new: tuple[int, ...]
    known: tuple[int, ...]


class Mending:
    """What is known of two graphs so far: where they part, and which values are put in there.

    ``put_in`` are the values by the output of ``here`` that gets them, ``obstacles`` the divergences at
    which there were none.
    """

    def __init__(self, laid: Laid, side: SideName) -> None:
        here, there = laid.graphs if side == "left" else laid.graphs[::-1]
        self._laid = laid
        self._side = side
        self._nodes: dict[SideName, dict[str, Node]] = {
            side: here.by_id(),
            OTHER[side]: there.by_id(),
        }
        self._parts: dict[SideName, set[str]] = {"left": set(), "right": set()}
        self._places: set[tuple[str, str]] = set()
        self._before = Before(here), Before(there)
        self._readers: dict[SideName, dict[Slot, list[str]]] = {
            side: _readers(here),
            OTHER[side]: _readers(there),
        }
        self._known_values: dict[Slot, list[PutIn]] = {}
        self._paired: set[str] = set()
        self._equal: set[str] = set()
        self._replaced: set[str] = set()
        self._around: set[tuple[SideName, str]] = set()
        self.put_in: dict[Slot, PutIn] = {}
        self.obstacles: dict[tuple[str | None, str | None], NotPutIn] = {}

    def find(
        self, divergences: Iterable[Divergence], seams: Iterable[Seam], pairs: Iterable[Pair] = ()
    ) -> Found:
        """Which of some divergences are new; those that are assumed wait until they are sure.

        What is in ``pairs`` is equal on both sides, unless the numbers lie in another order.
        """
        self._paired.clear()
        self._equal.clear()
        for pair in pairs:
            if pair.how in ("transposed", "reordered"):
                continue
            own = pair.members(self._side)
            self._paired.add(own[0])
            # What was put in is equal, whatever leads to it.
            if self._parts[self._side].isdisjoint(own):
                self._equal.update(own)
        self._replaced = self._leading_to_put_in()
        new, known = [], []
        for place, (divergence, seam) in enumerate(zip(divergences, seams, strict=True)):
            if self._is_known(divergence, seam):
                known.append(place)
            elif not seam.is_assumed:
                new.append(place)
        return Found(tuple(new), tuple(known))

    def without_known(self, divergence: Divergence) -> Divergence:
        """A divergence without the places that are equal because values were put in there."""
        if not isinstance(divergence, OtherValue):
            return divergence
        side = 0 if self._side == "left" else 1
        equal_at = [
            it
            for it in divergence.equal_at
            if (it[side].scope, it[side].source) not in self._places
        ]
        return msgspec.structs.replace(divergence, equal_at=tuple(equal_at))

    def is_refuted(self, seam: Seam) -> bool:
        """Whether all that takes part in an assumed divergence is equal in the last run."""
        parts = seam.parts[self._side]
        return seam.is_assumed and bool(parts) and parts <= self._equal

    def note(self, seam: Seam) -> None:
        """Note that a divergence is known from now on."""
        self._around |= seam.laid
        for side, parts in seam.parts.items():
            self._parts[side] |= parts
            for part in parts:
                node = self._nodes[side][part]
                if node.phase == "forward" and node.source:
                    self._places.add(_place(node))

    def wanted(self, seams: Iterable[Seam]) -> list[Slot]:
        """The outputs of ``there`` whose values are to be put in."""
        slots = []
        for seam in seams:
            slots += [joint.there for joint in seam.joints[self._side] if joint.there is not None]
        return slots

    def mend(self, divergence: Divergence, seam: Seam, find: Find) -> bool:
        """Put in the values of the other side at a divergence; whether one is new there."""
        if seam.is_assumed or _is_changed_state(divergence):
            return False
        is_new = False
        obstacle: Obstacle | None = "no_place"
        if isinstance(divergence, GradientStopped):
            obstacle = "stopped"
        for joint in seam.joints[self._side]:
            obstacle = self._obstacle(joint)
            value = None
            if obstacle is None and joint.there is not None:
                value = self._value(find, joint.there, joint.here)
                obstacle = "no_value" if value is None else None
            if obstacle is None:
                is_new |= self._put(joint.here, value)
                self._around.add((self._side, joint.here[0]))
                if joint.there is not None:
                    self._around.add((OTHER[self._side], joint.there[0]))
        if obstacle is not None:
            self.obstacles.setdefault(
                divergence.nodes,
                NotPutIn(
                    nodes=divergence.nodes,
                    sources=tuple(end.source for end in divergence.ends if end.source),
                    why=obstacle,
                ),
            )
        return is_new

    def join(self, seam: Seam, find: Find) -> bool:
        """Put in the values at a place like one that is known; whether all of them fit."""
        values = []
        for joint in seam.joints[self._side]:
            value = self._value(find, joint.there, joint.here) if joint.there else None
            if value is None or self._obstacle(joint) or joint.here in self.put_in:
                return False
            values.append((joint.here, value))
        self.note(seam)
        for here, value in values:
            self._put(here, value)
        return True

    def part(self, seam: Seam) -> None:
        """Take back what was put in at such a place: it is not like that one."""
        for side, parts in seam.parts.items():
            self._parts[side] -= parts
            self._places -= {_place(self._nodes[side][part]) for part in parts}
        for joint in seam.joints[self._side]:
            self.put_in.pop(joint.here, None)
            self._known_values.pop(joint.here, None)

    def mend_gradients(self, differing: Iterable[str], pairs: Iterable[Pair], find: Find) -> bool:
        """Put in the gradients that ops which are known hand on; whether one is new.

        These are gradients of leaves, and what ops read that correspond by ``pairs``.
        """
        is_new = False
        for here, there in (*self._leaf_gradients(differing), *self._handed_on(pairs)):
            value = self._value(find, there, here)
            shape = self._nodes[self._side][here[0]].outputs[here[1]].shape
            if here not in self.put_in and value is not None and prod(value.shape) == prod(shape):
                is_new |= self._put(here, value)
        return is_new

    def _value(self, find: Find, there: Slot, here: Slot) -> Array | None:
        """The value of an output of the other side, as it lies in the one that gets it."""
        value = find(there)
        order = self._order(here, there)
        if value is None or order is None:
            return None
        return self._laid.handed_on(self._side, there, here, value, order)

    def _order(self, here: Slot, there: Slot) -> tuple[int, ...] | None:
        """The order in which the axes of an output of the other side lie in one here; None if unknown."""
        return order_of_axes(*self._before, (here, there), self._shapes(here, there))

    def _shapes(self, here: Slot, there: Slot) -> tuple[tuple[int, ...], tuple[int, ...]]:
        own, other = (
            self._nodes[side][node].outputs[output].shape
            for side, (node, output) in ((self._side, here), (OTHER[self._side], there))
        )
        return own, other

    def _obstacle(self, joint: Joint) -> Obstacle | None:
        """Why a value does not fit: another size, or axes in an order that is not known."""
        own, other = joint.shapes
        if prod(own) != prod(other):
            return "size"
        is_known = joint.there is None or self._order(joint.here, joint.there) is not None
        return None if is_known else "layout"

    def _put(self, here: Slot, value: Array | None) -> bool:
        """Put in a value; whether that is new.

        One that was there before is not: two alignments in turn would name one, then the other, forever.
        """
        one = PutIn(*here, value)
        is_new = one not in self._known_values.setdefault(here, [])
        if is_new:
            self._known_values[here].append(one)
            self.put_in[here] = one
        return is_new

    def _leaf_gradients(self, differing: Iterable[str]) -> Iterator[tuple[Slot, Slot]]:
        """The makers of gradients of leaves that differ, and the other side's results."""
        names = set(differing)
        there = self._nodes[OTHER[self._side]].values()
        others = {node.name: node.id for node in there if _is_gradient(node, names)}
        for node in self._nodes[self._side].values():
            if _is_gradient(node, names) and node.name in others:
                for maker in self._before[0].read(node.id):
                    if self._is_of_known(self._side, maker[0]):
                        yield maker, (others[node.name], 0)

    def _handed_on(self, pairs: Iterable[Pair]) -> Iterator[tuple[Slot, Slot]]:
        """Gradients that an op which is known hands on, and what its reader's counterpart reads.

        A reader derives from an op in forward, which has a partner: what derives from that one reads
        the gradient on the other side.
        """
        other = OTHER[self._side]
        partners: dict[str, tuple[str, ...]] = {}
        for pair in pairs:
            own = pair.members(self._side)
            if self._parts[self._side].isdisjoint(own):
                partners.update(dict.fromkeys(own, pair.members(other)))
        for origin, readers in self._readers[self._side].items():
            if not self._is_of_known(self._side, origin[0]):
                continue
            found: set[Slot] = set()
            for reader in readers:
                forward = self._forward_of(self._side, reader)
                is_known = forward in self._parts[self._side]
                if forward in partners and not (is_known or self._is_sum(self._side, reader)):
                    size = self._size(self._side, origin)
                    found |= self._read_by(other, partners[forward], size)
            if len(found) == 1:
                yield origin, found.pop()

    def _read_by(self, side: SideName, forwards: Collection[str], size: int) -> set[Slot]:
        """The gradients of a size that the ops read which derive from some in forward.

        A sum of gradients is linked to what reads it.
        """
        found = set()
        for origin, readers in self._readers[side].items():
            is_read = any(
                self._forward_of(side, reader) in forwards and not self._is_sum(side, reader)
                for reader in readers
            )
            is_own = self._forward_of(side, origin[0]) in forwards
            is_given = self._is_sum(side, origin[0]) or not is_own
            if is_read and is_given and self._size(side, origin) == size:
                found.add(origin)
        return found

    def _is_sum(self, side: SideName, node: str) -> bool:
        return family(self._nodes[side][node].op) == "add"

    def _forward_of(self, side: SideName, node: str) -> str | None:
        return self._nodes[side][node].forward

    def _size(self, side: SideName, slot: Slot) -> int:
        outputs = self._nodes[side][slot[0]].outputs
        return prod(outputs[slot[1]].shape) if slot[1] < len(outputs) else -1

    def _is_of_known(self, side: SideName, node: str) -> bool:
        """Whether a node derives from what differs, or from what is before or behind that."""
        forward = self._nodes[side][node].forward
        if forward is None:
            return False
        is_replaced = side == self._side and forward in self._replaced
        return is_replaced or forward in self._parts[side] or (side, forward) in self._around

    def _leading_to_put_in(self) -> set[str]:
        """The ops in forward without a partner before a value that was put in: it takes their place too."""
        waiting = [name for name, _output in self.put_in]
        found: set[str] = set()
        while waiting:
            for name, _output in self._before[0].read(waiting.pop()):
                node = self._nodes[self._side][name]
                is_own = node.kind == "op" and node.phase == "forward" and name not in self._paired
                if is_own and name not in found:
                    found.add(name)
                    waiting.append(name)
        return found

    def _computed_from(self, result: str) -> Iterator[str]:
        """The gradients that one of a leaf is computed from, as far back as they may differ."""
        found, waiting = {result}, [result]
        while waiting:
            for slot in self._before[0].read(waiting.pop()):
                node = self._nodes[self._side][slot[0]]
                may_differ = slot not in self.put_in and node.id not in self._paired
                if node.phase == "backward" and may_differ and node.id not in found:
                    found.add(node.id)
                    waiting.append(node.id)
                    yield node.id

    def _is_known(self, divergence: Divergence, seam: Seam) -> bool:
        """Whether a divergence is one that is known, or in the gradients of one."""
        for side, parts in seam.parts.items():
            if not parts.isdisjoint(self._parts[side]):
                return True
        # What is said of a value that was put in belongs to the divergence where it was.
        if any(joint.here[0] in self._parts[self._side] for joint in seam.joints[self._side]):
            return True
        if isinstance(divergence, GradientAdded):
            return (divergence.term.scope, divergence.term.source) in self._places
        if divergence.phase == "forward" or isinstance(divergence, GradientStopped):
            return False
        return any(
            self._derives(side, part) for side, parts in seam.parts.items() for part in parts
        )

    def _derives(self, side: SideName, part: str) -> bool:
        """Whether a node of backward derives from what differs in forward, by its link or its line."""
        node = self._nodes[side][part]
        if node.kind == "output":
            made_of = self._computed_from(part) if side == self._side else ()
            return any(self._is_of_known(side, gradient) for gradient in made_of)
        if self._is_of_known(side, part) or (node.source and _place(node) in self._places):
            return True
        # A sum of gradients differs as one of them does.
        terms = self._before[side != self._side].read(part) if node.kind == "accumulate" else ()
        return any(self._is_of_known(side, term) for term, _ in terms)


def _readers(graph: GradGraph) -> dict[Slot, list[str]]:
    """The ops of backward that read each output of an op of backward."""
    nodes = graph.by_id()
    readers: dict[Slot, list[str]] = {}
    for edge in graph.edges:
        is_op = nodes[edge.origin].kind in ("op", "accumulate", "call")
        is_result = nodes[edge.target].kind == "output"
        phases = nodes[edge.origin].phase, nodes[edge.target].phase
        if edge.kind == "data" and is_op and not is_result and phases == ("backward", "backward"):
            readers.setdefault((edge.origin, edge.output), []).append(edge.target)
    return readers


def _place(node: Node) -> tuple[str, str]:
    return node.scope, node.source[0]


def _is_gradient(node: Node, names: set[str]) -> bool:
    return node.kind == "output" and node.phase == "backward" and node.name in names


def _is_changed_state(divergence: Divergence) -> bool:
    """Whether it is a further output that nothing reads, such as a running statistic."""
    is_result = isinstance(divergence, ResultElsewhere) and divergence.do_correspond
    return is_result and divergence.phase == "forward"


def whole_of(nodes: Mapping[str, Node], slot: Slot) -> Array | None:
    """The elements of an output of a graph, as far as it holds them."""
    node, output = slot
    outputs = nodes[node].outputs
    summary = outputs[output].values if output < len(outputs) else None
    return summary.whole if summary is not None and summary.whole and summary.whole.data else None


def around(graph: GradGraph, nodes: Collection[str]) -> list[str]:
    """Some nodes of a graph, and those that they read."""
    read = [edge.origin for edge in graph.edges if edge.target in nodes]
    return list(dict.fromkeys((*nodes, *read)))


def large_slots(graph: GradGraph, nodes: Iterable[str], most: int) -> Iterator[Slot]:
    """The outputs of some nodes that are not kept whole, as long as all have at most ``most`` elements."""
    by_id, left = graph.by_id(), most
    for name in nodes:
        for output, record in enumerate(by_id[name].outputs):
            is_whole = record.values is None or record.values.whole is not None
            if not is_whole and prod(record.shape) <= left:
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
