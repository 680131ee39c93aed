"""The cells of a study's tables as text, and the reasons for missing measurements."""

from explorer.model.study import Cell, StudyRecord
from explorer.report.wording import NOTHING
from explorer.text.messages import one_line

DIGITS = 6
"""Significant digits of a number in a table."""


def cell_text(value: Cell) -> str:
    """A table's cell as text: numbers rounded to DIGITS, "—" for nothing."""
    if value is None:
        return NOTHING
    if isinstance(value, bool):  # before numbers: Python's booleans are ints
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.{DIGITS}g}"
    return one_line(str(value))


def not_measured(record: StudyRecord) -> dict[str, str]:
    """Why the measurements without figures have none, by their names."""
    reasons = {}
    for name, measured in record.measured.items():
        if measured.error:
            reasons[name] = one_line(measured.error.text)
    return reasons
