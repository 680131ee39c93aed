"""The pairs found so far, and what their search knows."""

from dataclasses import dataclass, field

from explorer.compare.align.families import BOOKKEEPING
from explorer.compare.align.fingerprints import Prints, agree, elements
from explorer.compare.align.provenance import Relations
from explorer.compare.align.side import WORK, Side, Slot
from explorer.model.alignment import How


@dataclass
class Matching:
    """The pairs found so far, and what the sides look like to whoever looks for more.

    ``differing`` are leaves and results that share a name and not a value. ``shared`` pairs a free
    node with a further output of a paired one; ``tied`` names, for such a node and for a step that
    a partner takes inside itself, the node of its own side whose pair it belongs to. ``taken`` are
    the outputs that are in a pair.
    """

    sides: tuple[Side, Side]
    prints: Prints
    relations: Relations
    rtol: float
    atol: float
    found: list[tuple[Slot, Slot, How]] = field(default_factory=list)
    differing: list[tuple[str, str]] = field(default_factory=list)
    named: set[str] = field(default_factory=set)
    shared: list[tuple[Slot, Slot, How]] = field(default_factory=list)
    tied: tuple[dict[str, str], dict[str, str]] = field(default_factory=lambda: ({}, {}))
    taken: tuple[set[Slot], set[Slot]] = field(default_factory=lambda: (set(), set()))

    def join(self, left: Slot, right: Slot, how: How) -> None:
        """Makes a pair."""
        self.found.append((left, right, how))
        self.taken[0].add(left)
        self.taken[1].add(right)
        mains = left == self.sides[0].slot(left[0]), right == self.sides[1].slot(right[0])
        self.relations.join(left[0], right[0], mains)
        if all(mains) and how not in {"across", "name", "provenance"}:
            self._origins(left[0], right[0])

    def _origins(self, left: str, right: str) -> None:
        """What made the numbers that a pair passes on is a pair itself, before any other step that
        passes them on is.
        """
        makers = self.relations.root[0][left], self.relations.root[1][right]
        nodes = [side.nodes[maker] for side, maker in zip(self.sides, makers, strict=True)]
        free = not any(
            maker in partner for maker, partner in zip(makers, self.relations.partner, strict=True)
        )
        works = all(
            n.kind in WORK and s.family(n.id) not in BOOKKEEPING
            for s, n in zip(self.sides, nodes, strict=True)
        )
        if free and works and nodes[0].phase == nodes[1].phase:
            slots = self.sides[0].slot(makers[0]), self.sides[1].slot(makers[1])
            if self.held(*slots):
                self.join(*slots, "value+provenance")

    def share(self, index: int, mine: Slot, theirs: Slot, how: How) -> None:
        """Pairs a further output of a paired node with a free node of the other side."""
        self.shared.append((mine, theirs, how) if index == 0 else (theirs, mine, how))
        self.tied[1 - index][theirs[0]] = self.relations.partner[index][mine[0]]
        self.taken[index].add(mine)
        self.taken[1 - index].add(theirs)

    def enclose(self, index: int, steps: list[str], top: str) -> None:
        """Notes steps that the partner of ``top`` takes inside itself."""
        self.tied[index].update(dict.fromkeys(steps, top))

    def pair_of(self, index: int, node: str) -> str | None:
        """The left node of the pair that a node belongs to: as its node, as a step inside it, or by
        a further output.
        """
        top = self.tied[index].get(node, node)
        partner = self.relations.partner[index].get(top)
        return partner if index == 1 or partner is None else top

    def held(self, left: Slot, right: Slot) -> bool | None:
        """Whether two slots hold the same numbers, up to layout; None when one was not observed."""
        one, other = self.prints.classes[0].get(left), self.prints.classes[1].get(right)
        return None if one is None or other is None else self.prints.same(one, other)

    def layout(self, left: Slot, right: Slot, slack: float = 10.0) -> How | None:
        """How one shape's equal numbers lie differently, as far as every element is known:
        "transposed", "reordered" or None.
        """
        one, other = (
            side.value(slot) for side, slot in zip(self.sides, (left, right), strict=True)
        )
        if one is None or other is None or one.whole is None or other.whole is None:
            return None
        if one.whole.shape != other.whole.shape or one.whole.data == other.whole.data:
            return None
        mine, theirs = elements(one.whole), elements(other.whole)
        coarse = max(self.relations.grain(0, left[0]), self.relations.grain(1, right[0]))
        scale = self.prints.scale[self.prints.classes[1][right]]
        rtol, floor = slack * max(self.rtol, coarse), slack * max(self.atol, coarse) * scale
        if agree(mine, theirs, rtol, floor):
            return None
        shape = one.whole.shape
        turned = len(shape) == 2 and agree(mine.reshape(shape).T.ravel(), theirs, rtol, floor)
        return "transposed" if turned else "reordered"

    def noise(self, left: Slot, right: Slot, room: float = 1.0) -> bool:
        """Whether both slots hold nothing but rounding noise about zero, of the same size: up to
        ``room`` times ``atol``.
        """
        known = [side.value(slot) for side, slot in zip(self.sides, (left, right), strict=True)]
        same_size = self.sides[0].size(left) == self.sides[1].size(right)
        limit = room * self.atol
        return same_size and all(
            k is not None and not k.nonfinite and max(-k.minimum, k.maximum) <= limit for k in known
        )
