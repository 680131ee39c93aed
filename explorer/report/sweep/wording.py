"""What the faces of a sweep say in the same words."""

from collections import Counter

from explorer.model.report import CaseVerdict
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

ALIKE: tuple[CaseVerdict, ...] = ("match", "close")
APART: tuple[CaseVerdict, ...] = ("differs", "some_raise")
"""Verdicts on cases that engines answer alike, and on those that they do not."""

FORESEEN = "as the scenario foresees"
"""Why engines answer a case apart where that is no surprise."""

NOT_COMPARED: dict[CaseVerdict, str] = {
    "drawn": "depend on random numbers",
    "all_raise": "raise everywhere",
    "not_compared": "answered by fewer than two engines",
}
"""What is said of cases whose values nobody could compare, by the verdict on them."""

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
    """How many of the cases that engines answer they answer alike: "6 of 20 alike, 20 raise everywhere".

    Behind it stand the cases in which no two answers could be compared, by what kept them from it. A
    case counts as alike where every engine that was asked has answered.
    """
    verdicts = {
        label: verdict for label, verdict in row.cases.items() if label not in row.unanswered
    }
    counts = Counter(verdicts.values())
    parts = [
        f"{counts[verdict]} {words}" for verdict, words in NOT_COMPARED.items() if counts[verdict]
    ]
    if row.unanswered:
        parts.append(f"{len(row.unanswered)} not answered by every engine")
    alike, apart = (sum(counts[verdict] for verdict in kind) for kind in (ALIKE, APART))
    if alike + apart:
        parts.insert(0, f"{alike} of {alike + apart} alike")
    return ", ".join(parts)


def cases_by_reason(row: SweepRow) -> dict[str, list[str]]:
    """The labels of the cases to look at, by why: those not as expected first, whatever their verdict.

    Those that engines answer apart as the scenario foresees it come last.
    """
    labels: dict[str, list[str]] = {}
    for label, reason in row.unexpected.items():
        labels.setdefault(reason, []).append(label)
    foreseen = [label for label, verdict in row.cases.items() if verdict in APART]
    foreseen = [label for label in foreseen if label not in row.unexpected]
    return {**labels, FORESEEN: foreseen} if foreseen else labels


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
