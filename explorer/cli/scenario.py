"""The ``scenario`` command: every case in every engine, as a report."""

import sys
from pathlib import Path

from explorer.cli import exit_codes
from explorer.cli.exploration import explored
from explorer.cli.options import ScenarioOptions, checked_plan, chosen_formats
from explorer.cli.output import print_document, print_written
from explorer.cli.terminal import console
from explorer.model.report import Report
from explorer.model.results import LOST
from explorer.report.files import prepare_folder
from explorer.report.scenario.files import DEFAULT_FORMATS, FORMATS, Written, write_report
from explorer.report.scenario.json import report_document
from explorer.report.scenario.terminal import show_report
from explorer.text.messages import one_line


def compare_engines(
    options: ScenarioOptions, out: Path | None, given_formats: list[str] | None, as_json: bool
) -> int:
    """Ask every case of every engine; print the report, and write its files into ``out``."""
    formats = chosen_formats(given_formats, out is not None, FORMATS, DEFAULT_FORMATS)
    # All that can be refused is refused before the first worker starts.
    plan = checked_plan(options)
    folder = prepare_folder(out) if out else None
    report = explored(plan)
    if as_json:
        print_document(report_document(report))
    else:
        show_report(report, console())
    if folder:
        _print_written(write_report(report, folder, formats), as_json)
    return _exit_code(report)


def _print_written(written: Written, as_json: bool) -> None:
    if not as_json:
        for path in written.paths:
            print_written(path)
    for reason in written.refused:
        print(f"explorer: not written: {one_line(reason)}", file=sys.stderr)


def _exit_code(report: Report) -> int:
    """LOST where any worker was, whatever the other engines say."""
    for case in report.cases:
        if any(result.outcome in LOST for result in case.results.values()):
            return exit_codes.LOST
    return exit_codes.AS_EXPECTED if report.is_as_expected else exit_codes.DIFFERENT
