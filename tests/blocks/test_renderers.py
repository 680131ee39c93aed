"""Blocks on a terminal, as HTML and as Markdown: what each shows, and that foreign text is text."""

import re
from collections.abc import Callable
from itertools import pairwise

import pytest
from rich.cells import cell_len
from rich.text import Text as Plain

from explorer.blocks.html import DOCUMENT, NOTEBOOK, PAGE, html, page
from explorer.blocks.markdown import markdown
from explorer.blocks.records import (
    Aside,
    Block,
    Bullets,
    Code,
    Column,
    Figure,
    Markup,
    Paragraph,
    Section,
    Span,
    Table,
    Terms,
    columns,
    fill,
    plain,
    spans,
    table,
)
from explorer.blocks.terminal import CLOSING, OPENING, line_starts, pieces_between_breaks, show
from tests.blocks.test_escaped_once import blocks_of
from tests.support.consoles import printed
from tests.support.html_pages import HtmlPage

HOSTILE = "<script>x</script> | [red]\x1b[31m\u202e `a<b` *b*"
"""A text that would harm each face that did not escape it."""

SVG = b'<svg xmlns="http://www.w3.org/2000/svg"></svg>'


def on_terminal(*blocks: Block, width: int = 100) -> str:
    return printed(lambda console: show(blocks, console), width)


FACES: dict[str, Callable[[Block], str]] = {
    "terminal": on_terminal,
    "Markdown": lambda block: markdown((block,)),
    "page": lambda block: html((block,), PAGE),
    "document": lambda block: html((block,), DOCUMENT),
    "notebook": lambda block: html((block,), NOTEBOOK),
}

HOSTILE_BLOCKS: dict[str, Block] = {
    **blocks_of(HOSTILE),
    "cut table": Table((Column(HOSTILE, "cut"), Column("b")), ((HOSTILE, HOSTILE),)),
    "anchor": Section(HOSTILE, (), fold="closed", anchor=HOSTILE),
}


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("kind", HOSTILE_BLOCKS)
def test_foreign_text_stays_text_in_every_block(face: str, kind: str) -> None:
    shown = FACES[face](HOSTILE_BLOCKS[kind])
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    if face in ("page", "document", "notebook"):
        assert "script" not in HtmlPage(shown).tags
    elif face == "Markdown" and kind != "code":
        assert "<script>" not in shown


@pytest.mark.parametrize("face", FACES)
def test_every_block_but_markup_and_pictures_shows_its_text(face: str) -> None:
    texts = (
        Section("title", (Paragraph("one"), Section("inner", (Code("two"),), level=3))),
        Bullets(("three",)),
        Terms((("four", "five"),)),
        Table(columns(("six",)), (("seven",),)),
    )
    shown = "\n".join(FACES[face](block) for block in texts)
    for word in ("title", "one", "inner", "two", "three", "four", "five", "six", "seven"):
        assert word in shown


@pytest.mark.parametrize("face", ["page", "Markdown"])
def test_a_text_without_a_term_begins_with_itself(face: str) -> None:
    shown = FACES[face](Terms((("four", "five"), ("", "six"))))
    assert "four: five" in shown
    assert ": six" not in shown


def test_a_terminal_indents_what_is_in_a_section_and_sets_sections_apart() -> None:
    inner = Section("inner", (Paragraph("b"),), level=3)
    shown = on_terminal(Section("one", (Paragraph("a"), inner)), Paragraph("after"))
    assert shown == "one\n  a\n\ninner\n  b\n\nafter\n"
    continued = printed(lambda console: show([Section("x", ())], console, is_continued=True))
    assert continued == "\nx\n"


def test_a_whole_paragraph_is_on_one_line_of_the_narrowest_terminal() -> None:
    command = "python -m pip install " + "x" * 50
    assert command in on_terminal(Paragraph(command, is_whole=True), width=20)
    assert command not in on_terminal(Paragraph(command), width=20)


SENTENCE = (
    "系数取最佳值 2^16 时 0 % 为零（`aten.gelu.default`，my_net.py:36），PyTorch 按张量是否同一个来累加，"
    "静态图则把两个参数分开（中心差分也是如此）：-0.129832 与 “-0.129606”。"
)

WIDTHS = range(30, 130, 9)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_terminal_loses_and_cuts_nothing_of_a_chinese_text(width: int) -> None:
    words = [word for word in re.findall(r"[!-~]+", SENTENCE) if len(word) > 1]
    blocks = (
        Bullets((SENTENCE,)),
        Bullets((SENTENCE,), anchor="note"),
        Paragraph(SENTENCE),
        Terms((("名", SENTENCE),)),
        Table((Column("甲"), Column("乙")), (("a", SENTENCE),)),
        Table((Column("甲", is_numeric=True),), ((SENTENCE,),)),
    )
    for block in blocks:
        shown = on_terminal(block, width=width)
        assert "".join(SENTENCE.split()) in "".join(shown.split()), block
        for word in words:
            assert word in shown, (block, word)
        for printed_line in shown.splitlines():
            assert cell_len(printed_line) <= width
            assert printed_line.strip()[0] not in CLOSING, shown
            assert printed_line.strip()[-1] not in OPENING, shown


@pytest.mark.parametrize("width", range(2, 102, 7))
def test_lines_of_chinese_are_full_and_hold_words_that_fit_whole(width: int) -> None:
    starts = [0, *line_starts(SENTENCE, width), len(SENTENCE)]
    lines = [SENTENCE[start:end] for start, end in pairwise(starts)]
    assert "".join(lines) == SENTENCE
    assert all(0 < cell_len(part.rstrip()) <= width for part in lines)
    for word in re.findall(r"[!-~]+", SENTENCE):
        if len(word) <= width:
            assert any(word in part for part in lines), word
    for part, following in pairwise(lines):
        (first, *_) = pieces_between_breaks(following)
        assert cell_len(part + first.rstrip()) > width


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("梯度（前向）：一", ["梯", "度", "（前", "向）：", "一"]),
        ("与 `a.b`，x/y 个", ["与 ", "`a.b`，", "x/y ", "个"]),
        ("的“值”", ["的", "“值”"]),
        ("约 5 %。", ["约 ", "5 %。"]),
        ("（ a）", ["（ a）"]),
        ("a ，b", ["a ，", "b"]),
        ("a · b 与 .py", ["a · ", "b ", "与 ", ".py"]),
    ],
)
def test_chinese_breaks_beside_its_characters_but_not_inside_brackets(
    text: str, pieces: list[str]
) -> None:
    assert pieces_between_breaks(text) == pieces


def test_brackets_leave_an_identifier_that_fits_a_line_without_them() -> None:
    text = "（identifier）。"
    assert line_starts(text, 10) == [1, 11]


def test_english_is_broken_as_rich_breaks_it() -> None:
    text = "the first divergence (forward): `aten.gelu.default`, of two"
    for width in (8, 20, 33):
        ours = on_terminal(Paragraph(text), width=width)
        theirs = printed(lambda console: console.print(Plain(text)), width)
        assert [part.rstrip() for part in theirs.splitlines()] == ours.splitlines()


LONG = Table(
    (
        Column("call", "firm"),
        Column("value", "cut"),
        Column("wide", "cut", from_width=90),
        Column("narrow", to_width=89),
    ),
    (("a" * 20, "b" * 90, "w", "n"), Aside("who", "says this"), ("c", "d", "w", "n")),
)


@pytest.mark.parametrize(("width", "is_wide"), [(60, False), (89, False), (90, True)])
def test_a_terminal_cuts_columns_so_that_each_row_is_one_line(width: int, is_wide: bool) -> None:
    lines = on_terminal(LONG, width=width).splitlines()
    assert len(lines) == 4
    assert max(map(len, lines)) <= width
    assert "a" * 20 in lines[1]
    assert "b…" in lines[1]
    assert lines[2].split() == ["who", "says", "this"]
    assert (("wide" in lines[0]), ("narrow" in lines[0])) == (is_wide, not is_wide)


def test_a_cell_is_cut_between_words_and_takes_the_room_of_empty_ones_before_it() -> None:
    words = "one two three four five six"
    head = (Column("call", "firm"), Column("a", "cut"), Column("b", "cut"))
    shown = Table(head, (("x", words, words), ("x", "", words), ("x", "c" * 40, "")))
    _, both, alone, letters = on_terminal(shown, width=50).splitlines()
    assert both == "x     one two three four …  one two three four …"
    assert alone.endswith(words)
    assert letters.endswith("c…")


def test_a_column_has_room_for_its_whole_text() -> None:
    head = (Column("a", "cut"), Column("b", "cut", whole="r" * 30))
    long = ("a " * 30, "b" * 60)
    (_, first, second) = on_terminal(Table(head, (long, ("a", "r" * 30))), width=50).splitlines()
    assert second.endswith("r" * 30)
    assert len(first) <= 50
    narrow = on_terminal(Table(head, (long, ("a", "r" * 30))), width=30)
    assert max(map(len, narrow.splitlines())) <= 30


def test_asides_are_rows_of_a_page_and_of_markdown() -> None:
    rows = (("a", "b", "c", "d"), Aside("who", "text"))
    shown = Table(columns(("1", "2", "3", "4")), rows)
    assert markdown((shown,)).splitlines()[-1] == "|  | who | text |  |"
    assert 'colspan="3">text</td>' in html((shown,), PAGE)


def test_a_column_that_may_be_empty_and_is_goes_with_its_cells() -> None:
    named = (Column("a"), Column("b", may_be_empty=True), Column("c", may_be_empty=True))
    made = table(named, [("1", "", ""), Aside("x", "y"), ("2", "", (Span("3"),))])
    assert [column.name for column in made.columns] == ["a", "c"]
    assert made.rows == (("1", ""), Aside("x", "y"), ("2", (Span("3"),)))
    assert made.texts == [["1", ""], ["2", "3"]]


def test_a_place_of_a_template_is_filled_with_spans_and_code_may_reach_over_it() -> None:
    bold = (Span("x", "strong"),)
    filled = fill("`run {n}`: {what}.", n="3", what=bold)
    assert filled == ("`run 3`: ", Span("x", "strong"), ".")
    assert plain(filled) == "`run 3`: x."
    assert [span.style for span in spans(filled)] == ["code", "", "strong", ""]


def test_code_between_backticks_keeps_the_tone_of_its_span() -> None:
    shown = html((Paragraph((Span("of `mul`", tone="alarm"),)),), PAGE)
    assert '<span class="alarm"><code>mul</code></span>' in shown


def test_links_lead_to_anchors_of_a_page_and_to_files_of_markdown() -> None:
    note = Paragraph((Span("[1]", link="#note1"),))
    file = Paragraph((Span("30", link="30.md"),))
    assert '<a href="#note1">[1]</a>' in html((note,), PAGE)
    assert '<li id="note1">' in html((Bullets(("a",), anchor="note"),), PAGE)
    # A notebook has ids of its own, and each dialect of Markdown anchors of another kind.
    assert "note1" not in html((note, Bullets(("a",), anchor="note")), NOTEBOOK)
    assert markdown((note, file)) == "\\[1\\]\n\n[30](30.md)"


def test_a_page_has_the_style_and_a_notebook_brings_none() -> None:
    strong = Section("t", (Paragraph("x", "alarm", is_strong=True),), level=1)
    assert '<p class="summary alarm">x</p>' in page("t", (strong,))
    assert "<h1>t</h1>" in page("t", (strong,))
    assert html((strong,), NOTEBOOK) == "<h4>t</h4>\n<p><strong>x</strong></p>"


@pytest.mark.parametrize(
    ("fold", "tag"), [("open", "<details open>"), ("closed", "<details>"), ("", "<h2>")]
)
def test_html_alone_folds_sections(fold: str, tag: str) -> None:
    section = Section("t", (Paragraph("x"),), fold=fold)  # type: ignore[arg-type]  # of Literal
    assert html((section,)).startswith(tag)
    assert markdown((section,)) == "## t\n\nx"


def test_a_picture_is_inline_a_whole_image_or_a_file() -> None:
    figure = Figure("net", (SVG, SVG), "two graphs", source="net.svg")
    assert html((figure,), PAGE).count("<svg ") == 2
    assert html((figure,), NOTEBOOK).count('src="data:image/svg+xml;base64,') == 2
    assert markdown((figure,)) == "![two graphs](net.svg)"
    assert on_terminal(figure, Markup("<b>")) == ""
    assert markdown((Markup("<b>"),)) == ""
