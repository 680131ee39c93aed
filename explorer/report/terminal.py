"""Parts of the pages on a terminal.

Foreign text is set as Rich's Text, in which markup means nothing.
"""

from collections.abc import Iterable

from rich.console import Console, RenderableType
from rich.padding import Padding


def indented(part: RenderableType, columns: int) -> Padding:
    """A part of a page, some columns to the right."""
    return Padding(part, (0, 0, 0, columns))


def show_parts(parts: Iterable[RenderableType], console: Console) -> None:
    """Print the parts of a page one under another."""
    # One by one: the first lines are on the screen while later ones are made.
    for part in parts:
        console.print(part)
