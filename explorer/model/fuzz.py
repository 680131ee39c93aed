"""What is seen of random nets: which engines are wrong about one, and how."""

from typing import Literal

import msgspec

from explorer.model.alignment import Unpaired
from explorer.model.divergence import Divergence

Kind = Literal[
    "agrees",
    "refused",
    "raises",
    "differs",
    "values",
    "oracle",
    "graph",
    "lost",
    "fault",
]
"""A kind of sighting.

- "agrees": all engines and the oracle agree
- "refused": a framework does not run the net at all
- "raises": some engines return a result, and others raise
- "differs": some engines' gradients differ from those of the others and the oracle
- "values": the gradients agree, but on the way to them the engines compute different values
- "oracle": all engines agree, and the oracle does not
- "graph": a captured graph is not whole, or has a value that its op does not yield
- "lost": a worker was lost
- "fault": an error of the explorer itself
"""

FindingClass = Literal["framework", "ours", "unsteady", "ill_conditioned", "known"]
"""A class of findings.

"framework": engines give another gradient, or none; "ours": the explorer itself is wrong;
"unsteady": the same net, run again, does not show it; "ill_conditioned": it does not occur
at nearby inputs; "known": it is on the recorded list.
"""


class Sighting(msgspec.Struct, frozen=True):
    """What is seen of a net; ``engines`` are those that are wrong, as far as is known.

    One of the other fields says more: ``errors`` are messages of the engines; ``leaf`` is
    the result that differs most, which is a number in some engines only unless it
    ``is_finite``; ``problem`` is why an engine has no graph; ``divergence`` and
    ``contradiction`` are of the graphs of the two engines in ``pair``.
    """

    kind: Kind
    engines: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    leaf: str = ""
    is_finite: bool = True
    problem: str = ""
    pair: tuple[str, str] = ("", "")
    divergence: Divergence | None = None
    contradiction: Unpaired | None = None

    def is_like(self, other: "Sighting") -> bool:
        """Whether two nets show the same mistake, as far as is known."""
        return (self.kind, self.engines) == (other.kind, other.engines)
