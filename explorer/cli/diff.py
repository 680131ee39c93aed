"""The ``diff`` command: where two engines' graphs of one case first differ."""

from explorer.cli import exit_codes
from explorer.cli.exploration import explored
from explorer.cli.options import ScenarioOptions, checked_plan
from explorer.cli.output import print_document
from explorer.model.errors import UsageError
from explorer.report.diff import diff_lines, finding_lines
from explorer.report.scenario.graphs import graphs_of
from explorer.report.schemas import diff_document
from explorer.text.clean import clean


def diff_engines(options: ScenarioOptions, list_all: bool, as_json: bool) -> int:
    """Align two engines' graphs of one case, and print the first divergence, or all of them."""
    plan = checked_plan(options)
    if len(plan.wanted.engines) != 2:
        raise UsageError(f"{plan.wanted.engines[0]!r} is given twice; give two different engines")
    report = explored(plan)
    left, right = (graphs_of(report, engine)[-1] for engine in plan.wanted.engines)
    (alignment,) = report.alignments
    if as_json:
        print_document(diff_document(report, alignment))
    else:
        lines = diff_lines(alignment, left, right, list_all)
        for line in (*finding_lines(report), *lines):
            print(clean(line))
    is_same = alignment.divergence is None and report.is_as_expected
    return exit_codes.AS_EXPECTED if is_same else exit_codes.DIFFERENT
