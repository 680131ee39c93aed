"""Row 45: the greatest of each window of two by two, two apart, in the numbers 0 to 8 in rows of three."""

from typing import Any

from tests.independent.attempts import attempt


def closed_form() -> dict[str, Any]:
    """With windows cut off at the right and the bottom ("same"), and with whole windows alone.

    Then the same of −1 to −9, cut off, and filled up with zeros in place of that.
    """
    return {
        "same": _pooled((0, 2)),
        "valid": _pooled((0,)),
        # The greatest of negative numbers is the first of its window.
        "negative": [[-1.0 - (3 * top + left) for left in (0, 2)] for top in (0, 2)],
        "zeros": [[-1.0, 0.0], [0.0, 0.0]],
    }


def in_torch() -> dict[str, Any]:
    """What PyTorch's pooling makes of "same"."""
    import torch

    def pooled() -> Any:
        return torch.nn.functional.max_pool2d(torch.zeros(1, 1, 3, 3), 2, 2, padding="same")

    compiled = torch.compile(pooled, backend="eager", fullgraph=True)
    return {"same": attempt(pooled), "compiled": attempt(compiled)}


def _pooled(starts: tuple[int, ...]) -> list[list[float]]:
    return [[float(_greatest(top, left)) for left in starts] for top in starts]


def _greatest(top: int, left: int) -> int:
    rows = range(top, min(top + 2, 3))
    columns = range(left, min(left + 2, 3))
    return max(3 * row + column for row in rows for column in columns)
