"""What a terminal shows."""

import io
from collections.abc import Callable
from typing import Any

from rich.console import Console


def printed(show: Callable[[Console], None], width: int = 100, **terminal: Any) -> str:
    """What ``show`` prints on a console that is ``width`` columns wide."""
    stream = io.StringIO()
    show(Console(file=stream, width=width, markup=False, highlight=False, emoji=False, **terminal))
    return stream.getvalue()
