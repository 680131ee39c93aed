"""Rows of the table of correspondences as blocks, as one page, and as one JSON document."""

from collections.abc import Iterator, Sequence

from explorer.blocks import markdown
from explorer.blocks.records import (
    Block,
    Bullets,
    Column,
    Paragraph,
    Row,
    Section,
    Span,
    Table,
    Terms,
    Text,
    table,
)
from explorer.model.engines import FRAMEWORK_LABELS, NEEDED, Framework
from explorer.operators.records import Argument
from explorer.operators.records import Row as Correspondence
from explorer.operators.table import CHECKED, correspondences, last_name
from explorer.operators.translation import differences, same_as, shown
from explorer.report.json import Document
from explorer.scenario.layouts import KNOWN, Layout, layout_of, torch_name, written
from explorer.text.language import ENGLISH, _, later, named, said_in
from explorer.words.correspondences import compared, facts, translation_text, unmatched

TITLE = later("Correspondences")


def _code(text: str) -> Span | str:
    return Span(text, style="code") if text else ""


def row_blocks(row: Correspondence, level: int = 2) -> Iterator[Block]:
    """One row: what it is in the other framework, argument by argument."""
    blocks = tuple(_parts(row))
    here, there = row.name("mindspore"), row.name("torch")
    title = (Span(here, style="code"), " – ", Span(there, style="code"))
    yield Section(title, blocks, level=level)


def _parts(row: Correspondence) -> Iterator[Block]:
    if row.arguments:
        yield _arguments(row)
    yield from _differences(row)
    notes = facts(row)
    if notes:
        yield Bullets(tuple(notes))
    yield Terms(tuple(_names(row)))
    terms = [(f"`{name}`", text) for name, text in unmatched(row)]
    if terms:
        yield Paragraph(_("Not translated:"))
        yield Terms(tuple(terms))


def _arguments(row: Correspondence) -> Table:
    differing = [difference.argument for difference in differences(row)]
    heads = (
        Column("MindSpore", "firm"),
        Column(_("default")),
        Column("PyTorch", "firm"),
        Column(_("default")),
        Column("", may_be_empty=True),
        Column(_("translation"), may_be_empty=True),
    )
    rows: list[Row] = []
    for argument in row.arguments:
        mark = Span("≠", tone="foreseen") if argument in differing else ""
        rows.append(
            (
                (_code(argument.name("mindspore")),),
                (_default(argument, "mindspore"),),
                (_code(argument.name("torch")),),
                (_default(argument, "torch"),),
                (mark,) if mark else "",
                translation_text(argument),
            )
        )
    return table(heads, rows)


def _default(argument: Argument, framework: Framework) -> Span | str:
    """A default; nothing where the side lacks the argument."""
    if not argument.name(framework):
        return ""
    written = shown(argument.default(framework))
    return _code(written) if written else _("required")


def _differences(row: Correspondence) -> Iterator[Block]:
    if not row.arguments or row.kind == "operator":
        return
    if not differences(row):
        yield Paragraph(_("The defaults do the same."), tone="good")
        return
    here, there = same_as(row, "mindspore"), same_as(row, "torch")
    terms: list[tuple[str, tuple[Span, ...]]] = []
    if here:
        terms.append((_("as PyTorch's by default"), (Span(here, style="code"),)))
    if there:
        terms.append((_("as MindSpore's by default"), (Span(there, style="code"),)))
    yield Paragraph(_("The defaults differ (≠)."), tone="foreseen")
    if terms:
        yield Terms(tuple(terms))


def _names(row: Correspondence) -> Iterator[tuple[str, Text]]:
    column = row.columns["mindspore"]
    if column.weights:
        yield _("weights"), named([_weight(row, name) for name in column.weights])
    if column.alike:
        yield _("with PyTorch's names and defaults"), named([f"`{name}`" for name in column.alike])
    operators = [f"`{name}`" for framework in NEEDED for name in row.columns[framework].graph]
    if operators:
        yield _("in graphs"), named(operators)
    versions = [f"{FRAMEWORK_LABELS[name]} {CHECKED[name]}" for name in NEEDED]
    yield _("checked"), _("{what}; {versions}").format(what=compared(row), versions=named(versions))
    for framework in NEEDED:
        page = row.page(framework)
        yield FRAMEWORK_LABELS[framework], (Span(page, link=page),)


def weight_there(row: Correspondence, name: str) -> tuple[str, Layout]:
    """PyTorch's name of a layer's weight, and the steps that turn MindSpore's array into it."""
    kind = last_name(row.name("mindspore"))
    cells = {"": KNOWN[kind]} if kind in KNOWN else {}
    return torch_name(name, name, cells, {}), layout_of(name, name, cells, {})


def _weight(row: Correspondence, name: str) -> str:
    there, layout = weight_there(row, name)
    text = f"`{name}`" if name == there else f"`{name}` → `{there}`"
    return f"{text} {written(layout)}" if layout else text


def list_blocks(rows: Sequence[Correspondence]) -> Iterator[Block]:
    """Rows as a table: what is what, and whether the defaults differ."""
    heads = (
        Column("MindSpore", "firm"),
        Column("PyTorch", "firm"),
        Column(_("defaults that differ"), may_be_empty=True),
    )
    yield table(heads, [_listed(row) for row in rows])


def _listed(row: Correspondence) -> Row:
    names: list[str] = []
    for difference in differences(row):
        sides = (difference.argument.name(framework) for framework in NEEDED)
        alike = dict.fromkeys(filter(None, sides))
        names.append(f"`{'/'.join(alike)}`")
    return (_code(row.name("mindspore")),), (_code(row.name("torch")),), named(names)


def page() -> str:
    """The whole table as a page of Markdown."""
    with said_in(ENGLISH):
        return markdown.page([Section(_(TITLE), tuple(_page_blocks()), level=1)])


def _page_blocks() -> Iterator[Block]:
    versions = [f"{FRAMEWORK_LABELS[name]} {CHECKED[name]}" for name in NEEDED]
    text = _(
        "Which function and layer of MindSpore is which of PyTorch, argument by argument, and what"
        " differs by default. Both sides of each row were run on random arguments and gave the same"
        " ({versions}, on CPU). What is said to have PyTorch's names and defaults was compared by its"
        " signature alone."
    )
    yield Paragraph(text.format(versions=named(versions)))
    text = _("`python -m explorer correspond NAME` prints one of them, by any of its names.")
    yield Paragraph(text)
    parts = (
        (_("Functions"), correspondences("function")),
        (_("Layers"), correspondences("layer")),
        (_("Operators of graphs"), correspondences("operator")),
    )
    for title, rows in parts:
        sections = [block for row in rows for block in row_blocks(row, level=3)]
        yield Section(title, (*list_blocks(rows), *sections))


def correspondences_document(rows: Sequence[Correspondence]) -> Document:
    """Rows as plain data, in English."""
    with said_in(ENGLISH):
        return {"correspondences": [_as_data(row) for row in rows]}


def _as_data(row: Correspondence) -> Document:
    differing = [difference.argument for difference in differences(row)]
    arguments: list[Document] = []
    for argument in row.arguments:
        sides: Document = {}
        for framework in NEEDED:
            sides[framework] = _side(argument, framework)
        arguments.append(
            {
                **sides,
                "transformation": argument.way(),
                "how": translation_text(argument),
                "differs_by_default": argument in differing,
            }
        )
    column = row.columns["mindspore"]
    return {
        "family": row.family,
        "kind": row.kind,
        **{framework: row.name(framework) for framework in NEEDED},
        "arguments": arguments,
        "as_torch_by_default": same_as(row, "mindspore"),
        "as_mindspore_by_default": same_as(row, "torch"),
        "facts": facts(row),
        "not_translated": dict(unmatched(row)),
        "alike": list(column.alike),
        "weights": {name: weight_there(row, name)[0] for name in column.weights},
        "operators": {framework: list(row.columns[framework].graph) for framework in NEEDED},
        "pages": {framework: row.page(framework) for framework in NEEDED},
        "checked": dict(CHECKED),
        "compared": row.compared,
    }


def _side(argument: Argument, framework: Framework) -> Document | None:
    """An argument on one side; None where it lacks it."""
    name, written = argument.name(framework), shown(argument.default(framework))
    if not name:
        return None
    return {"name": name, "default": written, "is_required": not written}
