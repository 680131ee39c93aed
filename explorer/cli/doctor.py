"""The ``doctor`` command: what is installed, and what is missing."""

from explorer.cli import exit_codes
from explorer.cli.output import print_document
from explorer.cli.terminal import console, progress
from explorer.drawing.layout import substitute_layout
from explorer.exploration.doctor import examine
from explorer.report.doctor import checks_document, show_checks
from explorer.workers.workers import Workers


def diagnose(as_json: bool) -> int:
    """Print what is installed and what is missing."""
    with Workers() as workers, progress() as step:
        checks = examine(workers, substitute_layout, step)
    if as_json:
        print_document(checks_document(checks))
    else:
        show_checks(checks, console())
    is_lost = any(check.required and not check.fine for check in checks)
    return exit_codes.LOST if is_lost else exit_codes.AS_EXPECTED
