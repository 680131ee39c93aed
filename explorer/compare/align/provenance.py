"""Where values come from and go to: the evidence that tells nodes of equal value apart."""

from collections.abc import Callable
from dataclasses import dataclass, field

from explorer.compare.align.families import BOOKKEEPING
from explorer.compare.align.fingerprints import TIGHT, Prints, coarseness
from explorer.compare.align.side import Side, Slot
from explorer.model.alignment import How

Layout = Callable[[Slot, Slot], How | None]

FEW = 16
"""How many candidates one relation offers; more are the same value over and over, and the first
free ones will do.
"""


@dataclass
class Relations:
    """Partners, and the relations among the right side's nodes by which candidates are looked up.

    ``root`` leads from a node through reshapes, casts and other steps that keep the numbers to the
    node that made them; ``roots`` are the partners of such origins. ``agreed`` are the nodes whose
    main output has a partner.
    """

    sides: tuple[Side, Side]
    prints: Prints
    root: tuple[dict[str, str], dict[str, str]]
    grains: tuple[dict[str, float], dict[str, float]]
    scalars: dict[int, float]
    partner: tuple[dict[str, str], dict[str, str]] = field(default_factory=lambda: ({}, {}))
    roots: tuple[dict[str, str], dict[str, str]] = field(default_factory=lambda: ({}, {}))
    agreed: tuple[set[str], set[str]] = field(default_factory=lambda: (set(), set()))
    users: dict[tuple[str, int], list[Slot]] = field(default_factory=dict)
    derived: dict[tuple[str, int], list[Slot]] = field(default_factory=dict)

    def join(self, left: str, right: str, mains: tuple[bool, bool]) -> None:
        """Notes a pair and, where both hold it as their main output, the pair of their origins."""
        self.partner[0][left], self.partner[1][right] = right, left
        for agreed, node, main in zip(self.agreed, (left, right), mains, strict=True):
            if main:
                agreed.add(node)
        if not all(mains):
            return
        mine, theirs = self.root[0].get(left, left), self.root[1].get(right, right)
        self.roots[0].setdefault(mine, theirs)
        self.roots[1].setdefault(theirs, mine)

    def consistent(self, left: str, right: str) -> bool:
        """Whether a reshape, cast or the like passes on the same quantity, as far as that is known."""
        mine, theirs = self.root[0][left], self.root[1][right]
        tidies = [
            side.family(node) in BOOKKEEPING
            for side, node in zip(self.sides, (left, right), strict=True)
        ]
        strange = mine != left and self.roots[0].get(mine, theirs) != theirs
        stranger = theirs != right and self.roots[1].get(theirs, mine) != mine
        return not (tidies[0] and strange) and not (tidies[1] and stranger)

    def grain(self, index: int, node: str) -> float:
        """The coarsest rounding on the way to a node."""
        return self.grains[index][node]

    def origins(self, index: int, node: str) -> list[str]:
        """The origins of a node's inputs, in slot order."""
        return [self.root[index][origin] for origin, _ in self.sides[index].inputs[node]]

    def index(self, main: bool) -> None:
        """Lists the right side's free slots by (origin of an input, class) and by (forward node,
        class).
        """
        right, classes = self.sides[1], self.prints.classes[1]
        self.users, self.derived = {}, {}
        for node in right.ordered():
            if node in self.partner[1]:
                continue
            for slot in [right.main(node)] if main else range(len(right.nodes[node].outputs)):
                number = classes.get((node, slot))
                if number is None:
                    continue
                for origin in dict.fromkeys(self.origins(1, node)):
                    self.users.setdefault((origin, number), []).append((node, slot))
                forward = right.nodes[node].forward
                if forward is not None:
                    self.derived.setdefault((forward, number), []).append((node, slot))

    def candidates(self, slot: Slot) -> list[Slot]:
        """Free right slots of equal value whose neighbourhood is paired with that of a left slot."""
        number = self.prints.classes[0].get(slot)
        if number is None:
            return []
        left = self.sides[0]
        found: dict[Slot, None] = {}
        roots = [
            self.roots[0][origin]
            for origin in dict.fromkeys(self.origins(0, slot[0]))
            if origin in self.roots[0]
        ]
        forward = self.partner[0].get(left.nodes[slot[0]].forward or "")
        for near in (number, *self.prints.near.get(number, ())):
            for root in roots:
                found.update(dict.fromkeys(self._free(self.users, (root, near))))
            if forward is not None:
                found.update(dict.fromkeys(self._free(self.derived, (forward, near))))
        for consumer in left.consumers[slot[0]][:FEW]:
            if consumer in self.partner[0]:
                found.update(dict.fromkeys(self._feeding(self.partner[0][consumer], number)))
        return list(found)

    def _free(self, table: dict[tuple[str, int], list[Slot]], key: tuple[str, int]) -> list[Slot]:
        listed = table.get(key, [])
        free = [slot for slot in listed[: 2 * FEW] if slot[0] not in self.partner[1]]
        if len(free) < FEW < len(listed):
            table[key] = listed = [slot for slot in listed if slot[0] not in self.partner[1]]
            free = listed
        return free[:FEW]

    def _feeding(self, consumer: str, number: int) -> list[Slot]:
        """Free nodes of equal value that feed a right node, directly or through steps that keep the
        numbers.
        """
        right, classes = self.sides[1], self.prints.classes[1]
        found = []
        for slot in right.inputs[consumer][:FEW]:
            here = slot
            for _ in range(FEW):
                held = classes.get(here)
                if (
                    here[0] not in self.partner[1]
                    and held is not None
                    and self.prints.same(number, held)
                ):
                    found.append(here)
                kept = [
                    s for s in right.inputs[here[0]] if self.root[1][s[0]] == self.root[1][here[0]]
                ]
                if not kept:
                    break
                here = kept[0]
        return found

    def score(self, left: Slot, right: Slot, layout: Layout) -> tuple[float, float]:
        """Evidence that two slots of equal value are the same quantity, and how close they lie in
        their graphs.
        """
        one, other = self.sides[0].nodes[left[0]], self.sides[1].nodes[right[0]]
        gap = self.prints.distance(self.prints.classes[0][left], self.prints.classes[1][right])
        families = self.sides[0].family(one.id), self.sides[1].family(other.id)
        forward = self.partner[0].get(one.forward or "")
        points = 4.0 if gap <= TIGHT else 2.0 if gap <= 10 * TIGHT else 0.0
        points += 3 * self._shared(self.origins(0, one.id), self.origins(1, other.id))
        points += 2 * self._fed(one.id, other.id)
        points += (
            3.0
            if families[0] == families[1]
            else -2.0
            if len(BOOKKEEPING & set(families)) == 1
            else 0.0
        )
        points += 2.0 if one.scope and one.scope == other.scope else 0.0
        points += 4.0 if one.name and one.name == other.name else 0.0
        if forward and other.forward and "accumulate" not in {one.kind, other.kind}:
            points += 3.0 if forward == other.forward else -3.0
        points += 1.0 if self.sides[0].shape(left) == self.sides[1].shape(right) else 0.0
        points += 2.0 if layout(left, right) is None else 0.0
        place = [
            side.rank[n.id] / len(side.rank)
            for side, n in zip(self.sides, (one, other), strict=True)
        ]
        return points, -round(abs(place[0] - place[1]), 3)

    def _shared(self, mine: list[str], theirs: list[str]) -> float:
        """The share of input origins that are partners, of those of the side with more."""
        wanted = {self.roots[0].get(origin) for origin in mine}
        most = max(len(set(mine)), len(set(theirs)))
        return len(wanted & set(theirs)) / most if most else 0.0

    def _fed(self, left: str, right: str) -> float:
        """Whether any consumers are partners."""
        wanted = {self.partner[0].get(consumer) for consumer in self._uses(0, left)}
        return 1.0 if wanted & set(self._uses(1, right)) else 0.0

    def _uses(self, index: int, node: str) -> list[str]:
        """The first consumers of a node, directly or through steps that keep its numbers."""
        found = list(self.sides[index].consumers[node][:FEW])
        for consumer in found:
            if self.root[index][consumer] == self.root[index][node] and len(found) < FEW:
                found += [c for c in self.sides[index].consumers[consumer][:FEW] if c not in found]
        return found

    def successors(self, node: str) -> list[str]:
        """Free right nodes of the same family and phase, fed by the partners of all of a left
        node's inputs, in slot order.
        """
        left, right = self.sides
        wanted = [self.roots[0].get(origin) for origin in self.origins(0, node)]
        if not wanted or wanted[0] is None or None in wanted:
            return []
        fits = (
            other
            for other in right.consumers[wanted[0]][: 2 * FEW]
            if other not in self.partner[1]
            and right.family(other) == left.family(node)
            and right.nodes[other].phase == left.nodes[node].phase
            and self.origins(1, other) == wanted
        )
        return list(fits)


def relate(sides: tuple[Side, Side], prints: Prints) -> Relations:
    """The relations of two sides before anything is paired."""
    scalars = {}
    for side, classes in zip(sides, prints.classes, strict=True):
        for slot, number in classes.items():
            known = side.value(slot)
            if number in prints.plain and known is not None and side.size(slot) == 1:
                scalars[number] = known.minimum
    roots = tuple(
        _roots(side, classes, prints) for side, classes in zip(sides, prints.classes, strict=True)
    )
    grains = tuple(coarseness(side) for side in sides)
    return Relations(sides, prints, (roots[0], roots[1]), (grains[0], grains[1]), scalars)


def _roots(side: Side, classes: dict[Slot, int], prints: Prints) -> dict[str, str]:
    """Each node's origin: itself, or the origin of the input whose numbers it passes on."""
    root: dict[str, str] = {}
    for node in side.ordered():
        root[node] = node
        number = classes.get((node, side.main(node)))
        keeps = side.family(node) in BOOKKEEPING or side.nodes[node].kind == "output"
        for slot in side.inputs[node]:
            held = classes.get(slot)
            if (
                number is None
                or held is None
                or slot[0] not in root
                or slot[1] != side.main(slot[0])
            ):
                continue
            if (held == number and (keeps or number not in prints.plain)) or (
                keeps and prints.same(held, number)
            ):
                root[node] = root[slot[0]]
                break
    return root
