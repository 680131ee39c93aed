"""The report on a scenario as one HTML file."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape

from explorer.model.alignment import Alignment
from explorer.model.graph import GradGraph
from explorer.model.report import Report
from explorer.report.html import page, prose, row, table
from explorer.report.scenario.case_rows import CaseRow
from explorer.report.scenario.overview import (
    CaseGroup,
    Overview,
    cells_of,
    overview,
)
from explorer.text.language import _, later
from explorer.text.messages import one_line
from explorer.words.answers import ALIGNMENT_COLUMNS, ENGINE_COLUMNS
from explorer.words.coverage import LEGEND, where_they_differ

CASE_COLUMNS = (
    later("call"),
    later("structure"),
    later("value"),
    later("ids"),
    later("verdict"),
    later("greatest"),
    later("oracle"),
)
"""The columns of the table of cases, named after the fields of a row."""


def report_html(report: Report, pictures: Mapping[str, str], first: str = "") -> str:
    """The report as an HTML document: what matters first, the rest folded.

    ``pictures`` maps a caption to an SVG of our own drawing, which is set as it is, as is ``first``,
    the HTML of what stands on the first screen below the verdict.
    """
    whole = overview(report)
    return page(whole.title, _parts(whole, pictures, first))


def beside(pictures: Iterable[str]) -> str:
    """SVGs side by side where there is room, each below the one before where there is not."""
    figures = "".join(f'<div class="wide">{svg}</div>' for svg in pictures)
    return f'<figure class="beside">{figures}</figure>'


def parting_of(alignments: Iterable[Alignment], graphs: Sequence[GradGraph]) -> str:
    """Where two graphs part first, in a sentence above their pictures."""
    engines = {graph.engine for graph in graphs}
    for alignment in alignments:
        if {alignment.left, alignment.right} == engines:
            names = " · ".join(graph.engine for graph in graphs)
            # A divergence says itself that it is the first one.
            text = (
                _("{engines}: {what}")
                if alignment.divergence
                else _("{engines}, first divergence: {what}")
            )
            said = text.format(engines=names, what=one_line(where_they_differ(alignment)))
            return f'<p class="finding">{prose(said)}</p>'
    return ""


def _parts(whole: Overview, pictures: Mapping[str, str], first: str) -> Iterator[str]:
    yield from _head(whole)
    yield first
    yield from _parting(whole)
    yield from _beside_the_verdict(whole)
    for group in whole.groups:
        heading = f"<code>{escape(group.heading)}</code>: {_counted(group)}"
        # What is not as it should be is in sight; the rest is a click away.
        is_alarming = any(case.state == "alarm" for case in group.rows)
        yield _folded(heading, _cases(group), is_open=is_alarming)
    if whole.notes:
        items = []
        for number, note in enumerate(whole.notes, 1):
            items.append(f'<li id="note{number}">{escape(note)}</li>')
        yield f"<h2>{_('Notes')}</h2>\n<ol>{''.join(items)}</ol>"
    yield _folded(
        _("Engines"),
        table(map(_, ENGINE_COLUMNS), [row(cells_of(each)) for each in whole.engines]),
    )
    for paragraph in whole.about.split("\n\n"):
        if paragraph:
            yield f"<p>{escape(paragraph)}</p>"
    if pictures:
        content = "".join(_picture(caption, svg) for caption, svg in pictures.items())
        yield _folded(_("{n} gradient graphs").format(n=len(pictures)), content)


def _folded(heading: str, content: str, is_open: bool = False) -> str:
    opened = " open" if is_open else ""
    return f"<details{opened}><summary>{heading}</summary>{content}</details>"


def _counted(group: CaseGroup) -> str:
    """How many cases of a group have which verdict."""
    verdicts = Counter(case.verdict for case in group.rows)
    return escape(", ".join(f"{count} {verdict}" for verdict, count in verdicts.items()))


def _head(whole: Overview) -> Iterator[str]:
    name = f"<code>{escape(whole.scenario)}</code>"
    scenario = f'<p class="faint">{_("Scenario {name}").format(name=name)}</p>'
    yield f"<h1>{escape(whole.title)}</h1>\n{scenario}"
    yield f'<p class="summary {whole.state}">{escape(whole.summary)}</p>'
    for finding in whole.findings:
        yield f'<p class="finding {finding.state}">{prose(finding.text)}</p>'


def _beside_the_verdict(whole: Overview) -> Iterator[str]:
    """What the oracle says, and what was not asked."""
    yield f'<p class="faint">{escape(whole.oracle_summary)}</p>'
    for omission in whole.left_out:
        names = escape(", ".join(omission.cases))
        yield _folded(escape(omission.sentence), f'<p class="faint">{names}</p>')


def _cases(group: CaseGroup) -> str:
    # Only MindSpore's cases with return_ids have any.
    columns: tuple[str, ...] = CASE_COLUMNS
    if not any(case.ids for case in group.rows):
        columns = tuple(column for column in CASE_COLUMNS if column != "ids")
    rows: list[str] = []
    for case in group.rows:
        rows.extend(_rows(case, columns))
    return table(map(_, columns), rows)


def _rows(case: CaseRow, columns: Sequence[str]) -> Iterator[str]:
    """The row of a case, and one for each of its statements."""
    cells = []
    for column in columns:
        # Columns are named after the fields of CaseRow.
        if column == "verdict":
            cells.append(_verdict(case))
        else:
            cells.append(f"<td>{escape(getattr(case, column))}</td>")
    yield f"<tr>{''.join(cells)}</tr>"
    for statement in case.statements:
        who = f"<td>{escape(statement.who)}</td>"
        text = f'<td class="said" colspan="{len(columns) - 1}">{escape(statement.text)}</td>'
        yield f'<tr class="voice">{who}{text}</tr>'


def _verdict(case: CaseRow) -> str:
    links = "".join(f' <a href="#note{number}">[{number}]</a>' for number in case.notes)
    return f'<td class="verdict {case.state}">{escape(case.verdict)}{links}</td>'


def _parting(whole: Overview) -> Iterator[str]:
    """Where two engines part first, pair by pair, and what is known of the graphs' values."""
    if whole.alignments:
        rows = [row(cells_of(pair)) for pair in whole.alignments]
        yield table(map(_, ALIGNMENT_COLUMNS), rows)
        legend = _("Counted, by pair: {legend}.").format(legend=_(LEGEND))
        yield f'<p class="faint">{escape(legend)}</p>'
    for statement in whole.ungraphed:
        reason = f'<span class="mono">{escape(statement.text)}</span>'
        text = _("No graph from {engine}: {reason}")
        yield f"<p>{text.format(engine=escape(statement.who), reason=reason)}</p>"
    for statement in whole.warnings:
        warning = f"{escape(statement.who)}: {escape(statement.text)}"
        yield f'<p class="summary alarm">{warning}</p>'
    if whole.proofs:
        items = [f"<li>{escape(proof.who)}: {escape(proof.text)}</li>" for proof in whole.proofs]
        yield _folded(_("Proofs of values"), f"<ul>{''.join(items)}</ul>")


def _picture(caption: str, svg: str) -> str:
    heading = f"<figcaption>{escape(caption)}</figcaption>"
    return f'<figure>{heading}<div class="wide">{svg}</div></figure>'
