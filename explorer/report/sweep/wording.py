"""What the faces of a sweep say in the same words."""

from collections import Counter

from explorer.report.scenario.case_rows import State
from explorer.sweep.records import Change, Sweep, SweepRow, SweepVerdict
from explorer.text.messages import one_line

VERDICTS: dict[SweepVerdict, str] = {
    "as_expected": "as expected",
    "different": "different",
    "measured": "measured",
    "unsupported": "not for this scenario",
    "refused": "refused",
    "lost": "lost",
}
"""What each verdict is called, in the order in which they are counted."""

STATES: dict[SweepVerdict, State] = {
    "as_expected": "good",
    "different": "alarm",
    "measured": "good",
    "unsupported": "idle",
    "refused": "alarm",
    "lost": "alarm",
}
"""How good or bad each verdict is, for its colour."""

COLUMNS = ("Scenario", "Study", "Verdict", "Seconds", "Cases", "What to look at")


def cells(row: SweepRow) -> tuple[str, ...]:
    """The cells of a row, in the order of COLUMNS; no text in them can harm a terminal."""
    return (
        one_line(row.scenario),
        one_line(row.study),
        VERDICTS[row.verdict],
        "stored" if row.from_store else f"{row.seconds:.1f}",
        cases(row),
        one_line(row.reason),
    )


def cases(row: SweepRow) -> str:
    """How many cases were asked, and how many are answered alike: "31 of 34 alike"."""
    if not row.cases:
        return ""
    alike = sum(verdict not in ("differs", "some_raise") for verdict in row.cases.values())
    return f"{alike} of {len(row.cases)} alike"


def summary(sweep: Sweep) -> str:
    """The whole sweep in a line: "12 jobs in 240 s: 10 as expected, 1 different, 1 lost"."""
    counts = Counter(row.verdict for row in sweep.rows)
    parts = [f"{counts[verdict]} {name}" for verdict, name in VERDICTS.items() if counts[verdict]]
    if sweep.unfinished:
        parts.append(f"{len(sweep.unfinished)} not finished")
    stored = sum(row.from_store for row in sweep.rows)
    if stored:
        parts.append(f"{stored} of them from the store")
    number = len(sweep.rows) + len(sweep.unfinished)
    jobs = "1 job" if number == 1 else f"{number} jobs"
    return f"{jobs} in {sweep.seconds:.0f} s: {', '.join(parts) or 'none was run'}"


def change_line(change: Change) -> str:
    """A change in a line."""
    before, now = one_line(change.before), one_line(change.now)
    return f"changed: {one_line(change.name)}: {one_line(change.what)}: was {before}; is {now}"
