"""The pairs found so far, and what their search knows."""

from dataclasses import dataclass, field

from explorer.align.fingerprints import Prints, agree, elements
from explorer.align.provenance import Relations
from explorer.align.records import How
from explorer.align.side import Side, Slot


@dataclass
class Matching:
    """The pairs found so far, and what the sides look like to whoever looks for more.

    ``differing`` are leaves and results that share a name and not a value.
    """

    sides: tuple[Side, Side]
    prints: Prints
    relations: Relations
    rtol: float
    atol: float
    found: list[tuple[Slot, Slot, How]] = field(default_factory=list)
    differing: list[tuple[str, str]] = field(default_factory=list)
    named: set[str] = field(default_factory=set)

    def join(self, left: Slot, right: Slot, how: How) -> None:
        """Makes a pair."""
        self.found.append((left, right, how))
        mains = left == self.sides[0].slot(left[0]), right == self.sides[1].slot(right[0])
        self.relations.join(left[0], right[0], mains)

    def held(self, left: Slot, right: Slot) -> bool | None:
        """Whether two slots hold the same numbers, up to layout; None when one was not observed."""
        one, other = self.prints.classes[0].get(left), self.prints.classes[1].get(right)
        return None if one is None or other is None else self.prints.same(one, other)

    def layout(self, left: Slot, right: Slot, slack: float = 10.0) -> How | None:
        """How one shape's equal numbers lie differently, as far as every element is known: "transposed", "reordered" or None."""
        one, other = (side.value(slot) for side, slot in zip(self.sides, (left, right), strict=True))
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
        """Whether both slots hold nothing but rounding noise about zero, of the same size: up to ``room`` times ``atol``."""
        known = [side.value(slot) for side, slot in zip(self.sides, (left, right), strict=True)]
        same_size = self.sides[0].size(left) == self.sides[1].size(right)
        limit = room * self.atol
        return same_size and all(k is not None and not k.nonfinite and max(-k.minimum, k.maximum) <= limit for k in known)
