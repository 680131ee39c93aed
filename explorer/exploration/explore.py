"""The main job: every case of a scenario answered by every engine, compared, drawn up, aligned."""

import time
from collections.abc import Iterable
from functools import partial

import numpy as np
from msgspec.structs import replace

from explorer.exploration.installed import about
from explorer.exploration.jobs import Jobs
from explorer.exploration.large_nets import demand_of
from explorer.exploration.options import SILENT, Callbacks, Interrupted
from explorer.exploration.stages import Exploration
from explorer.model.arrays import Array, pack, unpack
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
)
from explorer.model.errors import MissingFrameworkError, TimeLimitError
from explorer.model.failures import MISSING_FRAMEWORK, TIME_LIMITS
from explorer.model.findings import HiddenByZeros, ReportFinding, ZeroGradients
from explorer.model.report import Report
from explorer.model.requests import ParameterSpec, ProofScope
from explorer.model.results import About
from explorer.scenario.common_start import Nets, settle
from explorer.scenario.declaration import Declaration
from explorer.scenario.devices import assign
from explorer.scenario.matrix import cases_of
from explorer.scenario.selection import Selection, asks_for_most, main_case, named
from explorer.scenario.value_matching import drawn
from explorer.text.failures import message
from explorer.text.language import _
from explorer.text.program_name import program
from explorer.text.remedies import remedy
from explorer.workers.queue import JobQueue, Progress, no_progress
from explorer.workers.workers import Workers

AGREE = frozenset({"match", "close"})
"""The verdicts on a case in which no engine differs from another."""


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
    callbacks: Callbacks = SILENT,
) -> Report:
    """Ask the cases of ``scenario`` of every engine; report what they say and how it compares.

    The main case comes first: the one called ``graph_case``, by default the one that asks for most.
    Its graphs are captured and aligned. The others follow, those that cover most ways to ask first.
    ``selection`` says which are asked: by default all of them, of a large scenario those of "structure".
    ``prove`` says in which graphs each op is computed again, to prove the values of its node. Without
    ``oracle`` no gradient is estimated from the forward. ``order`` n adds nested gradients up to order n.

    Raises ScenarioError, UsageError, MissingFrameworkError or TimeLimitError; what frameworks raise
    is an outcome in the report. Ctrl-C raises Interrupted once an engine has answered.
    """
    defined = tuple(name for name in engines if scenario.defines(engine_named(name).framework))
    present = _present(workers, defined, callbacks.progress, graphs=graphs)
    by_kind = assign(device, {kind: it.devices for kind, it in present.items()})
    devices = {name: by_kind[engine_named(name).answers_in[0]] for name in defined}
    began = time.monotonic()
    nets = settle(scenario, workers, defined, devices)
    demand = demand_of(nets, scenario.train, time.monotonic() - began)
    if demand.is_large:
        callbacks.before(demand)
        workers = workers.limited(demand.request_seconds(workers.request_seconds))
    cases = cases_of(scenario, bool(nets.trainable), order)
    main = main_case(scenario, nets.has_one_loss, bool(nets.trainable), cases, graph_case)
    jobs = Jobs(
        nets=nets,
        main=main,
        most=asks_for_most(scenario, nets.has_one_loss, bool(nets.trainable)),
        named=named(cases),
        referees=_referees(scenario, nets, workers) if oracle else None,
        proof=prove if graphs else None,
        is_large=demand.is_large,
        of_one=demand.is_noise_of_one,
    )
    # An order asks for nested calls beside the main case, but not beside one that is named.
    beside = cases if graph_case is None else ()
    nested = tuple(case for case in beside if case.order > 1 and case != main)
    of_start = partial(Exploration, scenario, engines, present, devices)
    exploration = of_start(jobs, cases, nested)
    try:
        with JobQueue(workers, callbacks.progress) as job_queue:
            exploration.run(job_queue, selection, callbacks)
        report = exploration.report()
        hidden = hiding(report, main, nets) if graphs else None
        if hidden is None:
            return report
        # What a start of zeros hides, seen by the main case from another start; of a large net, that it may.
        found: tuple[ReportFinding, ...] = (ReportFinding(fact=hidden, names=hidden.names),)
        if not demand.is_large:
            start = without_zeros(nets, hidden.zeros)
            moved = of_start(replace(jobs, nets=start, referees=None), (main,))
            with JobQueue(workers, callbacks.progress) as job_queue:
                moved.run(job_queue, "main")
            found = seen(hidden, moved.report(), main)
    except KeyboardInterrupt as interruption:
        if not exploration.has_answers:
            raise
        raise Interrupted(exploration.report()) from interruption
    return replace(report, findings=(*report.findings, *found))


def _present(
    workers: Workers,
    engines: Iterable[str],
    progress: Progress = no_progress,
    *,
    graphs: bool = False,
) -> dict[WorkerKind, About]:
    """The workers' reports on the frameworks of some engines, in each environment.

    Those that capture ``graphs`` start beside them. Raises MissingFrameworkError without a framework, and
    TimeLimitError if a limit was reached first.
    """
    kinds: dict[WorkerKind, Framework] = {}
    capturing: dict[WorkerKind, Framework] = {}
    for engine in map(engine_named, engines):
        kinds[engine.answers_in[0]] = capturing[engine.captures_in] = engine.framework
    replies = about(workers, kinds | capturing if graphs else kinds, progress)
    present: dict[WorkerKind, About] = {}
    for kind, framework in sorted(kinds.items()):
        reply = replies[kind]
        if isinstance(reply, About):
            present[kind] = reply
            continue
        label, why = FRAMEWORK_LABELS[framework], message(reply)
        text = _("{framework} cannot be used: {reason}").format(framework=label, reason=why)
        if framework not in NEEDED and reply.type == MISSING_FRAMEWORK:
            text = _(
                "{framework} is not installed: run {command}, or name an environment that has it:"
                " `{program} env add NAME PYTHON`"
            ).format(framework=label, command=remedy(framework), program=program())
        is_late = reply.loss and reply.loss.kind in TIME_LIMITS
        raise TimeLimitError(text) if is_late else MissingFrameworkError(text)
    return present


def devices_of(
    scenario: Declaration, engines: Iterable[str], device: str, workers: Workers
) -> dict[WorkerKind, str]:
    """The device of each framework in each environment, for some engines; raises as explore()."""
    defined = [name for name in engines if scenario.defines(engine_named(name).framework)]
    present = _present(workers, defined)
    return assign(device, {kind: it.devices for kind, it in present.items()})


def _referees(scenario: Declaration, nets: Nets, workers: Workers) -> tuple[Framework, ...]:
    """The frameworks whose nets the oracle runs: all that are compared, else one that holds its weights."""
    compared = tuple(framework for framework in REFEREES if framework in nets.homes)
    running = tuple(name for name in compared if nets.without_answer(name) is None)
    if compared:
        return running or compared[:1]
    for framework in REFEREES:
        is_defined = scenario.defines(framework) and framework not in GIVEN
        if is_defined and isinstance(about(workers, {framework: framework})[framework], About):
            return (framework,)
    return ()


# A start of zeros, behind which a mistake changes nothing, and the same start without the zeros


def hiding(report: Report, main: GradCase, nets: Nets) -> ZeroGradients | None:
    """The gradients of the main case that are 0 in every engine, behind parameters of zeros.

    None where engines differ, or no gradient is.
    """
    zeros = tuple(name for name in nets.trainable if _is_zero(nets.parameters[name]))
    names = _without_gradient(report, main, nets.trainable)
    is_divided = any(it.divergence for it in report.alignments) or not _agree(report, main)
    return ZeroGradients(names, zeros) if zeros and names and not is_divided else None


def _agree(report: Report, main: GradCase) -> bool:
    return all(case.verdict in AGREE for case in report.cases if case.case == main)


def _without_gradient(report: Report, main: GradCase, names: Iterable[str]) -> tuple[str, ...]:
    """The parameters whose gradients in the main case are exactly 0 in every engine that has answered."""
    gradients = [
        {leaf.name for leaf in result.leaves if _is_zero(leaf.value)}
        for case in report.cases
        for result in case.results.values()
        if case.case == main and result.outcome == "ok"
    ]
    zeros = set.intersection(*gradients) if gradients else set()
    return tuple(name for name in names if f"d{name}" in zeros)


def _is_zero(array: Array) -> bool:
    """Whether all elements are exactly 0; of a large array its figures say so."""
    if array.excerpt is None:
        return not unpack(array).any()
    known = array.excerpt.summary
    return known.minimum == known.maximum == 0 and not known.nonfinite


def without_zeros(nets: Nets, zeros: tuple[str, ...]) -> Nets:
    """The nets with other values in some parameters, alike in every engine."""
    start = {}
    for name in zeros:
        array = nets.parameters[name]
        spec = ParameterSpec(name=name, path=name, role="trained", value=array)
        start[name] = pack(drawn(name, spec).reshape(array.shape).astype(np.float32), array.dtype)
    requests = {
        engine: replace(request, parameters=request.parameters | start)
        for engine, request in nets.requests.items()
    }
    return replace(nets, requests=requests, parameters=nets.parameters | start)


def seen(hidden: ZeroGradients, moved: Report, main: GradCase) -> tuple[ReportFinding, ...]:
    """What a report on the same case from the other start shows of what zeros hide."""
    still = _without_gradient(moved, main, hidden.names)
    names = tuple(name for name in hidden.names if name not in still)
    for it in moved.alignments:
        if it.divergence is not None:
            found = HiddenByZeros(hidden, (it.left, it.right), it.divergence)
            return (ReportFinding(fact=found, names=hidden.names),)
    # What is 0 from any start, as that of a parameter without use, is no work of the zeros.
    fact = ZeroGradients(names, hidden.zeros, agree_elsewhere=_agree(moved, main))
    return (ReportFinding(fact=fact, names=names),) if names else ()
