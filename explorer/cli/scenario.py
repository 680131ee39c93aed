"""The ``scenario`` and ``diff`` commands: scenarios run on engines, compared, or written anew."""

import re
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from explorer.blocks.terminal import line, show
from explorer.cli import exit_codes
from explorer.cli.options import (
    DiffOptions,
    GraphOptions,
    ScenarioOptions,
    check_seconds,
    chosen_formats,
    refuse_others,
)
from explorer.cli.output import prepared, print_document, print_written, write_file
from explorer.cli.terminal import console, display
from explorer.exploration import stored
from explorer.exploration.options import Callbacks, Interrupted, RunOptions, Wanted, ignored
from explorer.model.alignment import Alignment
from explorer.model.engines import NEEDED
from explorer.model.errors import UsageError
from explorer.model.report import Report
from explorer.model.results import LOST
from explorer.report.diff import comparison_lines, do_differ, unaligned
from explorer.report.recorded.fallback import notice, of_two, report_in_place
from explorer.report.scenario.page import case_line, cases_blocks, graphs_blocks, report_blocks
from explorer.report.schemas import diff_document, report_document
from explorer.report.short_names import with_short_names
from explorer.scenario.declaration import Declaration
from explorer.scenario.find import find
from explorer.scenario.own_nets import code_of, factory_of
from explorer.scenario.reader import read
from explorer.scenario.templates import new_scenario, scenario_of_factories
from explorer.store.store import Store, to_stderr
from explorer.text.clean import clean
from explorer.text.language import _
from explorer.text.messages import one_line
from explorer.text.program_name import program
from explorer.words.demand import demand_text, first_answer_text
from explorer.workers.workers import Workers

QUICK_FORMATS = ("json", "markdown")
"""Formats that are written after Ctrl-C too: no picture needs to be drawn for them."""

SCENARIO_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


# Running a scenario


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A checked run of a scenario."""

    scenario: Declaration
    wanted: Wanted
    options: RunOptions


def checked_plan(
    options: ScenarioOptions | GraphOptions | DiffOptions,
    engines: list[str] | None,
    cases: str | None = "main",
) -> Plan:
    """The run of ``cases`` on ``engines`` that the options describe.

    The commands other than ``scenario`` run one case: with --order, the nested call.

    Raises UsageError for every mistake that can be found without a framework.
    """
    given = msgspec.convert(options, RunOptions, from_attributes=True)
    no_oracle = isinstance(options, ScenarioOptions) and options.no_oracle
    run = msgspec.structs.replace(given, engines=engines, cases=cases, oracle=not no_oracle)
    # What costs nothing to check comes first; reading the scenario starts a process.
    run.check()
    check_seconds("--timeout", run.timeout)
    check_seconds("--request-timeout", run.request_timeout)
    scenario = read(find(options.name or ""), fresh=run.fresh)
    if not isinstance(options, ScenarioOptions):
        run = run.of_one_case(scenario)
    return Plan(scenario=scenario, wanted=run.wanted(scenario), options=run)


def explored(plan: Plan, show_first: Callable[[Report], None] = ignored) -> Report:
    """The report on a plan; its workers have ended when it is complete, also after Ctrl-C.

    ``show_first`` prints the report on the main case, unless the report is stored.
    """
    options = plan.options
    store = Store(fresh=options.fresh)
    known = stored.stored_report(plan.scenario, plan.wanted, store, options.request_timeout)
    if known is not None:
        to_stderr(_("stored result shown; --fresh runs it again"))
        return known
    recorded = None if options.fresh else report_in_place(plan.scenario, plan.wanted)
    if recorded is not None:
        to_stderr(notice())
        return recorded
    with Workers(options.request_timeout, options.timeout) as workers, display() as shown:

        def noted(text: str) -> None:
            with shown.out_of_the_way():
                to_stderr(clean(text))

        def first(report: Report) -> None:
            with shown.out_of_the_way():
                show_first(report)

        callbacks = Callbacks(
            progress=shown.step,
            before=lambda demand: noted(demand_text(plan.scenario.name, demand)),
            early=lambda answer: noted(first_answer_text(answer)),
            first=first,
            complete=lambda case_report: shown.add_line(line(case_line(case_report))),
        )
        return stored.explored(plan.scenario, plan.wanted, workers, store, callbacks)


# The scenario command


def run_scenario(options: ScenarioOptions) -> int:
    """Compare the engines on a scenario, write a new one, or list those that are shipped."""
    if options.new is not None:
        if options.name is not None:
            text = _("--new writes a file and runs no scenario; leave out {name}")
            raise UsageError(text.format(name=repr(options.name)))
        text = _("{option} has no effect with --new, which writes a file; leave it out")
        refuse_others(options, ("new", "from_factories", "inputs"), text)
        return write_new(options.new, options.from_factories, options.inputs)
    if options.from_factories or options.inputs:
        raise UsageError(
            _("--from-factories and --inputs need --new NAME, which writes the scenario; add it")
        )
    return compare_engines(options)


def compare_engines(options: ScenarioOptions) -> int:
    """Run the cases on every engine; print the report, and write its files into a folder."""
    formats = _formats(options)
    # Every mistake that can be found without a worker is reported before the first one starts.
    plan = checked_plan(options, options.engines, options.cases)
    folder = prepared(options.out)
    page = _Page(options.as_json)
    try:
        report = explored(plan, page.show_first)
    except Interrupted as interruption:
        page.show_rest(interruption.report)
        if folder:
            quick = tuple(name for name in formats if name in QUICK_FORMATS)
            _write(interruption.report, folder, quick, plan, options.as_json)
        return exit_codes.INTERRUPTED
    page.show_rest(report)
    if folder:
        _write(report, folder, formats, plan, options.as_json)
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


def _formats(options: ScenarioOptions) -> tuple[str, ...]:
    if options.out is None and not options.formats:
        return ()
    # Imported where they are used, as in _write: what draws takes a fifth of the time of a stored
    # result.
    from explorer.report.scenario.files import DEFAULT_FORMATS, FORMATS

    return chosen_formats(options.formats, options.out, FORMATS, DEFAULT_FORMATS)


def _write(
    report: Report, folder: Path, formats: tuple[str, ...], plan: Plan, as_json: bool
) -> None:
    """Write the files of a report, and print their names; of a refused picture, the reason."""
    from explorer.report.scenario.files import write_report

    written = write_report(report, folder, formats, code=code_of(plan.scenario.path))
    if not as_json:
        for path in written.paths:
            print_written(path)
    for reason in written.refused:
        to_stderr(_("not written: {reason}").format(reason=one_line(reason)))


def exit_code(report: Report) -> int:
    """The exit code of a report: LOST if a worker died or timed out, whatever others return."""
    if _is_lost(report):
        return exit_codes.LOST
    return exit_codes.AS_EXPECTED if report.is_as_expected else exit_codes.DIFFERENT


def _is_lost(report: Report) -> bool:
    """Whether a worker died, or time ran out, before it gave a result; a missing graph hides none."""
    if any(left_out.cause == "timed_out" for left_out in report.left_out):
        return True
    outcomes = [result.outcome for case in report.cases for result in case.results.values()]
    return any(outcome in LOST for outcome in outcomes)


# The diff command


def diff_engines(options: DiffOptions) -> int:
    """Compare two engines on one case: their results, and the first divergence or all of them."""
    if not options.right:
        text = _("{left} is the only engine given; give a second one to compare it with")
        raise UsageError(text.format(left=repr(options.left)))
    if options.left == options.right:
        RunOptions(engines=(options.left,), device=options.device).check()
        text = _("{engine} is given twice; give two different engines")
        raise UsageError(text.format(engine=repr(options.left)))
    plan = checked_plan(options, [options.left, options.right])
    # What is recorded is on all engines.
    report = explored(plan)
    if len(report.alignments) > 1:
        report = of_two(report, plan.wanted.engines)
    alignment = unaligned(report, plan.wanted.engines) or report.alignments[0]
    code = _exit_code_of_two(report, alignment)
    if options.as_json:
        print_document(diff_document(report, alignment))
        return code
    shown, engines = with_short_names(report, plan.wanted.engines)
    for text in comparison_lines(shown, engines, options.list_all):
        print(clean(text))
    return code


def _exit_code_of_two(report: Report, alignment: Alignment) -> int:
    """The exit code of a comparison of two engines: DIFFERENT too where one of them cannot give a graph.

    Where a worker was lost, or a limit was reached, before it gave one, the results decide.
    """
    if _is_lost(report):
        return exit_codes.LOST
    is_refused = not set(alignment.missing) <= set(report.lost_graphs)
    is_same = not is_refused and not do_differ(report)
    return exit_codes.AS_EXPECTED if is_same else exit_codes.DIFFERENT


# A new scenario


def write_new(name: str, factories: tuple[str, str] | None, inputs: Path | None) -> int:
    """Write NAME.py into the current folder; an existing file is not changed.

    ``factories`` make MindSpore's net and PyTorch's, and ``inputs`` are theirs; None if the file
    is to define its own net.
    """
    path = Path(f"{name.removesuffix('.py')}.py")
    if not SCENARIO_NAME.fullmatch(path.stem) or path.parent != Path():
        text = _(
            "{name} is not a valid name of a scenario; use letters, digits and _, a letter first"
        )
        raise UsageError(text.format(name=repr(name)))
    if path.exists():
        text = _("{file} exists already; choose another name, or delete the file")
        raise UsageError(text.format(file=repr(str(path))))
    if inputs and not factories:
        raise UsageError(
            _("--inputs needs --from-factories, the functions that create the nets; add it")
        )
    text = new_scenario(path.stem)
    if factories:
        text = _scenario_of(path.stem, factories, inputs)
    write_file(path, text.encode())
    command = f"{program()} scenario {path}"
    if factories and not inputs:
        text = _("next: in {file}, replace the placeholder arrays in inputs(); then run")
        print(text.format(file=path))
        print(command)
    else:
        print(_("next: run {command}").format(command=command))
    return exit_codes.AS_EXPECTED


def _scenario_of(name: str, factories: tuple[str, str], inputs: Path | None) -> str:
    if inputs and not (inputs.suffix == ".npz" and inputs.is_file()):
        text = _("--inputs {file} is not an .npz file; write one with numpy.savez")
        raise UsageError(text.format(file=repr(str(inputs))))
    by_framework = dict(zip(NEEDED, map(factory_of, factories, NEEDED), strict=True))
    folders = dict.fromkeys(Path(factory.folder) for factory in by_framework.values())
    return scenario_of_factories(name, by_framework, folders, inputs, Path.cwd())
