"""The ``scenario`` command: every case in every engine, as a report."""

import sys
from pathlib import Path

from explorer.blocks.terminal import show
from explorer.cli import exit_codes
from explorer.cli.exploration import explored
from explorer.cli.options import ScenarioOptions, checked_plan, chosen_formats
from explorer.cli.output import print_document, print_written
from explorer.cli.terminal import console
from explorer.exploration.options import Interrupted
from explorer.model.report import Report
from explorer.model.results import LOST
from explorer.report.files import prepare_folder
from explorer.report.scenario.page import cases_blocks, graphs_blocks, report_blocks
from explorer.report.schemas import report_document
from explorer.scenario.own_nets import code_of
from explorer.text.messages import one_line

QUICK_FORMATS = ("json", "markdown")
"""Formats that are written after Ctrl-C too: no picture needs to be drawn for them."""


def compare_engines(
    options: ScenarioOptions, out: Path | None, given_formats: list[str] | None, as_json: bool
) -> int:
    """Run the cases on every engine; print the report, and write its files into ``out``."""
    formats = _formats(given_formats, out)
    # Every mistake that can be found without a worker is reported before the first one starts.
    plan = checked_plan(options)
    folder = prepare_folder(out) if out else None
    page = _Page(as_json)
    try:
        report = explored(plan, page.show_first)
    except Interrupted as interruption:
        page.show_rest(interruption.report)
        if folder:
            quick = tuple(name for name in formats if name in QUICK_FORMATS)
            _write(interruption.report, folder, quick, as_json, code_of(plan.scenario.path))
        return exit_codes.INTERRUPTED
    page.show_rest(report)
    if folder:
        _write(report, folder, formats, as_json, code_of(plan.scenario.path))
    return exit_code(report)


class _Page:
    """Standard output: a report in two parts, the first one early, or one JSON document."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        self._has_first = False

    def show_first(self, report: Report) -> None:
        """Print the main case and its graphs."""
        if self._as_json:
            return
        show(graphs_blocks(report), console())
        sys.stdout.flush()  # a pipe gets it now, too
        self._has_first = True

    def show_rest(self, report: Report) -> None:
        """Print the rest of the report, or all of it."""
        if self._as_json:
            print_document(report_document(report))
        elif self._has_first:
            show(cases_blocks(report), console(), is_continued=True)
        else:
            show(report_blocks(report), console())


def _formats(given: list[str] | None, out: Path | None) -> tuple[str, ...]:
    if out is None and not given:
        return ()
    # Imported where they are used, as in _write: what draws takes a fifth of the time of a stored answer.
    from explorer.report.scenario.files import DEFAULT_FORMATS, FORMATS

    return chosen_formats(given, out is not None, FORMATS, DEFAULT_FORMATS)


def _write(
    report: Report, folder: Path, formats: tuple[str, ...], as_json: bool, code: tuple[Path, ...]
) -> None:
    """Write the files of a report, and say which; of a picture that cannot be drawn, why."""
    from explorer.report.scenario.files import write_report

    written = write_report(report, folder, formats, code=code)
    if not as_json:
        for path in written.paths:
            print_written(path)
    for reason in written.refused:
        print(f"explorer: not written: {one_line(reason)}", file=sys.stderr)


def exit_code(report: Report) -> int:
    """The exit code of a report: LOST if a worker died or timed out, whatever the other engines give."""
    is_out_of_time = any(left_out.cause == "timed_out" for left_out in report.left_out)
    if is_out_of_time or report.lost_graphs:
        return exit_codes.LOST
    for case in report.cases:
        if any(result.outcome in LOST for result in case.results.values()):
            return exit_codes.LOST
    return exit_codes.AS_EXPECTED if report.is_as_expected else exit_codes.DIFFERENT
