"""A sweep as blocks, for a terminal and for an HTML page."""

from collections import Counter
from collections.abc import Iterable, Iterator

from explorer.blocks import html
from explorer.blocks.records import (
    Block,
    Bullets,
    Column,
    Paragraph,
    Row,
    Section,
    Span,
    Table,
    Tone,
    columns,
    table,
)
from explorer.model.report import CaseVerdict
from explorer.report.wording import versions_text
from explorer.sweep.records import Change, Sweep, SweepRow, SweepVerdict
from explorer.text.language import _, later, named
from explorer.text.messages import one_line

TITLE = later("Sweep")

VERDICTS: dict[SweepVerdict, str] = {
    "as_expected": later("as expected"),
    "different": later("different"),
    "measured": later("measured"),
    "unsupported": later("not for this scenario"),
    "refused": later("refused"),
    "lost": later("lost"),
}
"""The word for each verdict, in the order in which they are counted."""

TONES: dict[SweepVerdict, Tone] = {
    "as_expected": "good",
    "different": "alarm",
    "measured": "good",
    "unsupported": "idle",
    "refused": "alarm",
    "lost": "alarm",
}

ALIKE: tuple[CaseVerdict, ...] = ("match", "close")
APART: tuple[CaseVerdict, ...] = ("differs", "some_raise")
"""Verdicts on cases that engines answer alike, and on those that they do not."""

FORESEEN = later("as the scenario foresees")
"""Why engines answer a case differently where that is expected."""

NOT_COMPARED: dict[CaseVerdict, tuple[str, str]] = {
    "drawn": (later("1 depends on random numbers"), later("{n} depend on random numbers")),
    "all_raise": (later("1 raises everywhere"), later("{n} raise everywhere")),
    "not_compared": (
        later("1 answered by fewer than two engines"),
        later("{n} answered by fewer than two engines"),
    ),
}
"""How many cases have values that could not be compared, by the verdict: of one, and of several."""

COLUMNS = (
    later("Scenario"),
    later("Study"),
    later("Verdict"),
    later("Seconds"),
    later("Cases"),
    later("What to look at"),
)

CHANGE_COLUMNS = (later("Job"), later("What"), later("Was"), later("Is"))


def terminal_blocks(sweep: Sweep, changes: Iterable[Change] | None) -> Iterator[Block]:
    """The jobs of a sweep, warnings, what has changed, and the summary as the last line."""
    yield Section(_("Jobs"), (jobs_table(sweep.rows),))
    yield from _environments(sweep)
    yield from _warnings(sweep)
    if changes is not None:
        lines = [change_line(change) for change in changes]
        for line in lines or [_("nothing has changed since the recorded sweep")]:
            yield Paragraph(line, is_whole=True)
    yield Paragraph(summary(sweep), is_whole=True)


def sweep_html(sweep: Sweep, changes: tuple[Change, ...] | None = None) -> str:
    """The sweep as an HTML document; with ``changes``, those first."""
    return html.page(_(TITLE), page_blocks(sweep, changes))


def page_blocks(sweep: Sweep, changes: tuple[Change, ...] | None) -> Iterator[Block]:
    """The sweep on a page: what has changed, the jobs, and under them what each found."""
    text = _("Run on {date} with {versions}") if sweep.versions else _("Run on {date}")
    run_on = text.format(date=sweep.date, versions=versions_text(sweep.versions))
    is_alarm = any(TONES[row.verdict] == "alarm" for row in sweep.rows)
    tone: Tone = "alarm" if is_alarm else "good"
    result = Paragraph(summary(sweep), tone, is_strong=True)
    about = (Paragraph(run_on, "faint"), *_environments(sweep), result)
    yield Section(_(TITLE), about, level=1)
    yield from _warnings(sweep)
    if changes is not None:
        yield Section(_("Changed since the recorded sweep"), (_changes(changes),))
    yield Section(_("Jobs"), (jobs_table(sweep.rows),))
    if sweep.unfinished:
        names = named(list(map(one_line, sweep.unfinished)))
        yield Section(_("Not finished"), (Paragraph(names),))
    yield Section(_("What was found"), tuple(_found(sweep.rows)))


def _environments(sweep: Sweep) -> Iterator[Paragraph]:
    """What is in each environment that engines were run in by name."""
    for name, versions in sweep.environments.items():
        text = _("environment {name}: {installed}")
        said = text.format(name=name, installed=versions_text(versions))
        yield Paragraph(one_line(said), "faint")


def _warnings(sweep: Sweep) -> Iterator[Paragraph]:
    for warning in sweep.warnings:
        yield Paragraph(one_line(warning), "alarm")


def _changes(changes: tuple[Change, ...]) -> Block:
    if not changes:
        return Paragraph(_("Nothing."))
    rows: list[Row] = []
    for change in changes:
        cells = (change.name, change.what, change.before, change.now)
        rows.append(tuple(map(one_line, cells)))
    return Table(columns(map(_, CHANGE_COLUMNS)), tuple(rows))


def jobs_table(rows: Iterable[SweepRow]) -> Table:
    """A row for each job; a column that is empty everywhere is left out."""
    names = map(_, COLUMNS)
    jobs = [Column(name, is_numeric=name == _("Seconds"), may_be_empty=True) for name in names]
    return table(jobs, map(_job, rows))


def _job(row: SweepRow) -> Row:
    return (
        one_line(row.scenario),
        one_line(row.study),
        (Span(_(VERDICTS[row.verdict]), tone=TONES[row.verdict]),),
        _("stored") if row.from_store else f"{row.seconds:.1f}",
        cases(row),
        one_line(row.reason),
    )


def _found(rows: Iterable[SweepRow]) -> Iterator[Section]:
    """What each job found, folded; nothing of one that found nothing to say."""
    for row in rows:
        lines = list(row.findings)
        for engines, pair in row.pairs.items():
            where = _("; ").join(pair.divergences) or _("no divergence")
            text = _("{engines}: {left} and {right} op nodes paired; {where}")
            lines.append(
                text.format(engines=engines, left=pair.left, right=pair.right, where=where)
            )
        for reason, labels in cases_by_reason(row).items():
            text = _("{what}: {values}")
            lines.append(text.format(what=_(reason), values=_(", ").join(labels)))
        if lines:
            found = Bullets(tuple(lines))
            yield Section(one_line(row.name), (found,), level=3, fold="closed")


def cases(row: SweepRow) -> str:
    """How many of its cases the engines answer alike: "6 of 20 alike, 20 raise everywhere".

    Then come the cases in which no two answers could be compared, by the reason. A case counts
    as alike where every engine that was run has answered.
    """
    counts: Counter[CaseVerdict] = Counter()
    for label, verdict in row.cases.items():
        if label not in row.unanswered:
            counts[verdict] += 1
    parts = []
    alike = sum(map(counts.__getitem__, ALIKE))
    apart = sum(map(counts.__getitem__, APART))
    if alike + apart:
        parts.append(_("{n} of {total} alike").format(n=alike, total=alike + apart))
    for verdict, (one, several) in NOT_COMPARED.items():
        if counts[verdict]:
            words = one if counts[verdict] == 1 else several
            parts.append(_(words).format(n=counts[verdict]))
    if row.unanswered:
        parts.append(_("{n} not answered by every engine").format(n=len(row.unanswered)))
    return _(", ").join(parts)


def cases_by_reason(row: SweepRow) -> dict[str, list[str]]:
    """The labels of the cases to look at, by the reason: those not as expected first.

    Those that engines answer differently as the scenario expects come last.
    """
    labels: dict[str, list[str]] = {}
    for label, reason in row.unexpected.items():
        labels.setdefault(reason, []).append(label)
    for label, verdict in row.cases.items():
        if verdict in APART and label not in row.unexpected:
            labels.setdefault(FORESEEN, []).append(label)
    return labels


def summary(sweep: Sweep) -> str:
    """The whole sweep in a line: "12 jobs in 240 s: 10 as expected, 1 different, 1 lost"."""
    counts = Counter(row.verdict for row in sweep.rows)
    parts = []
    for verdict, name in VERDICTS.items():
        if counts[verdict]:
            text = _("{n} {verdict}")
            parts.append(text.format(n=counts[verdict], verdict=_(name)))
    if sweep.unfinished:
        parts.append(_("{n} not finished").format(n=len(sweep.unfinished)))
    stored = sum(row.from_store for row in sweep.rows)
    if stored:
        parts.append(_("{n} of them from the store").format(n=stored))
    number = len(sweep.rows) + len(sweep.unfinished)
    one, several = _("1 job in {seconds} s: {counts}"), _("{n} jobs in {seconds} s: {counts}")
    text = one if number == 1 else several
    counted = _(", ").join(parts) or _("none was run")
    return text.format(n=number, seconds=f"{sweep.seconds:.0f}", counts=counted)


def change_line(change: Change) -> str:
    """A change in a line."""
    text = _("changed: {job}: {what}: was {before}; is {now}")
    return text.format(
        job=one_line(change.name),
        what=one_line(change.what),
        before=one_line(change.before),
        now=one_line(change.now),
    )
