"""Row 91: what a bprop says is the gradient, although it is no derivative."""

from typing import Any

X = (-1.5, -0.25, 0.5, 2.0)


def closed_form() -> dict[str, Any]:
    """Of (3 · sign x)³: 9 · (3 · sign x)² where x lies within [−1, 1], and 0 outside; one tensor."""
    told = [9.0 * 9.0 if abs(x) <= 1 else 0.0 for x in X]
    return {"told": told, "structure": "dx"}
