"""Row 54: rates of 0.1, 0.05 and 0.01 up to steps 2, 5 and 10."""

from typing import Any


def closed_form() -> dict[str, Any]:
    """As often as each lasts."""
    return {"rates": [0.1] * 2 + [0.05] * 3 + [0.01] * 5}


def in_mindspore_tape() -> dict[str, Any]:
    """The type of what the function returns."""
    from mindspore import nn

    rates = nn.piecewise_constant_lr([2, 5, 10], [0.1, 0.05, 0.01])
    return {"type": type(rates).__name__, "rates": rates}
