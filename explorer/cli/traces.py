"""``show``, ``diff`` and ``graph`` of recorded steps and trainings, beside each other or beside an engine."""

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import msgspec

from explorer.cli import exit_codes
from explorer.cli.options import DiffOptions, GraphOptions, ShowOptions, refuse_others
from explorer.cli.output import print_document, write_file
from explorer.cli.scenario import checked_plan, diff_engines, explored
from explorer.compare.results.ranks import over_ranks
from explorer.drawing import Depth
from explorer.drawing.formats import FormatName
from explorer.drawing.views import ViewName
from explorer.exploration.recordings import (
    compared,
    do_start_apart,
    files_of_ranks,
    names_of,
    report_at,
    report_on,
    with_trace,
)
from explorer.model.errors import UsageError
from explorer.model.report import Report
from explorer.model.trace import Trace
from explorer.recording.files import is_trace, is_training, read_trace, read_training
from explorer.report.diff import comparison_lines, do_differ
from explorer.report.losses import training_lines as training_summary
from explorer.report.scenario.export import PictureChoice, picture_file
from explorer.report.scenario.graphs import graphs_of
from explorer.report.schemas import diff_document, trainings_document
from explorer.report.traces import missing_lines, ranks_document, trace_lines
from explorer.report.training import comparison_lines as training_lines
from explorer.report.training import comparison_page, graph_lines
from explorer.text.clean import clean
from explorer.text.language import _
from explorer.words.ranks import first_wrong, rank_lines
from explorer.words.traces import one_start
from explorer.workers.workers import Workers


def show(options: ShowOptions) -> int:
    """Print what a file holds of a step or of a training."""
    path = options.file
    (name,) = names_of([path])
    if is_training(path):
        lines = training_summary(read_training(path), name)
    else:
        lines = trace_lines(read_trace(path), name)
    for line in lines:
        print(clean(line))
    return exit_codes.AS_EXPECTED


def diff(options: DiffOptions) -> int:
    """Compare two engines on a scenario, two traces, a trace and an engine, or two trainings."""
    if is_training(Path(options.name)):
        return diff_trainings(options)
    if is_trace(Path(options.name)):
        return diff_traces(options)
    if options.html:
        raise UsageError(
            _("--html is for two trainings; give two .training files, or leave it out")
        )
    return diff_engines(options)


def diff_trainings(options: DiffOptions) -> int:
    """Compare two trainings; print the first step at which they differ, in what, and by which rule."""
    text = _("{option} has no effect on trainings, which are not run again; leave it out")
    refuse_others(options, ("name", "left", "as_json", "html"), text)
    paths = [Path(options.name), Path(options.left)]
    left, right = (
        msgspec.structs.replace(read_training(path), name=name)
        for path, name in zip(paths, names_of(paths), strict=True)
    )
    comparison = compared(left, right)
    with Workers() as workers:
        graphs = report_at(left, right, comparison, workers)
    if options.html:
        page = comparison_page(comparison, graphs)
        write_file(options.html, page, is_quiet=options.as_json)
    if options.as_json:
        print_document(trainings_document(comparison))
    else:
        for line in (*training_lines(comparison), *graph_lines(graphs)):
            print(clean(line))
    return exit_codes.DIFFERENT if comparison.difference else exit_codes.AS_EXPECTED


def diff_traces(options: DiffOptions) -> int:
    """Compare two traces, or a trace and an engine on a scenario; print where they first differ.

    The trace of a rank beside one that is of no rank: the steps of all ranks beside that one.
    """
    distributed = None if options.right else _ranks_and_whole(options)
    if distributed:
        return _diff_ranks(options, *distributed)
    with Workers() as workers:
        beside = _beside_engine if options.right else _two
        report, traces = beside(options, workers)
    engines = [graph.engine for graph in report.graphs]
    code = exit_codes.DIFFERENT if do_differ(report) else exit_codes.AS_EXPECTED
    if options.as_json:
        print_document(diff_document(report, report.alignments[0]))
        return code
    for name, trace in traces.items():
        for line in missing_lines(trace, name):
            print(clean(line))
    for line in comparison_lines(report, engines, options.list_all):
        print(clean(line))
    for line in _one_start(report, options, list(traces.values())):
        print(clean(line))
    return code


def _one_start(report: Report, options: DiffOptions, traces: list[Trace]) -> Iterator[str]:
    """How both programs get one start, where that is what differs in two traces."""
    frameworks = [trace.framework for trace in traces]
    # The start of a trace of JAX lies as in its program.
    are_two = len(traces) == 2 and "jax" not in frameworks
    if are_two and do_start_apart(report.alignments[0], traces[0]):
        yield from one_start([options.name, options.left], frameworks)


def _ranks_and_whole(options: DiffOptions) -> tuple[list[Path], Path] | None:
    """The files of all ranks and that of one process, where one file is of a rank and the other is not."""
    left, right = Path(options.name), Path(options.left)
    of_left, of_right = files_of_ranks(left), files_of_ranks(right)
    if bool(of_left) == bool(of_right):
        return None
    return (of_left, right) if of_left else (of_right, left)


def _diff_ranks(options: DiffOptions, ranks: list[Path], whole: Path) -> int:
    """Print what the steps of all ranks have to do with the step of one process on all data."""
    text = _("{option} has no effect on traces of ranks, which are not run again; leave it out")
    refuse_others(options, ("name", "left", "as_json"), text)
    compared = tuple(over_ranks([read_trace(path) for path in ranks], read_trace(whole)))
    if options.as_json:
        print_document(ranks_document(compared))
    else:
        for line in rank_lines(compared, len(ranks), whole.stem):
            print(clean(line))
    return exit_codes.DIFFERENT if first_wrong(compared) else exit_codes.AS_EXPECTED


def _two(options: DiffOptions, workers: Workers) -> tuple[Report, dict[str, Trace]]:
    text = _("{option} has no effect on traces, which are not run again; leave it out")
    refuse_others(options, ("name", "left", "right", "list_all", "as_json"), text)
    paths = [Path(options.name), Path(options.left)]
    traces = dict(zip(names_of(paths), map(read_trace, paths), strict=True))
    return report_on(traces, workers), traces


def _beside_engine(options: DiffOptions, workers: Workers) -> tuple[Report, dict[str, Trace]]:
    path = Path(options.name)
    (name,) = names_of([path])
    trace = read_trace(path)
    run = msgspec.structs.replace(options, name=options.left, left=options.right)
    plan = checked_plan(run, [options.right])
    report = explored(plan)
    (engine,) = plan.wanted.engines
    graphs_of(report, engine)  # an error of its own where the engine has none
    return with_trace(report, trace, name, engine, workers), {name: trace}


def draw_trace(options: GraphOptions, file_format: FormatName, depth: Depth) -> int:
    """Write the graph of a trace as a file."""
    text = _("{option} has no effect on a trace, which is one step; leave it out")
    refuse_others(options, ("name", "output", "file_format", "view", "depth"), text)
    path = Path(options.name)
    (name,) = names_of([path])
    report = report_on({name: read_trace(path)})
    choice = PictureChoice(
        scenario=str(path),
        engines=tuple(graph.engine for graph in report.graphs),
        file_format=file_format,
        view=cast(ViewName, options.view),
        depth=depth,
    )
    write_file(options.output, picture_file(report.graphs, (), choice))
    return exit_codes.AS_EXPECTED
