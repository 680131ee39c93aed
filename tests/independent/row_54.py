"""Row 54: rates of 0.1, 0.05 and 0.01 up to steps 2, 5 and 10."""

from typing import Any


def closed_form() -> dict[str, Any]:
    """As often as each lasts."""
    return {"rates": [0.1] * 2 + [0.05] * 3 + [0.01] * 5}
