"""The cells of a study's tables as text, and the reasons for missing measurements."""

from explorer.model.study import Cell, StudyRecord
from explorer.report.wording import NOTHING
from explorer.text.messages import brief, one_line

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


NO_ROWS = "Nothing was measured for this table."
"""What stands in place of a table's rows where there are none; its note says why."""

WHOLE = "the record has the whole messages: --json, or --out DIR"
"""Where the messages stand that are shortened."""


def not_measured(record: StudyRecord) -> dict[str, str]:
    """Why measurements have no figures, by their names, those with one reason together."""
    # A framework that is missing, or a net that it cannot compile, fails many of them alike.
    names_by_reason: dict[str, list[str]] = {}
    for name, measured in record.measured.items():
        if measured.error:
            names_by_reason.setdefault(measured.error.text, []).append(name)
    return {", ".join(names): brief(text) for text, names in names_by_reason.items()}
