"""Blocks on a terminal, through Rich.

Texts are set as Rich's Text, in which markup means nothing.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from operator import attrgetter

from rich.cells import cell_len
from rich.console import (
    Console,
    ConsoleOptions,
    JustifyMethod,
    OverflowMethod,
    RenderableType,
)
from rich.containers import Lines
from rich.measure import Measurement
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table as Grid
from rich.text import Text as Plain

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
    Table,
    Terms,
    Text,
    Tone,
    pieces,
)
from explorer.text.clean import clean

STYLES: dict[Tone, str] = {
    "": "",
    "good": "green",
    "foreseen": "yellow",
    "alarm": "bold red",
    "idle": "dim",
    "faint": "dim",
}

WEIGHTS = {"strong": "bold", "emphasis": "italic"}

INDENT = 2
"""The indent of what is in a section."""

GAP = 2
"""Blanks between columns."""

UNDER_A_ROW = 4
"""The indent of asides below a row."""

LEAST = 8
"""The width below which no column is cut."""

ONE_BY_ONE = r"\u3000-\u30ff\u4e00-\u9fff\uff00-\uff60"

CHINESE = re.compile(f"[{ONE_BY_ONE}]")
"""A Chinese character or one of its punctuation: lines may break beside it."""

WORDS = re.compile(rf"[^{ONE_BY_ONE}\s“”‘’…]+\s*|.\s*", re.DOTALL)
"""Chinese characters one by one, and what is between them and blanks."""

CLOSING = frozenset("，。、；：？！）】》」』〉〕”’…·%,.;:?!)]}")
"""What no line starts with."""

SET_OFF = re.compile(r"[，。、；：？！）】》」』〉〕”’…·%]|/(?=\s)")
"""What no line starts with even after a blank; ``.py`` may start one."""

OPENING = frozenset("（【《「『〈〔“‘([{")
"""What no line ends with."""


def show(blocks: Iterable[Block], console: Console, is_continued: bool = False) -> None:
    """Print blocks one under another; blank lines set sections apart.

    Sections may be above those of a page that ``is_continued``.
    """
    is_first = not is_continued
    after_section = is_continued
    # One by one: the first lines are on the screen while later ones are made.
    for block in blocks:
        is_section = isinstance(block, Section)
        if not is_first and (after_section or is_section):
            console.print()
        if isinstance(block, Paragraph) and block.is_whole:
            console.print(_paragraph(block), soft_wrap=True)
        else:
            for part in renderables(block):
                console.print(_Trimmed(part))
        is_first, after_section = False, is_section


def renderables(block: Block) -> Iterator[RenderableType]:
    """A block as Rich prints it."""
    if isinstance(block, Section):
        yield line(block.title, "bold")
        for inner in block.blocks:
            if isinstance(inner, Section):
                yield Line()
                yield from renderables(inner)
            else:
                for part in renderables(inner):
                    yield Padding(part, (0, 0, 0, INDENT))
    elif isinstance(block, Paragraph):
        yield _paragraph(block)
    elif isinstance(block, Bullets):
        yield _bullets(block)
    elif isinstance(block, Terms):
        yield _terms(block.rows, STYLES[block.tone])
    elif isinstance(block, Code):
        yield Line(clean(block.text.rstrip(), keep="\n\t"), overflow="fold")
    elif isinstance(block, Table):
        is_cut = any(column.fit == "cut" for column in block.columns)
        yield _CutTable(block) if is_cut else folded_table(block)
    else:
        assert isinstance(block, Figure | Markup)  # A terminal shows neither.


def pieces_between_breaks(text: str) -> list[str]:
    """``text`` in the pieces that a line keeps whole.

    A piece ends after blanks, and beside a Chinese character. An identifier, a
    number or a path is one piece; so are opening punctuation and what follows
    it, and closing punctuation and what it follows.
    """
    made = []
    start = 0
    for place in range(1, len(text)):
        if _may_break(text, place):
            made.append(text[start:place])
            start = place
    return [*made, text[start:]]


def _may_break(text: str, place: int) -> bool:
    before, after = text[place - 1], text[place]
    if after.isspace():
        return False
    if before.isspace():
        # A bracket or a comma beside a blank is held as one without it is.
        last = text[:place].rstrip()[-1:]
        return last not in OPENING and not SET_OFF.match(text, place)
    if before in OPENING or after in CLOSING:
        return False
    return bool(CHINESE.match(before) or CHINESE.match(after))


def line_starts(text: str, width: int) -> list[int]:
    """The places of a Chinese text at which its lines but the first one start.

    No line is wider than ``width``, blanks at its end apart. Brackets leave an
    identifier only if they do not fit a line with it, and an identifier is folded
    only if it is wider than a line.
    """
    starts: list[int] = []
    place = used = 0
    for piece in _pieces_of_lines(text, width):
        if used and used + cell_len(piece.rstrip()) > width:
            starts.append(place)
            used = 0
        place += len(piece)
        used += cell_len(piece)
    return starts


def _pieces_of_lines(text: str, width: int) -> Iterator[str]:
    """The pieces of a text, those wider than a line in smaller ones."""
    for piece in pieces_between_breaks(text):
        if cell_len(piece.rstrip()) <= width:
            yield piece
            continue
        for word in WORDS.findall(piece):
            if cell_len(word.rstrip()) <= width:
                yield word
            else:
                yield from word


class Line(Plain):
    """Rich's Text, which breaks Chinese as a printed page does.

    Rich breaks at blanks alone. Chinese has them only beside Latin words, so that
    Rich folds a sentence wherever a line is full: within a number, before a comma.
    """

    def wrap(
        self,
        console: Console,
        width: int,
        *,
        justify: JustifyMethod | None = None,
        overflow: OverflowMethod | None = None,
        tab_size: int = 8,
        no_wrap: bool | None = None,
    ) -> Lines:
        """The lines that a console of this width shows."""
        is_one_line = no_wrap or self.no_wrap or overflow == "ignore"
        if is_one_line or not CHINESE.search(self.plain):
            return super().wrap(
                console,
                width,
                justify=justify,
                overflow=overflow,
                tab_size=tab_size,
                no_wrap=no_wrap,
            )
        lines = Lines()
        for whole in self.split(allow_blank=True):
            whole.expand_tabs(tab_size)
            for part in whole.divide(line_starts(whole.plain, width)):
                part.rstrip_end(width)
                lines.append(part)
        if justify:
            lines.justify(console, width, justify=justify, overflow="fold")
        return lines

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        measured = super().__rich_measure__(console, options)
        if not CHINESE.search(self.plain):
            return measured
        widths = [cell_len(piece.rstrip()) for piece in pieces_between_breaks(self.plain)]
        return Measurement(max(widths), measured.maximum)


def line(text: Text, style: str = "") -> Line:
    """A text with the styles of its spans."""
    made = Line(style=style)
    for piece in pieces(text):
        if isinstance(piece, str):
            made.append(_clean(piece))
        else:
            tone = STYLES[piece.tone] or WEIGHTS.get(piece.style, "")
            made.append(_clean(piece.text), tone)
    return made


def _clean(text: str) -> str:
    return clean(text.replace("\n", " "))


def _paragraph(paragraph: Paragraph) -> Line:
    style = STYLES[paragraph.tone]
    if paragraph.is_strong:
        style = f"bold {style}".strip()
    return line(paragraph.text, style)


def _bullets(bullets: Bullets) -> Grid:
    grid = Grid.grid(padding=(0, 1))
    grid.add_column()
    # What is not folded, as a path wider than a line, Rich cuts off.
    grid.add_column(overflow="fold")
    for number, item in enumerate(bullets.items, 1):
        mark = f"[{number}]" if bullets.anchor else " •"
        grid.add_row(Line(mark), line(item))
    return grid


def _terms(rows: Iterable[tuple[str, Text]], style: str = "") -> Grid:
    grid = Grid.grid(padding=(0, GAP))
    grid.add_column(no_wrap=True, style="cyan")
    grid.add_column(overflow="fold", style=style)
    for term, text in rows:
        grid.add_row(line(term), line(text))
    return grid


def folded_table(table: Table) -> Grid:
    """A table without frames, in which what is too long is folded."""
    grid = Grid(
        box=None,
        padding=(0, GAP, 0, 0),
        pad_edge=False,
        header_style="dim",
        show_header=table.has_head,
    )
    for column in table.columns:
        grid.add_column(
            line(column.name),
            justify="right" if column.is_numeric else "left",
            overflow="fold",
        )
    before = [""] * (len(table.columns) - 1)
    for row in table.rows:
        if isinstance(row, Aside):
            # As wide as the last column, the widest one.
            grid.add_row(*before, line(row.text, "dim"))
        else:
            grid.add_row(*map(line, row))
    return grid


class _CutTable:
    """A table that has one line for a row: what is too long is cut."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        is_shown = [column.fits(console.width) for column in self._table.columns]
        columns = list(compress(self._table.columns, is_shown))
        lines = [[line(column.name, "dim") for column in columns]]
        asides: list[list[tuple[str, Text]]] = [[]]
        for row in self._table.rows:
            if isinstance(row, Aside):
                asides[-1].append((row.who, row.text))
            else:
                lines.append(list(map(line, compress(row, is_shown))))
                asides.append([])
        widths = _widths(columns, lines, options.max_width)
        for cells, below in zip(lines, asides, strict=True):
            yield _one_line(cells, widths)
            if below:
                yield Padding(_terms(below), (0, 0, 0, UNDER_A_ROW))


def _widths(columns: Sequence[Column], rows: Sequence[list[Line]], width: int) -> list[int]:
    """The width of each column, so that all fill ``width`` at most.

    Firm columns get what they need. The others share the rest: starting with the one
    that needs least, each gets what it needs, or an equal share of what is left,
    and in any case what its ``whole`` needs.
    """
    # Wide characters take two columns of a terminal.
    widths = [0] * len(columns)
    for row in rows:
        widths = list(map(max, widths, map(attrgetter("cell_len"), row)))
    free = width
    soft = []
    for place, column in enumerate(columns):
        if column.fit == "firm":
            free -= widths[place] + GAP
        else:
            soft.append(place)

    soft.sort(key=widths.__getitem__)
    least = [cell_len(column.whole) for column in columns]
    for served, place in enumerate(soft):
        later = soft[served + 1 :]
        reserved = sum(least[other] + GAP for other in later)
        share = min(free // (len(later) + 1), free - reserved) - GAP
        room = free - len(later) * (LEAST + GAP) - GAP
        share = max(share, min(least[place], room))
        widths[place] = max(min(widths[place], share), LEAST)
        free -= widths[place] + GAP
    return widths


def _one_line(cells: Iterable[Line], widths: Iterable[int]) -> Line:
    """Cells beside each other, each cut or filled to its width.

    One that is too long takes the room of empty ones before it.
    """
    whole = Line(no_wrap=True, overflow="crop")
    room = 0
    for cell, width in zip(cells, widths, strict=True):
        if not cell.plain:
            room += width + GAP
            continue
        if cell.cell_len > width:
            width += room
        else:
            whole.append(" " * room)
        room = 0
        _cut(cell, width)
        whole.append_text(cell).append(" " * GAP)
    return whole


def _cut(cell: Line, width: int) -> None:
    """Cut a cell to its width, between words where that keeps half of it, or fill it."""
    blank = cell.plain.rfind(" ", 0, width - 1)
    if cell.cell_len > width and blank >= width // 2:
        cell.right_crop(len(cell) - blank - 1)
        cell.append("…")
    cell.truncate(width, overflow="ellipsis", pad=True)


class _Trimmed:
    """A part of a page without blanks at the ends of its lines.

    Tables fill their cells with blanks: what is copied from a terminal has none.
    """

    def __init__(self, part: RenderableType) -> None:
        self._part = part

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        for segments in console.render_lines(self._part, options, pad=False):
            while segments and not segments[-1].text.strip():
                segments.pop()
            if segments:
                segments[-1] = Segment(segments[-1].text.rstrip(), *segments[-1][1:])
            yield from segments
            yield Segment.line()
