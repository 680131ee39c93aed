"""The blocks that a directive of a document shows."""

import re
from collections.abc import Iterator
from typing import Literal

import msgspec

from explorer.api import claims, diff, explore, graph
from explorer.api.results import Difference, Picture
from explorer.blocks.records import Block, Code, Figure, Paragraph
from explorer.documents.directives import Directive
from explorer.model.report import CaseReport
from explorer.report.claims.programs import programs
from explorer.report.claims.wording import evidence_table, row_as_read, title, verdict_sentence
from explorer.report.scenario.page import cases_in_short
from explorer.text.messages import one_line
from explorer.words.cases import summary_of
from explorer.words.claims import advice_text, evidence_text


class Way(msgspec.Struct, frozen=True):
    """The way in which a tool wants the pictures.

    ``fresh`` ignores stored results; pictures have a format, and SVGs' ids begin with ``prefix``.
    With ``each`` two graphs are an SVG each, and otherwise one file.
    """

    fresh: bool = False
    file_format: Literal["svg", "png"] = "svg"
    prefix: str = ""
    each: bool = False


def contents(shown: Directive, way: Way | None = None) -> tuple[Block, ...]:
    """The blocks of a directive, stored or run; raises ExplorerError where it cannot be run."""
    return tuple(MAKERS[shown.kind](shown, way or Way()))


def _graph(shown: Directive, way: Way) -> Iterator[Block]:
    picture = graph(
        shown.subject,
        *shown.engines,
        case=shown.options.get("case"),
        view=shown.options.get("view", "ladder"),  # type: ignore[arg-type]  # checked with the directive
        depth=shown.depth,
        stage=shown.options.get("stage"),
        device=shown.options.get("device", "cpu"),
        fresh=way.fresh,
        format=way.file_format,
        prefix=way.prefix,
    )
    yield _figure(shown, picture, way)


def _diff(shown: Directive, way: Way) -> Iterator[Block]:
    left, right = shown.engines
    parted = diff(
        shown.subject,
        left,
        right,
        case=shown.options.get("case"),
        device=shown.options.get("device", "cpu"),
        fresh=way.fresh,
    )
    yield Paragraph(one_line(parted.explain()), is_strong=True)
    yield Code("\n".join(_lines(parted)))
    yield _figure(shown, parted.graph(format=way.file_format, prefix=way.prefix), way)


def _lines(parted: Difference) -> Iterator[str]:
    # The sentence is shown above already.
    for line in str(parted).split("\n"):
        if line != parted.explain():
            yield line


def _figure(shown: Directive, picture: Picture, way: Way) -> Figure:
    options = shown.options
    return Figure(
        name=file_name(shown),
        files=picture.each() if way.each else (picture.content,),
        alt=one_line(options.get("alt") or picture.description),
        caption=options.get("caption", ""),
        width=options.get("width", ""),
        align=options.get("align", ""),
        folder=options.get("folder", "images"),
    )


def file_name(shown: Directive) -> str:
    """A name for the file of a directive's picture, of plain characters, without an ending."""
    drawn = ("case", "view", "depth", "stage", "device")
    words = [shown.subject.removesuffix(".py").rpartition("/")[2], *shown.engines]
    words += [shown.options[name] for name in drawn if name in shown.options]
    kind = "diff-" if shown.kind == "gradient-diff" else ""
    return kind + "-".join(re.sub(r"[^A-Za-z0-9]+", "_", word).strip("_") for word in words)


def _table(shown: Directive, way: Way) -> Iterator[Block]:
    options = shown.options
    found = explore(
        shown.subject,
        engines=shown.engines or None,
        cases=options.get("cases"),
        order=int(options.get("order", "1")),
        device=options.get("device", "cpu"),
        fresh=way.fresh,
    )
    cases = tuple(case for case in found.report.cases if _is_shown(case, options))
    caption = options.get("caption", summary_of(cases, found.report))
    yield cases_in_short(cases, caption)


def _is_shown(case: CaseReport, options: dict[str, str]) -> bool:
    """Whether a case is selected by the options of a table."""
    by_api = options.get("api", case.case.api)
    by_verdict = options.get("verdict", case.verdict)
    return case.case.api == by_api and case.verdict == by_verdict


def _claim(shown: Directive, way: Way) -> Iterator[Block]:
    board = claims(int(shown.subject), fresh=way.fresh).board
    row = row_as_read(board.rows[0])
    yield Paragraph(f"{row.id}. {row.statement}", is_strong=True)
    yield Paragraph(verdict_sentence(row))
    evidence = evidence_table(row)
    if evidence.rows:
        yield evidence
    else:
        yield Paragraph(one_line(evidence_text(row)))
    yield Paragraph(advice_text(row))
    if shown.options.get("code") == "yes":
        for program in programs(board, row):
            yield Paragraph(f"{title(program.heading)}:")
            yield Code(program.code, "python")


MAKERS = {
    "gradient-graph": _graph,
    "gradient-diff": _diff,
    "gradient-table": _table,
    "gradient-claim": _claim,
}
"""What makes the blocks of each kind of directive."""


ROOT_CLASS = re.compile(r'class="([\w-]*gradgraph)"')


def themed(svg: str, theme: str) -> str:
    """The SVG in "light" or "dark" colours, whatever the reader prefers."""
    return ROOT_CLASS.sub(rf'class="\1 {theme}"', svg, count=1)
