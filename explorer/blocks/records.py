"""The blocks of a page: plain records, whose texts are neither escaped nor cleaned."""

import re
from collections.abc import Iterable, Iterator
from itertools import compress
from typing import Literal, Union

import msgspec

from explorer.text.language import _, closes

Tone = Literal["", "good", "foreseen", "alarm", "idle", "faint"]
"""As expected; different, with a reason given; not as expected; nothing to
compare; of less weight. A renderer has a colour for each."""

Style = Literal["", "strong", "emphasis", "code"]

Fold = Literal["", "open", "closed"]
"""Whether HTML folds a section, and how it is at first."""

CODE = re.compile(r"`([^`]+)`")
"""Code within a plain text."""

PLACE = re.compile(r"\{(\w+)\}")
"""A place in a template that a text fills."""


class Span(msgspec.Struct, frozen=True):
    """A piece of a text; a ``link`` leads to an anchor of the page or to a file."""

    text: str
    style: Style = ""
    tone: Tone = ""
    link: str = ""


Text = str | tuple[str | Span, ...]
"""Text on one line; outside styled spans, what is between backticks is code."""


class Paragraph(msgspec.Struct, frozen=True):
    """A paragraph; a terminal never breaks a ``whole`` one, which is to be copied."""

    text: Text
    tone: Tone = ""
    is_strong: bool = False
    is_whole: bool = False


class Bullets(msgspec.Struct, frozen=True):
    """A list; with an ``anchor`` its items are numbered, and "note1" is the first."""

    items: tuple[Text, ...]
    anchor: str = ""


class Terms(msgspec.Struct, frozen=True):
    """Texts, each behind what it is about; one without that goes on with the row before."""

    rows: tuple[tuple[str, Text], ...]
    tone: Tone = ""

    @property
    def sentences(self) -> tuple[Text, ...]:
        """Each row as one text."""
        form = _("{what}: {values}")
        return tuple(
            fill(form, what=term, values=text) if term else text for term, text in self.rows
        )


class Code(msgspec.Struct, frozen=True):
    """Text shown as it is: a program in a language, or what one printed ("text")."""

    text: str
    language: str = "text"


class Column(msgspec.Struct, frozen=True):
    """A column of a table.

    ``fit`` says what a terminal does with cells that are too long: it folds or cuts
    them, or gives the column all the room it needs. The column is left out of a
    terminal narrower than ``from_width`` or wider than ``to_width``, and everywhere
    if it ``may_be_empty`` and is. Nor does HTML break the lines of a "firm" one.
    One that is cut has room for the text ``whole``.
    """

    name: str
    fit: Literal["fold", "cut", "firm"] = "fold"
    is_numeric: bool = False
    may_be_empty: bool = False
    from_width: int = 0
    to_width: int = 100_000
    whole: str = ""

    def fits(self, width: int) -> bool:
        """Whether a terminal of this width shows the column."""
        return self.from_width <= width <= self.to_width


class Aside(msgspec.Struct, frozen=True):
    """A line below a row of a table: who says something, "" for nobody, and what."""

    who: str
    text: str


Row = tuple[Text, ...] | Aside


class Table(msgspec.Struct, frozen=True):
    """Rows of cells under columns, and asides below them."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    caption: str = ""
    has_head: bool = True

    @property
    def texts(self) -> list[list[str]]:
        """The cells of all rows, without asides, as plain text."""
        rows = [row for row in self.rows if not isinstance(row, Aside)]
        return [list(map(plain, row)) for row in rows]


class Figure(msgspec.Struct, frozen=True):
    """A picture: its files, its text alternative, and its place on the page.

    ``files`` is one SVG or PNG, or an SVG for each of two graphs; ``name`` is of plain
    characters, a file's name without its ending. ``folder`` is where a document that
    needs files has them. ``source`` is a file beside the page that has the picture.
    """

    name: str
    files: tuple[bytes, ...]
    alt: str
    caption: str = ""
    width: str = ""
    align: str = ""
    folder: str = "images"
    source: str = ""


class Markup(msgspec.Struct, frozen=True):
    """HTML of the project's own, which other formats leave out."""

    html: str


class Section(msgspec.Struct, frozen=True):
    """Blocks under a title; that of ``level`` 1 is the page's."""

    title: Text
    blocks: tuple["Block", ...]
    level: int = 2
    fold: Fold = ""
    anchor: str = ""


Block = Union[  # noqa: UP007  # Section is recursive: "Block" in quotes is a name
    Paragraph, Bullets, Terms, Code, Table, Figure, Markup, Section
]


def columns(names: Iterable[str]) -> tuple[Column, ...]:
    """Columns with nothing but names."""
    return tuple(map(Column, names))


def table(columns: Iterable[Column], rows: Iterable[Row], caption: str = "") -> Table:
    """A table without the columns that may be empty and are."""
    whole, every_row = tuple(columns), tuple(rows)
    filled: set[int] = set()
    for row in every_row:
        if not isinstance(row, Aside):
            filled.update(place for place, cell in enumerate(row) if cell)
    is_kept = []
    for place, column in enumerate(whole):
        is_kept.append(place in filled or not column.may_be_empty)
    shown: list[Row] = []
    for row in every_row:
        if isinstance(row, Aside):
            shown.append(row)
        else:
            shown.append(tuple(compress(row, is_kept)))
    return Table(tuple(compress(whole, is_kept)), tuple(shown), caption)


def fill(template: str, **texts: Text) -> Text:
    """A template whose places are filled by texts, with the spans in them."""
    joined: list[str | Span] = [""]
    # The names of places are at the odd places.
    for place, piece in enumerate(PLACE.split(template)):
        value = texts[piece] if place % 2 else piece
        joined[-1], value = _without_blank(joined[-1], value)
        for part in pieces(value):
            before = joined[-1]
            # Strings side by side are one: code may reach over the end of a place.
            if isinstance(part, str) and isinstance(before, str):
                joined[-1] = before + part
            else:
                joined.append(part)
    return tuple(filter(None, joined))


def _without_blank(before: str | Span, after: Text) -> tuple[str | Span, Text]:
    """Two neighbours in a template, without the blank between them if both are Chinese."""
    first = plain(before) if isinstance(before, str) else before.text
    last = plain(after)
    if isinstance(before, str) and first.endswith(" ") and closes(first.rstrip(), last):
        return first.rstrip(), after
    if isinstance(after, str) and last.startswith(" ") and closes(first, last.lstrip()):
        return before, last.lstrip()
    return before, after


def pieces(text: Text) -> tuple[str | Span, ...]:
    """The strings and the spans of a text."""
    return (text,) if isinstance(text, str) else text


def spans(text: Text) -> Iterator[Span]:
    """The spans of a text; what one without a style has between backticks is code."""
    for piece in pieces(text):
        span = Span(piece) if isinstance(piece, str) else piece
        if span.style:
            yield span
            continue
        for place, part in enumerate(CODE.split(span.text)):
            style: Style = "code" if place % 2 else ""
            if part:
                yield Span(part, style, span.tone, span.link)


def plain(text: Text) -> str:
    """The text alone."""
    whole = ""
    for piece in pieces(text):
        whole += piece if isinstance(piece, str) else piece.text
    return whole
