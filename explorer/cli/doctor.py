"""The ``doctor`` command: what is installed, and what is missing."""

from explorer.cli import exit_codes
from explorer.cli.output import print_document
from explorer.cli.terminal import console, progress
from explorer.drawing.layout import LayoutRequest, arrange
from explorer.exploration.doctor import examine
from explorer.report.doctor import checks_document, show_checks
from explorer.workers.workers import Workers

LAYOUT_SECONDS = 10.0
"""The limit for Graphviz to lay two nodes out; its first start on a cold disk is slow."""


def diagnose(as_json: bool) -> int:
    """Print what there is and what is missing."""
    with Workers() as workers, progress() as step:
        checks = examine(workers, _substitute_layout, step)
    if as_json:
        print_document(checks_document(checks))
    else:
        show_checks(checks, console())
    is_lost = any(check.required and not check.fine for check in checks)
    return exit_codes.LOST if is_lost else exit_codes.AS_EXPECTED


def _substitute_layout() -> str:
    """What had to stand in for Graphviz when two nodes were laid out; "" if nothing."""
    # That pygraphviz can be imported would not tell whether the child process that uses it works.
    sizes = {"n0": (60.0, 30.0), "n1": (60.0, 30.0)}
    return arrange(LayoutRequest(sizes=sizes, edges=[("n0", "n1")]), LAYOUT_SECONDS).note
