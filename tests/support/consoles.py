"""What a terminal shows."""

import io
from collections.abc import Callable, Iterable
from typing import Any

from rich.console import Console

from explorer.blocks.records import Block
from explorer.blocks.terminal import show


def printed(write: Callable[[Console], None], width: int = 100, **terminal: Any) -> str:
    """What ``write`` prints on a console that is ``width`` columns wide."""
    stream = io.StringIO()
    write(Console(file=stream, width=width, markup=False, highlight=False, emoji=False, **terminal))
    return stream.getvalue()


def on_terminal(blocks: Iterable[Block], width: int = 100, **terminal: Any) -> str:
    """What blocks are on a terminal."""
    return printed(lambda console: show(blocks, console), width, **terminal)
