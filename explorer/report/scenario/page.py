"""The report on a scenario as blocks, for a terminal and for a page."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from operator import attrgetter
from string import ascii_uppercase

import msgspec

from explorer.blocks import html, markdown
from explorer.blocks.records import (
    Aside,
    Block,
    Bullets,
    Column,
    Figure,
    Fold,
    Paragraph,
    Row,
    Section,
    Span,
    Table,
    Terms,
    Text,
    Tone,
    columns,
    fill,
    table,
)
from explorer.model.alignment import Alignment, Seen
from explorer.model.engines import engine_named, in_order
from explorer.model.findings import ReportFinding
from explorer.model.graph import GradGraph
from explorer.model.report import CaseReport, Report
from explorer.report.scenario.case_rows import (
    DIVIDED,
    CaseRow,
    Footnotes,
    case_row,
    row_among,
)
from explorer.report.scenario.state import state_section
from explorer.report.wording import NOTHING
from explorer.text.language import _, later, named
from explorer.text.messages import one_line, shortened, whole_line
from explorer.words import answers
from explorer.words.answers import ALIGNMENT_COLUMNS, ENGINE_COLUMNS
from explorer.words.cases import sized, summary, who
from explorer.words.causes import attempts, cause
from explorer.words.coverage import LEGEND, of_both, where_they_differ
from explorer.words.divergences import every, first_divergence, going_on
from explorer.words.findings import sentence
from explorer.words.graphs import why_no_graph
from explorer.words.headlines import headline
from explorer.words.known import known_line, reasons
from explorer.words.oracle import oracle_summary
from explorer.words.proofs import ProofCounts, in_words, last_stages, proofs, warnings
from explorer.words.scenarios import said, said_notes

CALL, STRUCTURE, VALUE, IDS, VERDICT, ORACLE = (
    later("call"),
    later("structure"),
    later("value"),
    later("ids"),
    later("verdict"),
    later("oracle"),
)
"""The columns of the table of cases."""

GREATEST = later("greatest difference")

STATE, VERDICT_OF = attrgetter("state"), attrgetter("verdict")

NARROW = 116
"""Below this width of a terminal only the values' nesting shows the structure."""

WIDE = 140
"""From this width on there is room for ids, and for ratios to the noise."""

NAMED = 8
"""The greatest number of cases that a terminal names among those left out."""


class CaseGroup(msgspec.Struct, frozen=True):
    """The cases of one API."""

    heading: str
    rows: tuple[CaseRow, ...]


class Cases(msgspec.Struct, frozen=True):
    """All cases of a report in groups, and the notes that their rows refer to."""

    groups: tuple[CaseGroup, ...]
    notes: tuple[str, ...]


def cases_of(report: Report) -> Cases:
    """The rows of a report's cases."""
    footnotes = Footnotes()
    # Cases come in the order of the matrix: those of one API are together.
    rows: dict[str, list[CaseRow]] = {}
    for case in report.cases:
        key = answers.heading(case.case)
        rows.setdefault(key, []).append(row_among(case, footnotes))
    groups = []
    for key, group in rows.items():
        groups.append(CaseGroup(_(answers.HEADINGS[key]), tuple(group)))
    return Cases(tuple(groups), footnotes.texts)


# A terminal prints a report in two parts, the first one early.


def report_blocks(report: Report) -> Iterator[Block]:
    """A report on a terminal, readable from 80 columns up."""
    yield from graphs_blocks(report)
    yield from cases_blocks(report)


def graphs_blocks(report: Report) -> Iterator[Block]:
    """The first part: what ran where, and one case's graphs side by side."""
    title = (_title(report), f"  ({one_line(report.scenario)})")
    engines = msgspec.structs.replace(engines_table(report), has_head=False)
    yield Section(title, (engines,), level=1)
    yield from findings(report)
    name = ""
    for case in _captured_cases(report):
        name = case.case.short
        yield Section(_headline(case), tuple(first_divergences(report)))
    graphs = tuple(_graphs(report))
    if report.alignments:
        heading = _("graphs of {case}, pair by pair")
        yield Section(heading.format(case=name), graphs)
    else:
        yield from graphs
    yield from state_section(report)


def cases_blocks(report: Report) -> Iterator[Block]:
    """The second part: the cases, and a summary as the last lines."""
    cases = cases_of(report)
    if cases.groups:
        yield Paragraph(_(answers.NAMES), "faint")
    for group in cases.groups:
        yield Section(group.heading, (_terminal_cases(group),))
    yield from _notes(cases)
    yield from _omissions(report, NAMED)
    if cases.groups:
        yield Paragraph(oracle_summary(report.cases), "faint")
        yield _summary(report)


def case_line(report: CaseReport) -> Text:
    """One case on one line: its name, and the verdict."""
    row = case_row(report)
    verdict = Span(_verdict_and_size(row, row.greatest), tone=row.state)
    return fill(_("{what}: {values}"), what=report.case.short, values=(verdict,))


def _headline(report: CaseReport) -> Text:
    """One case in a sentence: its name, who differs from whom, and what the oracle says."""
    outcome = Span(headline(report), tone=case_row(report).state)
    return fill(_("{what}: {values}"), what=report.case.short, values=(outcome,))


# A page says first what matters, and folds the rest.


def report_html(
    report: Report, pictures: Iterable[Figure] = (), first: Sequence[Block] = ()
) -> str:
    """The report as an HTML document.

    ``first`` is below the verdict, on the first screen.
    """
    return html.page(_title(report), page_blocks(report, tuple(pictures), first))


def report_markdown(report: Report, pictures: Mapping[str, str]) -> str:
    """The report as Markdown; ``pictures`` are files beside it, by their engines."""
    figures = map(picture, pictures, repeat(b""), pictures.values())
    return markdown.page(page_blocks(report, tuple(figures)))


def picture(name: str, svg: bytes = b"", source: str = "") -> Figure:
    """The picture of an engine's graph, with the name of its file."""
    alt = _("Gradient graph of {engine}").format(engine=name)
    return Figure(name, (svg,), alt, caption=name, source=source)


def page_blocks(
    report: Report, pictures: Sequence[Figure] = (), first: Sequence[Block] = ()
) -> Iterator[Block]:
    """A report on a page."""
    name = (Span(one_line(report.scenario), "code"),)
    scenario = Paragraph(fill(_("Scenario {name}"), name=name), "faint")
    yield Section(_title(report), (scenario, _summary(report)), level=1)
    for case in _captured_cases(report):
        yield Paragraph(_headline(case))
    yield from first_divergences(report)
    yield from findings(report)
    yield from first
    graphs = tuple(_graphs(report))
    if graphs:
        yield Section(_("Gradient graphs"), graphs)
    yield from state_section(report)
    yield Paragraph(oracle_summary(report.cases), "faint")
    yield from _omissions(report)
    cases = cases_of(report)
    if cases.groups:
        yield Paragraph(_(answers.NAMES), "faint")
    for group in cases.groups:
        # What is not as it should be is in sight; the rest is a click away.
        fold: Fold = "open" if "alarm" in map(STATE, group.rows) else "closed"
        yield Section(_heading(group), (_page_cases(group),), fold=fold)
    yield from _notes(cases)
    yield Section(_("Engines"), (engines_table(report),), fold="closed")
    about = tuple(filter(None, said_notes(report.notes).split("\n\n")))
    if about:
        yield Section(_("About the scenario"), tuple(map(Paragraph, about)))
    if pictures:
        one, several = _("1 gradient graph"), _("{n} gradient graphs")
        title = one if len(pictures) == 1 else several
        yield Section(title.format(n=len(pictures)), tuple(pictures), fold="closed")


def _title(report: Report) -> str:
    return one_line(said(report.title))


def _heading(group: CaseGroup) -> Text:
    """The heading of a group with the number of cases of each verdict."""
    counts = []
    for verdict, count in Counter(map(VERDICT_OF, group.rows)).items():
        counts.append(_("{n} {verdict}").format(n=count, verdict=verdict))
    name = (Span(group.heading, "code"),)
    return fill(_("{what}: {values}"), what=name, values=_(", ").join(counts))


def _summary(report: Report) -> Paragraph:
    tone: Tone = "good" if report.is_as_expected else "alarm"
    return Paragraph(summary(report), tone, is_strong=True)


def findings(report: Report) -> Iterator[Paragraph]:
    """What was found out about the nets themselves."""
    for finding in report.findings:
        mark, tone = _mark(finding)
        text = whole_line(sentence(finding))
        if tone == "foreseen":
            reason = one_line(said(finding.reason))
            text = _("{values} ({facts})").format(values=text, facts=reason)
        yield Paragraph(fill(_("{what}: {values}"), what=(mark,), values=text), tone)


def _mark(finding: ReportFinding) -> tuple[Span, Tone]:
    if finding.is_remark:
        return Span(_("Remark")), "idle"
    if finding.expected:
        return Span(_("Finding, expected")), "foreseen"
    return Span(_("Finding"), "strong"), "alarm"


def engines_table(report: Report) -> Table:
    """How each engine differentiates, its version, and where it ran or why not."""
    names: set[str] = set()
    for case in report.cases:
        names.update(case.results)
    rows: list[Row] = []
    # A report without cases still says where its engines ran.
    for name in in_order(names or report.devices):
        engine = engine_named(name)
        version = report.versions_of(name).get(engine.framework, "")
        device = report.devices.get(name) or _("not defined here")
        version = f"{engine.framework} {version}".strip()
        rows.append((name, _(engine.how), version, device))
    return Table(columns(map(_, ENGINE_COLUMNS)), tuple(rows))


def _captured_cases(report: Report) -> Iterator[CaseReport]:
    """The case whose graphs were captured, if there is one."""
    labels = {graph.case for graph in report.graphs}
    for case in report.cases:
        if case.case.label in labels:
            yield case


def _omissions(report: Report, limit: int = 0) -> Iterator[Section]:
    """Cases that were not run or not reached: why, and ``limit`` of their names."""
    total = len(report.cases)
    for left_out in report.left_out:
        total += len(left_out.cases)
    for left_out in report.left_out:
        number = len(left_out.cases)
        text = _(answers.OMITTED[left_out.cause])
        text = text.format(n=number, total=total, reason=answers.why_left_out(left_out))
        shown = left_out.cases[: limit or number]
        names = named([case.short for case in shown])
        if len(shown) < number:
            names = _("{names}, … ({n} in all)").format(names=names, n=number)
        title = (Span(one_line(text), tone="foreseen"),)
        cases = Paragraph(names, "faint")
        yield Section(title, (cases,), level=4, fold="closed")


def _graphs(report: Report) -> Iterator[Block]:
    if report.alignments:
        yield alignments_table(report)
        yield Paragraph(_(LEGEND), "faint")
    yield from _about_graphs(report)


def first_divergences(report: Report) -> Iterator[Terms]:
    """The first divergence of each two graphs; each is said once, with its letter, and its cause."""
    counts = Counter(map(_neutral, _diverging(report)))
    letters = _letters(report)
    rows: list[tuple[str, Text]] = []
    for alignment in _diverging(report):
        same = counts.pop(_neutral(alignment), 0)
        if not same:
            continue  # said of an earlier pair
        text = whole_line(first_divergence(alignment))
        if same == 2:
            text = _("{fact}; the same between 1 more pair of engines").format(fact=text)
        elif same > 2:
            text = _("{fact}; the same between {n} more pairs of engines").format(
                fact=text, n=same - 1
            )
        why = whole_line(cause(alignment) or attempts(alignment))
        for more in filter(None, (why, known_line(alignment.plain[0].known))):
            text = _("{what}. {why}").format(what=text, why=more)
        rows.append((letters[_neutral(alignment)], text))
        rows += zip(repeat(""), map(whole_line, _as_if_mended(alignment)))
    if rows:
        yield Terms(tuple(rows))


def _as_if_mended(alignment: Alignment) -> Iterator[str]:
    """The divergences behind, each with its cause, and what was computed again to see them."""
    for one, text in every(alignment):
        if not one.run:
            continue
        for more in reasons(one, alignment):
            text = _("{what}. {why}").format(what=text, why=more)
        yield text
    if alignment.mended:
        yield going_on(alignment.mended, (alignment.left, alignment.right))


def _diverging(report: Report) -> list[Alignment]:
    return [alignment for alignment in report.alignments if alignment.divergence]


def _neutral(alignment: Alignment) -> str:
    """The sentence on a divergence without what differs from pair to pair: engines and noise."""
    divergence = alignment.divergence
    if divergence:
        gap = msgspec.structs.replace(divergence.gap, noise=None, ratio=None)
        divergence = msgspec.structs.replace(divergence, gap=gap)
    seen = (Seen(divergence),) if divergence else ()
    text = whole_line(first_divergence(msgspec.structs.replace(alignment, seen=seen)))
    for engine in (alignment.left, alignment.right):
        text = text.replace(engine, engine_named(engine).framework)
    return text


def _letters(report: Report) -> dict[str, str]:
    """The letter of each divergence by its sentence without names of engines."""
    letters: dict[str, str] = {}
    for alignment in _diverging(report):
        letters.setdefault(_neutral(alignment), ascii_uppercase[len(letters)])
    return letters


def _where(alignment: Alignment, letters: Mapping[str, str]) -> str:
    """Where two graphs differ: the letter of their first divergence, or what there is besides."""
    if alignment.divergence:
        return letters[_neutral(alignment)]
    return whole_line(where_they_differ(alignment))


def alignments_table(report: Report) -> Table:
    """How many op nodes of two graphs have a partner, and where the graphs differ.

    A divergence is named by its letter in ``first_divergences``.
    """
    letters = _letters(report)
    rows: list[Row] = []
    for alignment in report.alignments:
        left, right = alignment.left_coverage, alignment.right_coverage
        differs = alignment.divergence or alignment.contradictions
        tone: Tone = "foreseen" if differs else ""
        rows.append(
            (
                f"{alignment.left} · {alignment.right}",
                of_both(left.forward, right.forward),
                of_both(left.backward, right.backward),
                (Span(_where(alignment, letters), tone=tone),),
            )
        )
    return Table(columns(map(_, ALIGNMENT_COLUMNS)), tuple(rows))


def _about_graphs(report: Report) -> Iterator[Terms]:
    """The graphs that are missing, and what is known of the others' values."""
    missing: dict[str, list[str]] = {}
    for engine, why in report.ungraphed.items():
        missing.setdefault(shortened(why_no_graph(why)), []).append(engine)
    rows = []
    for reason, without in missing.items():
        names = who(without, list(report.devices))
        rows.append((_("no graph from {engine}").format(engine=names), reason))
    if rows:
        yield Terms(tuple(rows))
    proven: list[tuple[str, str]] = []
    refuted: list[tuple[str, str]] = []
    above: ProofCounts | None = None
    for graph in last_stages(report.graphs):
        counts = proofs(graph)
        if counts.op_nodes:
            proven.append((graph.engine, one_line(in_words(counts, above))))
            above = counts
        refuted += zip(repeat(graph.engine), map(one_line, warnings(graph)))
    if proven:
        yield Terms(tuple(proven))
    if refuted:
        yield Terms(tuple(refuted), "alarm")


def where_two_differ(report: Report, graphs: Sequence[GradGraph]) -> Iterator[Paragraph]:
    """Where two graphs first differ, as in the table of pairs, above their pictures."""
    engines = [graph.engine for graph in graphs]
    letters = _letters(report)
    for alignment in report.alignments:
        if {alignment.left, alignment.right} == set(engines):
            text = _("{engines}, first divergence: {what}")
            where = _where(alignment, letters)
            text = text.format(engines=" · ".join(engines), what=where)
            yield Paragraph(text)
            return


def _notes(cases: Cases) -> Iterator[Section]:
    if cases.notes:
        yield Section(_("Notes"), (Bullets(cases.notes, anchor="note"),))


def _verdict_and_size(row: CaseRow, size: str) -> str:
    if size in ("0", NOTHING):
        return row.verdict
    return sized(row.verdict, size)


def _terminal_cases(group: CaseGroup) -> Table:
    # Values nest as the structure does, and ids repeat its names: both go first.
    longest = ""
    for row in group.rows:
        # Without a structure, a reference takes that column's room too.
        if row.is_reference and row.structure:
            longest = max(longest, row.value, key=len)
    columns = [
        Column(_(CALL), "firm"),
        Column(_(STRUCTURE), "cut", from_width=NARROW),
        Column(_(VALUE), "cut", whole=longest),
        Column(_(IDS), "cut", may_be_empty=True, from_width=WIDE),
        Column(_(VERDICT), "firm", to_width=WIDE - 1),
        Column(_(VERDICT), "firm", from_width=WIDE),
        Column(_(ORACLE), "firm"),
    ]
    rows: list[Row] = []
    for row in group.rows:
        notes = "".join(f" [{number}]" for number in row.notes)
        # Under a case whose difference is not expected, asides say the noise.
        short = Span(_verdict_and_size(row, row.size) + notes, tone=row.state)
        full = Span(_verdict_and_size(row, row.greatest) + notes, tone=row.state)
        rows.append((*_answer(row), (short,), (full,), row.oracle))
        rows += _asides(row)
    return table(columns, rows)


def _page_cases(group: CaseGroup) -> Table:
    names = (CALL, STRUCTURE, VALUE, IDS, VERDICT, GREATEST, ORACLE)
    rows: list[Row] = []
    for row in group.rows:
        verdict: list[str | Span] = [Span(row.verdict, tone=row.state)]
        for number in row.notes:
            verdict += [" ", Span(f"[{number}]", link=f"#note{number}")]
        rows.append((*_answer(row), tuple(verdict), row.greatest, row.oracle))
        rows += _asides(row)
    columns = [Column(_(name), may_be_empty=name == IDS) for name in names]
    columns[names.index(VERDICT)] = Column(_(VERDICT), "firm")
    return table(columns, rows)


def _answer(row: CaseRow) -> tuple[str, ...]:
    return row.call, row.structure, row.value, row.ids


def _asides(row: CaseRow) -> list[Aside]:
    return [Aside(statement.who, statement.text) for statement in row.statements]


def cases_in_short(cases: Iterable[CaseReport], caption: str = "") -> Table:
    """Cases with one row each; in place of a value, what the engines say."""
    rows: list[Row] = []
    for case in cases:
        row = case_row(case)
        value = row.value
        if not value and case.verdict in DIVIDED:
            engines = filter(attrgetter("who"), row.statements)
            value = _("; ").join(f"{each.who} {each.text}" for each in engines)
        rows.append((row.call, row.structure, value, row.verdict, row.greatest))
    names = (CALL, STRUCTURE, VALUE, VERDICT, GREATEST)
    return table(columns(map(_, names)), rows, caption)
