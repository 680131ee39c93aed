"""Parts of the pages on a terminal.

Foreign text is set as Rich's Text, in which markup means nothing.
"""

from collections.abc import Iterable, Iterator

from rich.console import Console, ConsoleOptions, RenderableType
from rich.padding import Padding
from rich.segment import Segment


def indented(part: RenderableType, columns: int) -> Padding:
    """A part of a page, some columns to the right."""
    return Padding(part, (0, 0, 0, columns))


def show_parts(parts: Iterable[RenderableType], console: Console) -> None:
    """Print the parts of a page one under another."""
    # One by one: the first lines are on the screen while later ones are made.
    for part in parts:
        console.print(_Trimmed(part))


class _Trimmed:
    """A part of a page without blanks at the ends of its lines.

    Tables fill their cells with blanks: what is copied from a terminal, or compared, has none.
    """

    def __init__(self, part: RenderableType) -> None:
        self._part = part

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        for line in console.render_lines(self._part, options, pad=False):
            while line and not line[-1].text.strip():
                line.pop()
            if line:
                line[-1] = Segment(line[-1].text.rstrip(), *line[-1][1:])
            yield from line
            yield Segment.line()
