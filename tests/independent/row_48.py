"""Row 48: how many whole windows fit."""

from typing import Any


def closed_form() -> dict[str, Any]:
    """Counted window by window, as often as there are kinds of layer."""
    figures = {}
    for size in range(3, 9):
        for kernel in range(1, min(size, 4) + 1):
            for stride in (1, 2, 3):
                fitting = [start for start in range(0, size, stride) if start + kernel <= size]
                figures[f"size {size}, kernel {kernel}, stride {stride}"] = [len(fitting)] * 3
    return figures
