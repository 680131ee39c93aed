"""Row 65: the rates of two groups, 0.1 and 0.01, a step after a decay by 0.9 has begun."""

from typing import Any


def closed_form() -> dict[str, Any]:
    """Where all groups decay, as in PyTorch; where a rate of one's own stays, as in MindSpore."""
    return {"of all": [0.9 * 0.1, 0.9 * 0.01], "of the first": [0.9 * 0.1, 0.01]}
