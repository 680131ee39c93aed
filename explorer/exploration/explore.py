"""The main job: every case of a scenario answered by every engine, compared, drawn up, aligned."""

import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial

import msgspec

from explorer.exploration.installed import about_framework, start
from explorer.exploration.jobs import Jobs
from explorer.exploration.large_nets import Demand, FirstAnswer, demand_of
from explorer.exploration.moved_start import hiding, seen, without_zeros
from explorer.exploration.options import Interrupted, ignored
from explorer.exploration.stages import Exploration
from explorer.model.cases import GradCase
from explorer.model.engines import (
    FRAMEWORK_LABELS,
    GIVEN,
    NEEDED,
    REFEREES,
    STANDARD,
    Framework,
    WorkerKind,
    engine_named,
    placed,
)
from explorer.model.errors import MissingFrameworkError, TimeLimitError
from explorer.model.failures import MISSING_FRAMEWORK, TIME_LIMITS
from explorer.model.findings import ReportFinding
from explorer.model.report import CaseReport, Report
from explorer.model.requests import ProofScope
from explorer.model.results import About
from explorer.scenario.common_start import Nets, settle
from explorer.scenario.declaration import Declaration
from explorer.scenario.devices import assign
from explorer.scenario.matrix import cases_of
from explorer.scenario.selection import Selection, asks_for_most, main_case, named
from explorer.text.failures import message
from explorer.text.language import _
from explorer.text.program_name import program
from explorer.text.remedies import remedy
from explorer.workers.queue import JobQueue, Progress, no_progress
from explorer.workers.workers import Workers


def explore(
    scenario: Declaration,
    workers: Workers,
    *,
    engines: tuple[str, ...] = STANDARD,
    device: str = "cpu",
    order: int = 1,
    graphs: bool = True,
    graph_case: str | None = None,
    selection: Selection | None = None,
    prove: ProofScope = "small",
    oracle: bool = True,
    progress: Progress = no_progress,
    before: Callable[[Demand], None] = ignored,
    early: Callable[[FirstAnswer], None] = ignored,
    first: Callable[[Report], None] = ignored,
    complete: Callable[[CaseReport], None] = ignored,
) -> Report:
    """Ask the cases of ``scenario`` of every engine; report what they say and how it compares.

    The main case comes first: the one called ``graph_case``, by default the one that asks for most.
    Its graphs are captured and aligned, and ``first`` is called with a report on it alone. The
    others follow, those that cover most ways to ask first; ``complete`` is called with each of them
    as it is judged. ``selection`` says which are asked: by default all of them, of a large scenario
    those of "structure". ``prove`` says in which graphs each op is computed again, to prove the values
    of its node. Without ``oracle`` no gradient is estimated from the forward. ``order`` n adds nested
    gradients up to order n. ``progress`` is called with a stage, how much of it is done, and of how
    much. Of a large net ``before`` is called with what it demands, and ``early`` as soon as all engines
    have answered the main case.

    Raises ScenarioError, UsageError, MissingFrameworkError or TimeLimitError; what frameworks raise
    is an outcome in the report. Ctrl-C raises Interrupted once an engine has answered.
    """
    defined = tuple(name for name in engines if scenario.defines(engine_named(name).framework))
    needed_first: dict[WorkerKind, Framework] = {}
    for engine in map(engine_named, defined):
        kinds = engine.answers_in[:1] + ((engine.captures_in,) if graphs else ())
        needed_first.update(dict.fromkeys(kinds, engine.framework))
    start(workers, needed_first, progress)
    present = _present(workers, defined)
    by_kind = assign(device, _usable(present))
    devices = {name: by_kind[_about_in(name)] for name in defined}
    began = time.monotonic()
    nets = settle(scenario, workers, defined, devices)
    demand = demand_of(nets, scenario.train, time.monotonic() - began)
    if demand.is_large:
        before(demand)
        workers = workers.limited(demand.request_seconds(workers.request_seconds))
    cases = cases_of(scenario, bool(nets.trainable), order)
    main = main_case(scenario, nets.has_one_loss, bool(nets.trainable), cases, graph_case)
    jobs = Jobs(
        nets=nets,
        main=main,
        most=asks_for_most(scenario, nets.has_one_loss, bool(nets.trainable)),
        named=named(cases),
        referees=_referees(scenario, nets, workers) if oracle else (),
        proof=prove if graphs else None,
        is_large=demand.is_large,
        of_one=demand.is_noise_of_one,
    )
    # An order asks for nested calls beside the main case, but not beside one that is named.
    nested: tuple[GradCase, ...] = ()
    if graph_case is None:
        nested = tuple(case for case in cases if case.order > 1 and case != main)
    of_start = partial(Exploration, scenario, engines, present, devices)
    exploration = of_start(jobs=jobs, cases=cases, nested=nested, oracle=oracle)
    try:
        with JobQueue(workers, progress) as job_queue:
            exploration.run(job_queue, selection, early, first, complete)
        report = exploration.report()
        hidden = hiding(report, main, nets) if graphs else None
        if hidden is None:
            return report
        # What a start of zeros hides, seen by the main case from another start; of a large net, that it may.
        found: tuple[ReportFinding, ...] = (ReportFinding(fact=hidden, names=hidden.names),)
        if not demand.is_large:
            moved = msgspec.structs.replace(
                jobs, nets=without_zeros(nets, hidden.zeros), referees=()
            )
            elsewhere = of_start(jobs=moved, cases=(main,))
            with JobQueue(workers, progress) as job_queue:
                elsewhere.run(job_queue, "main", ignored, ignored, ignored)
            found = seen(hidden, elsewhere.report(), main)
    except KeyboardInterrupt as interruption:
        if not exploration.has_answers:
            raise
        raise Interrupted(exploration.report()) from interruption
    return msgspec.structs.replace(report, findings=(*report.findings, *found))


def _present(workers: Workers, engines: Iterable[str]) -> dict[WorkerKind, About]:
    """The workers' reports on the frameworks needed, in each environment.

    Raises MissingFrameworkError without one of these, and TimeLimitError if a limit was reached first.
    """
    present: dict[WorkerKind, About] = {}
    for kind, engine in sorted({_about_in(name): engine_named(name) for name in engines}.items()):
        framework = engine.framework
        about = about_framework(workers, framework, engine.environment)
        if isinstance(about, About):
            present[kind] = about
            continue
        label, why = FRAMEWORK_LABELS[framework], message(about)
        text = _("{framework} cannot be used: {reason}").format(framework=label, reason=why)
        if framework not in NEEDED and about.type == MISSING_FRAMEWORK:
            text = _(
                "{framework} is not installed: run {command}, or name an environment that has it:"
                " `{program} env add NAME PYTHON`"
            ).format(framework=label, command=remedy(framework), program=program())
        is_late = about.loss and about.loss.kind in TIME_LIMITS
        raise TimeLimitError(text) if is_late else MissingFrameworkError(text)
    return present


def _about_in(name: str) -> WorkerKind:
    """The worker that reports on an engine's framework."""
    engine = engine_named(name)
    return placed(engine.framework, engine.environment)


def devices_of(
    scenario: Declaration, engines: Iterable[str], device: str, workers: Workers
) -> dict[WorkerKind, str]:
    """The device of each framework in each environment, for some engines; raises as explore()."""
    defined = [name for name in engines if scenario.defines(engine_named(name).framework)]
    return assign(device, _usable(_present(workers, defined)))


def _usable(present: Mapping[WorkerKind, About]) -> dict[WorkerKind, tuple[str, ...]]:
    """The devices that each framework can use here."""
    return {kind: about.devices for kind, about in present.items()}


def _referees(scenario: Declaration, nets: Nets, workers: Workers) -> tuple[Framework, ...]:
    """The frameworks whose nets the oracle runs: all that are compared, else one that holds its weights."""
    compared = tuple(framework for framework in REFEREES if framework in nets.homes)
    running = tuple(name for name in compared if nets.without_answer(name) is None)
    if compared:
        return running or compared[:1]
    for framework in REFEREES:
        is_defined = scenario.defines(framework) and framework not in GIVEN
        if is_defined and isinstance(about_framework(workers, framework), About):
            return (framework,)
    return ()
