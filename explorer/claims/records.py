"""What a claim is: a guide's statement, the measurements that bear on it, and a pure function from their figures to a verdict."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from explorer.measuring import Evidence, Measurement

Verdict = Literal["holds", "holds_with_changes", "outdated", "does_not_hold", "depends_on_style", "not_checkable_here"]
VERDICTS: dict[Verdict, str] = {
    "holds": "true on the installed versions",
    "holds_with_changes": "true, but names or defaults have changed since",
    "outdated": "was true, and is not any more",
    "does_not_hold": "not true on the installed versions",
    "depends_on_style": "true of graph or of tape, not of a framework",
    "not_checkable_here": "needs hardware that is not here",
}
TOPICS = ("gradients", "loss scaling", "training", "tape and graph", "networks", "devices", "operators", "optimizers", "parallel")
GUIDES = {
    "000": "migration guide, typical differences from PyTorch (r2.0.0-alpha)",
    "001": "migration guide, building networks",
    "002": "migration guide, optimizers",
    "003": "a note on functional autodiff (2024)",
    "004": "migration guide, gradients (r2.0)",
}


class Ruling(msgspec.Struct, frozen=True):
    """A verdict, the evidence for it in one line (figures, messages, API names found), and what a reader should do."""

    verdict: Verdict
    evidence: str
    advice: str


@dataclass(frozen=True)
class Claim:
    """One statement of the guides.

    ``id`` is its row; ``would`` says what is true if it holds; ``expects`` holds the guide's own figures as data, which ``judge``
    compares with what was measured. ``judge`` is pure: it is called with the figures of ``measurements`` by name, when all were
    measured, and with ``expects``.
    """

    id: int
    topic: str
    statement: str
    guides: tuple[str, ...]
    would: str
    measurements: tuple[Measurement, ...]
    judge: Callable[[Evidence, dict[str, Any]], Ruling]
    expects: dict[str, Any] = field(default_factory=dict)
