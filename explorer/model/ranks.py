"""What a step of a distributed program and the step of one process on all data have to do with each other."""

from typing import Literal

import msgspec

RankRelation = Literal["each", "mean", "sum", "joined", "shuffled", "scaled", "unlike", "unknown"]
"""How a tensor of the whole step comes of those of the ranks.

- "each": every rank has the same
- "mean", "sum": it is that of the ranks' tensors
- "joined": the ranks' tensors one after the other, along the first axis
- "shuffled": the same rows, in another order
- "scaled": the mean of the ranks' tensors times ``factor``
- "unlike": none of these
- "unknown": a rank does not have it, or not whole
"""


TensorKind = Literal["start", "data", "loss", "gradient"]


class OverRanks(msgspec.Struct, frozen=True):
    """A tensor of the whole step, by its name, and how it comes of those of the ranks.

    ``greatest`` is the greatest difference from what is nearest, in the tensor's own units.
    """

    name: str
    kind: TensorKind
    relation: RankRelation
    factor: float = 1.0
    greatest: float = 0.0

    @property
    def is_right(self) -> bool | None:
        """Whether it is as one process has it; None where that is not known."""
        return None if self.relation == "unknown" else self.relation in RIGHT[self.kind]


RIGHT: dict[TensorKind, tuple[RankRelation, ...]] = {
    "start": ("each",),
    "data": ("joined", "shuffled"),
    "loss": ("mean", "sum", "each"),
    "gradient": ("each", "mean", "sum"),
}
"""What is right of each kind of tensor."""
