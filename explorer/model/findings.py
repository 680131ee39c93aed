"""What the explorer found out about two nets beside their gradients: a mistake, a limit, a remark."""

from typing import Literal

import msgspec

FindingKind = Literal[
    "role", "start", "output", "missing", "conditioning", "masks", "noise", "recording"
]
"""A kind of finding.

- "role": one net trains what the other holds frozen, as a buffer, as a plain tensor, or not at all
- "start": a starting value that the scenario gives reaches one net alone
- "output": a net returns tensors in a container through which MindSpore takes no gradient
- "missing": the scenario expects a finding that there is not
- "masks": the dropout layers of both nets drop by the same draws
- "noise": a worker was lost while it measured noise, and tolerances alone say what differs
- "recording": a graph was recorded with other last digits than the plain call has
- "conditioning": an op multiplies rounding, so that few digits of its values mean anything
"""

REMARKS: frozenset[FindingKind] = frozenset({"conditioning", "masks", "noise", "recording"})
"""Kinds that say how a net is, and accuse neither side."""


class ReportFinding(msgspec.Struct, frozen=True, kw_only=True):
    """Something about the nets that a reader should know before the gradients.

    ``sentence`` says it in words, ``names`` are those of the parameters or modules concerned, as in
    PyTorch; a remark's are its own net's. A finding that is not ``expected`` counts as an
    unexpected difference, unless it is a remark; ``reason`` says why one is expected.
    """

    kind: FindingKind
    sentence: str
    names: tuple[str, ...] = ()
    expected: bool = False
    reason: str = ""

    @property
    def is_remark(self) -> bool:
        """Whether it is worth knowing, and nothing to mend."""
        return self.kind in REMARKS

    @property
    def is_alarm(self) -> bool:
        """Whether it counts as an unexpected difference."""
        return not (self.expected or self.is_remark)
