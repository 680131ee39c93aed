"""The numbers that values of either side hold, whatever their layout."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf


@dataclass(eq=False, slots=True)
class Bucket:
    """Numbers that values of either side hold, bit for bit the same whatever their layout.

    ``near`` are the other buckets that agree within tolerance, each with the greatest distance of
    their figures relative to ``scale``, the magnitude that rounding is relative to. A bucket that
    ``is_plain`` holds one number over and over, so that equality says little; it
    ``is_distinctive`` all the same when that is a single number other than 0 and ±1.
    """

    is_plain: bool
    is_distinctive: bool
    scale: float
    near: dict["Bucket", float] = field(default_factory=dict, repr=False)

    def agrees(self, other: "Bucket") -> bool:
        """Whether two buckets hold the same numbers within tolerance."""
        return self is other or other in self.near

    def distance(self, other: "Bucket") -> float:
        """The distance of two buckets that agree, relative to their scale."""
        return 0.0 if self is other else self.near[other]

    def neighbours(self, limit: float = inf) -> Iterator["Bucket"]:
        """The bucket itself, then those that agree with it at a distance of at most ``limit``."""
        yield self
        for bucket, distance in self.near.items():
            if distance <= limit:
                yield bucket
