"""Verdicts about MindSpore by its two styles: what claims about gradients and loss scaling share."""

from explorer.model.claim import ClaimVerdict

MINDSPORE = ("mindspore-graph", "mindspore-tape")
NAMES = {"mindspore-graph": "graph", "mindspore-tape": "tape", "torch-tape": "PyTorch"}


def by_style(right: dict[str, bool]) -> ClaimVerdict:
    """What is right in MindSpore's two styles holds; what is right in one of them depends on it."""
    held = [right[engine] for engine in MINDSPORE]
    return "holds" if all(held) else "depends_on_style" if any(held) else "does_not_hold"
