"""The main job: every case of a scenario answered by every engine, compared, drawn up, aligned."""

import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial

import msgspec

from explorer.exploration.about import about_framework, start
from explorer.exploration.demand import Demand, demand_of
from explorer.exploration.first_answer import FirstAnswer
from explorer.exploration.jobs import (
    EstimateKey,
    PartKey,
    ResultKey,
    capture_jobs,
    level_jobs,
    noise_jobs,
    result_jobs,
)
from explorer.exploration.moved_start import hiding, seen, without_zeros
from explorer.exploration.options import (
    Interrupted,
    no_answer,
    no_demand,
    no_report,
    no_row,
)
from explorer.exploration.parts import ended_its_worker, made_in_parts
from explorer.exploration.run_state import RunState
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
from explorer.model.errors import ExplorerError, MissingFrameworkError, TimeLimitError
from explorer.model.failures import MISSING_FRAMEWORK, TIME_LIMITS, Failure
from explorer.model.findings import ReportFinding, ZeroGradients
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
from explorer.workers.queue import Job, JobOutcome, JobQueue, Progress, no_progress
from explorer.workers.workers import Workers

MOST_ALIGNMENTS = 4
"""So often graphs are aligned again at most, each time with more of their large values."""


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
    before: Callable[[Demand], None] = no_demand,
    early: Callable[[FirstAnswer], None] = no_answer,
    first: Callable[[Report], None] = no_report,
    complete: Callable[[CaseReport], None] = no_row,
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
    start(workers, _first_workers(defined, graphs), progress)
    present = _present(workers, defined)
    by_kind = assign(device, _usable(present))
    devices = {name: by_kind[_about_in(name)] for name in defined}
    began = time.monotonic()
    nets = settle(scenario, workers, defined, devices)
    demand = demand_of(nets, scenario.train, time.monotonic() - began)
    if demand.is_large:
        before(demand)
        workers = workers.limited(demand.request_seconds(workers.request_seconds))
    referees = _referees(scenario, nets, workers) if oracle else ()

    cases = cases_of(scenario, bool(nets.trainable), order)
    main = main_case(scenario, nets.has_one_loss, bool(nets.trainable), cases, graph_case)
    state_of = partial(
        RunState,
        scenario,
        engines=engines,
        present=present,
        devices=devices,
        main=main,
        graphs=graphs,
    )
    run = _Run(
        state=state_of(
            nets=nets,
            cases=cases,
            is_main_given=graph_case is not None,
            no_oracle=not oracle,
            referees=referees,
        ),
        nets=nets,
        main=main,
        most=asks_for_most(scenario, nets.has_one_loss, bool(nets.trainable)),
        named=named(cases),
        referees=referees,
        proof=prove if graphs else None,
        demand=demand,
    )
    try:
        with JobQueue(workers, progress) as job_queue:
            _carry_out(run, job_queue, selection, early, first, complete)
        report = run.state.report()
        hidden = hiding(report, main, nets) if run.proof else None
        if hidden is None:
            return report
        found = _behind_zeros(run, hidden, state_of, workers, progress)
    except KeyboardInterrupt as interruption:
        if not run.state.has_answers:
            raise
        raise Interrupted(run.state.report()) from interruption
    return msgspec.structs.replace(report, findings=(*report.findings, *found))


def _behind_zeros(
    run: "_Run",
    hidden: ZeroGradients,
    state_of: Callable[..., RunState],
    workers: Workers,
    progress: Progress,
) -> tuple[ReportFinding, ...]:
    """What a start of zeros hides, seen by the main case from another start; of a large net, that it may."""
    if run.demand.is_large:
        return (ReportFinding(fact=hidden, names=hidden.names),)
    nets = without_zeros(run.nets, hidden.zeros)
    state = state_of(nets=nets, cases=(run.main,), is_main_given=True, no_oracle=True)
    again = msgspec.structs.replace(run, state=state, nets=nets, referees=())
    with JobQueue(workers, progress) as job_queue:
        _carry_out(again, job_queue, "main", no_answer, no_report, no_row)
    return seen(hidden, state.report(), run.main)


class _Run(msgspec.Struct, frozen=True, kw_only=True):
    """What the jobs of one exploration are made of.

    ``most`` is the case that asks for most, ``named`` are those that are asked for
    ids too, and ``proof`` says in which graphs ops are computed again; None where no
    graph is captured. ``referees`` are the frameworks whose nets the oracle runs. ``demand`` is what the nets
    demand.
    """

    state: RunState
    nets: Nets
    main: GradCase
    most: GradCase
    named: frozenset[GradCase]
    referees: tuple[Framework, ...]
    proof: ProofScope | None
    demand: Demand

    def main_jobs(self) -> list[Job]:
        """The jobs of the main case."""
        of_one = self.demand.is_noise_of_one
        graphs: list[Job] = []
        if self.proof:
            graphs += capture_jobs(self.nets, self.main, self.proof)
            graphs += level_jobs(self.nets, self.main, of_one=of_one)
        noise = noise_jobs(self.nets, (self.main,), self.most, of_one=of_one)
        # A second process that starts up would be in the way of the first answers.
        results = result_jobs(
            self.nets, (self.main,), named=self.named, referees=self.referees, shared=False
        )
        jobs = [*graphs, *noise, *results]
        if self.demand.is_large:
            # Each takes a while: a user sees the engines' answers before all else.
            oracle = [job for job in results if isinstance(job.key, EstimateKey)]
            answers = [job for job in results if not isinstance(job.key, EstimateKey)]
            jobs = [*answers, *graphs, *noise, *oracle]
        return self.state.expected(jobs)

    def jobs_on(self, others: tuple[GradCase, ...]) -> list[Job]:
        """The jobs of other cases."""
        unmeasured = self.state.unmeasured(others)
        of_one = self.demand.is_noise_of_one
        jobs = noise_jobs(self.nets, unmeasured, self.most, of_one=of_one)
        jobs += result_jobs(self.nets, others, named=self.named, referees=self.referees)
        return self.state.expected(jobs)


def _carry_out(
    run: _Run,
    job_queue: JobQueue,
    selection: Selection | None,
    early: Callable[[FirstAnswer], None],
    first: Callable[[Report], None],
    complete: Callable[[CaseReport], None],
) -> None:
    """Run the main case, then the others; both callbacks are those of explore()."""
    state = run.state
    jobs = run.main_jobs()
    job_queue.add(jobs)
    # Whoever is through with the main case goes on.
    sure = state.sure(selection)
    job_queue.add(run.jobs_on(sure), start=False)
    hears_early = early if run.demand.is_large else no_answer
    done = _until_done(jobs, state, job_queue, hears_early)

    # The workers go on while the graphs are aligned.
    state.align()
    others = run.jobs_on(state.select(selection)[len(sure) :])
    for _round in range(MOST_ALIGNMENTS):
        large = state.whole_jobs()
        if not large:
            break
        job_queue.add(large, ahead=True)
        done += _until_done(large, state, job_queue, no_answer)
        state.align_again()
    trials = state.trial_jobs()
    job_queue.add(trials, ahead=True)  # the first report waits for them
    job_queue.add(others)
    if trials:
        done += _with_all_trials(trials, state, job_queue)
    state.explain()
    for jobs in state.mended():
        job_queue.add(jobs, ahead=True)
        done += _with_all_trials(jobs, state, job_queue)
    first(state.first_report())
    for case_report in done:
        if case_report.case != run.main:
            complete(case_report)
    for job, outcome in job_queue.finished():
        for case_report in state.note(job, outcome):
            complete(case_report)


def _with_all_trials(jobs: list[Job], state: RunState, job_queue: JobQueue) -> list[CaseReport]:
    """Wait for the last of some jobs; make trials again of which one has ended their worker."""
    done = _until_done(jobs, state, job_queue, no_answer)

    def make(parts: list[Job]) -> dict[PartKey, JobOutcome]:
        job_queue.add(parts, ahead=True)
        done.extend(_until_done(parts, state, job_queue, no_answer))
        return {part.key: state.taken(part.key) for part in parts}

    for job in jobs:
        lost = state.outcome(job.key)
        if ended_its_worker(job, lost):
            state.note(job, made_in_parts(job, lost, make))
    return done


def _until_done(
    jobs: list[Job],
    state: RunState,
    job_queue: JobQueue,
    early: Callable[[FirstAnswer], None],
) -> list[CaseReport]:
    """Wait for the last of some jobs; the reports on the cases that are complete by then."""
    missing = {job.key for job in jobs}
    answers = {job.key for job in jobs if isinstance(job.key, ResultKey)}
    done: list[CaseReport] = []
    for job, outcome in job_queue.finished():
        done += state.note(job, outcome)
        missing.discard(job.key)
        if job.key in answers:
            answers.discard(job.key)
            if not answers:
                early(state.first_answer())
        if not missing:
            break
    return done


def _first_workers(engines: Iterable[str], graphs: bool) -> dict[WorkerKind, Framework]:
    """The workers that the first answers need, by the framework that each imports."""
    kinds: dict[WorkerKind, Framework] = {}
    for name in engines:
        engine = engine_named(name)
        kinds[engine.answers_in[0]] = engine.framework
        if graphs:
            kinds[engine.captures_in] = engine.framework
    return kinds


def _present(workers: Workers, engines: Iterable[str]) -> dict[WorkerKind, About]:
    """The workers' reports on the frameworks needed, in each environment.

    Raises MissingFrameworkError without one of these, and TimeLimitError if a limit was reached first.
    """
    present: dict[WorkerKind, About] = {}
    for name in sorted(engines, key=_about_in):
        engine, kind = engine_named(name), _about_in(name)
        if kind in present:
            continue
        about = about_framework(workers, engine.framework, engine.environment)
        if isinstance(about, Failure):
            raise _unusable(engine.framework, about)
        present[kind] = about
    return present


def _about_in(name: str) -> WorkerKind:
    """The worker that reports on an engine's framework."""
    engine = engine_named(name)
    return placed(engine.framework, engine.environment)


def _unusable(framework: Framework, failure: Failure) -> ExplorerError:
    """The error for a framework whose worker did not report on it."""
    label, why = FRAMEWORK_LABELS[framework], message(failure)
    text = _("{framework} cannot be used: {reason}").format(framework=label, reason=why)
    if framework not in NEEDED and failure.type == MISSING_FRAMEWORK:
        text = _(
            "{framework} is not installed: run {command}, or name an environment that has it:"
            " `{program} env add NAME PYTHON`"
        ).format(framework=label, command=remedy(framework), program=program())
    if failure.loss and failure.loss.kind in TIME_LIMITS:
        return TimeLimitError(text)
    return MissingFrameworkError(text)


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
