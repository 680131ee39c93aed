"""The study of stages: the operators that the last pass leaves of the guide's net and its gradient."""

from typing import Any

from tests.independent import row_28


def in_mindspore_graph() -> dict[str, Any]:
    """Forward and backward, as in row 28."""
    return row_28.in_mindspore_graph()
