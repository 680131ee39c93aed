"""Row 52: five steps as the guide prints them: the net and its loss run, and GradWrap runs both again."""

from typing import Any

from tests.independent import row_19


def in_torch() -> dict[str, Any]:
    """The values after each step: with one forward a step, and with two, as on a tape."""
    return {"one forward": row_19.trained_values(1), "two forwards": row_19.trained_values(2)}
