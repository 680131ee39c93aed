"""What the explorer found out about two nets beside their gradients: a mistake, or a limit."""

from typing import Literal

import msgspec

FindingKind = Literal["role", "start", "missing"]
"""A kind of finding.

- "role": one net trains what the other holds frozen, as a buffer, or as a plain tensor
- "start": a starting value that the scenario gives reaches one net alone
- "missing": the scenario expects a finding that there is not
"""


class ReportFinding(msgspec.Struct, frozen=True, kw_only=True):
    """Something about the nets that a reader should know before the gradients.

    ``sentence`` says it in words, ``names`` are those of the parameters or places concerned, as in
    PyTorch. A finding that is not ``expected`` counts as an unexpected difference; ``reason`` says
    why one is expected.
    """

    kind: FindingKind
    sentence: str
    names: tuple[str, ...] = ()
    expected: bool = False
    reason: str = ""
