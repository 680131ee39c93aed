"""The doctor's checks on a terminal and as one JSON document."""

from collections.abc import Sequence
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from explorer.model.doctor import Check


def show_checks(checks: Sequence[Check], console: Console) -> None:
    """Print the checks, and after them what to do about each that is not fine."""
    table = Table.grid(padding=(0, 2))
    for check in checks:
        table.add_row(Text(check.name), _mark(check), Text(check.found))
    console.print(table)
    for check in checks:
        if check.remedy:
            # A command to copy must not be broken into lines.
            console.print(Text(f"{check.name}: {check.remedy}"), soft_wrap=True)


def _mark(check: Check) -> Text:
    # Only what is required is an alarm: the explorer compares engines without the rest.
    if check.fine:
        return Text("ok", style="green")
    return Text("missing", style="bold red" if check.required else "yellow")


def checks_document(checks: Sequence[Check]) -> dict[str, Any]:
    """The checks as plain data."""
    return {"checks": [msgspec.to_builtins(check) for check in checks]}
