"""A sweep as one HTML file: the table of its jobs, and under each what it found."""

from collections.abc import Iterator
from html import escape

from explorer.report.html import page, row, table
from explorer.report.sweep.wording import COLUMNS, STATES, cases_by_reason, cells, summary
from explorer.report.wording import versions_text
from explorer.sweep.records import Change, Sweep, SweepRow
from explorer.text.clean import clean
from explorer.text.messages import one_line

TITLE = "Sweep"

VERDICT = COLUMNS.index("Verdict")


def sweep_html(sweep: Sweep, changes: tuple[Change, ...] | None = None) -> str:
    """The sweep as an HTML document; with ``changes``, those first."""
    return page(TITLE, _parts(sweep, changes))


def _parts(sweep: Sweep, changes: tuple[Change, ...] | None) -> Iterator[str]:
    yield f"<h1>{TITLE}</h1>"
    versions = escape(clean(versions_text(sweep.versions)))
    yield f'<p class="faint">Run on {escape(sweep.date)} with {versions}</p>'
    state = "alarm" if any(STATES[row.verdict] == "alarm" for row in sweep.rows) else "good"
    yield f'<p class="summary {state}">{escape(summary(sweep))}</p>'
    for warning in sweep.warnings:
        yield f'<p class="alarm">{escape(clean(warning))}</p>'
    if changes is not None:
        yield from _changes(changes)
    yield "<h2>Jobs</h2>"
    yield table(COLUMNS, map(_row, sweep.rows))
    if sweep.unfinished:
        names = ", ".join(escape(one_line(name)) for name in sweep.unfinished)
        yield f"<h2>Not finished</h2>\n<p>{names}</p>"
    yield "<h2>What was found</h2>"
    for done in sweep.rows:
        yield from _details(done)


def _changes(changes: tuple[Change, ...]) -> Iterator[str]:
    yield "<h2>Changed since the recorded sweep</h2>"
    if not changes:
        yield "<p>Nothing.</p>"
        return
    parts = [(change.name, change.what, change.before, change.now) for change in changes]
    yield table(("Job", "What", "Was", "Is"), (row(map(one_line, part)) for part in parts))


def _row(done: SweepRow) -> str:
    parts = []
    for place, text in enumerate(cells(done)):
        kind = f' class="verdict {STATES[done.verdict]}"' if place == VERDICT else ""
        parts.append(f"<td{kind}>{escape(text)}</td>")
    return f"<tr>{''.join(parts)}</tr>"


def _details(done: SweepRow) -> Iterator[str]:
    """What a job found, folded; nothing of one that found nothing to say."""
    parts = [f"<li>{escape(clean(finding))}</li>" for finding in done.findings]
    for engines, pair in done.pairs.items():
        where = "; ".join(pair.divergences) or "no divergence"
        text = f"{engines}: {pair.left} and {pair.right} op nodes paired; {where}"
        parts.append(f"<li>{escape(clean(text))}</li>")
    for reason, labels in cases_by_reason(done).items():
        parts.append(f"<li>{escape(clean(reason))}: {escape(clean(', '.join(labels)))}</li>")
    if parts:
        name = escape(one_line(done.name))
        yield f"<details><summary>{name}</summary><ul>{''.join(parts)}</ul></details>"
