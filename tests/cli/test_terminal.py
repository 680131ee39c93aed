"""What a terminal shows while work is on, and that it takes nothing away that was printed."""

import io

from rich.console import Console
from rich.text import Text

from explorer.cli.terminal import Display

UP = "\x1b[1A"
"""Moves the cursor to the line above, which is then erased."""


def test_lines_printed_meanwhile_are_not_erased_by_what_is_shown_next() -> None:
    terminal = io.StringIO()
    shown = Display(Console(file=terminal, force_terminal=True, width=80))
    shown.start()
    shown.step("first stage", 1, 2)
    shown.step("second stage", 1, 2)
    with shown.out_of_the_way():
        terminal.write("the first answers\n")
    shown.add_line(Text("a case that is complete"))
    shown.stop()
    afterwards = terminal.getvalue().partition("the first answers\n")[2]
    until_shown, line, _ = afterwards.partition("a case that is complete")
    assert line
    assert UP not in until_shown


def test_nothing_is_shown_where_there_is_no_terminal() -> None:
    shown = Display(None)
    shown.start()
    shown.step("a stage", 1, 1)
    shown.add_line(Text("a case"))
    with shown.out_of_the_way():
        pass
    shown.stop()
