"""The main job: a scenario's cases answered by every engine, compared, captured as graphs, and aligned."""

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations

import msgspec

from explorer.align import align
from explorer.arrays import pack
from explorer.cases import GradCase, matrix
from explorer.choices import choose
from explorer.compare import judge
from explorer.devices import resolve
from explorer.engines import ENGINES, FRAMEWORKS, Framework, Kind
from explorer.errors import MissingFrameworkError
from explorer.nets import Nets, settle
from explorer.records import (
    About,
    AnswerRequest,
    Captured,
    CaptureRequest,
    CaseReport,
    Failure,
    Leaf,
    Nothing,
    OracleRequest,
    OracleResult,
    Report,
    Result,
)
from explorer.scenario import Scenario
from explorer.worker import Lost, Workers

Progress = Callable[[str, int, int], None]

THREADS = 2 * len(ENGINES) + 1
"""One for each engine's answers, one for each capture, one for the oracle: they wait for workers, which do the work."""

NOT_DEFINED = Result(outcome="not_defined", error=Failure("NotDefined", "the scenario defines no net for this framework"))
NO_ORACLE = OracleResult("not_defined", error=Failure("NotDefined", "central differences need PyTorch, and a net defined for it"))


def about(workers: Workers) -> dict[Framework, About | Failure]:
    """What each framework's worker says of itself: versions and devices; a Failure where it is missing or dies."""
    return {framework: _about(workers, framework) for framework in FRAMEWORKS}


def _about(workers: Workers, framework: Framework) -> About | Failure:
    try:
        reply = workers.call(framework, f"explorer.engines.about_{framework}:about", Nothing(), About)
    except MissingFrameworkError as error:
        return Failure("MissingFramework", str(error))
    return Failure(reply.outcome, reply.detail) if isinstance(reply, Lost) else reply


def explore(
    scenario: Scenario,
    workers: Workers,
    *,
    engines: tuple[str, ...] = tuple(ENGINES),
    device: str = "cpu",
    order: int = 1,
    graphs: bool = True,
    graph_case: str | None = None,
    only_graph_case: bool = False,
    progress: Progress = lambda stage, done, total: None,
) -> Report:
    """Ask every case of ``scenario`` of every engine, and report what they say and how it compares.

    ``order`` n adds nested gradients up to order n. ``graph_case`` is the label of the case whose graphs are captured (by
    default the one that asks for most); ``only_graph_case`` asks nothing else. ``progress`` is called with a stage, and how
    much of it is done, from several threads.
    Raises ScenarioError, UsageError or MissingFrameworkError; what frameworks raise is an outcome in the report.
    """
    defined = tuple(name for name in engines if scenario.defines(ENGINES[name].framework))
    known = _present(workers, {ENGINES[name].framework for name in defined})
    judged = "torch" in known or (scenario.defines("torch") and isinstance(_about(workers, "torch"), About))
    devices = {name: resolve(device, ENGINES[name].framework, known[ENGINES[name].framework].devices) for name in defined}
    nets = settle(scenario, workers, defined, devices)
    cases = matrix(len(scenario.inputs()), bool(nets.trainable), order)
    job = _Job(workers, nets, progress)
    captured_case = _captured_case(scenario, nets, cases, graph_case)
    if only_graph_case:
        cases = (captured_case,)
    with ThreadPoolExecutor(THREADS) as pool:
        try:
            answers = {name: pool.submit(job.answers, name, cases) for name in defined}
            oracle = pool.submit(job.oracle, cases) if judged else None
            captures = {name: pool.submit(job.capture, name, captured_case) for name in defined} if graphs else {}
            results = {name: future.result() for name, future in answers.items()}
            estimates = oracle.result() if oracle else [NO_ORACLE] * len(cases)
            taken = {name: future.result() for name, future in captures.items()}
        except BaseException:
            job.stop.set()
            workers.close()
            raise
    undefined = {name: [NOT_DEFINED] * len(cases) for name in engines if name not in defined}
    columns = {name: {**results, **undefined}[name] for name in engines}
    reports = [
        judge(case, {name: column[index] for name, column in columns.items()}, estimates[index], scenario.expected)
        for index, case in enumerate(cases)
    ]
    return _report(scenario, nets, known, devices, reports, taken)


class _Job:
    """The requests of one exploration, made from one thread an engine; each worker takes them one at a time."""

    def __init__(self, workers: Workers, nets: Nets, progress: Progress) -> None:
        self.workers, self.nets, self.progress = workers, nets, progress
        self.stop = threading.Event()

    def answers(self, engine: str, cases: tuple[GradCase, ...]) -> list[Result]:
        """The engine's result for each case, by as many workers as it has; all lost when the first look already was."""
        entry, net = ENGINES[engine], self.nets.requests[engine]
        lost = self.nets.lost.get(entry.framework)
        if lost:
            return [_lost(lost)] * len(cases)
        waiting, found = deque(enumerate(cases)), dict[int, Result]()

        def work(worker: Kind) -> None:
            while waiting and not self.stop.is_set():
                with contextlib.suppress(IndexError):  # another worker took the last one
                    index, case = waiting.popleft()
                    reply = self.workers.call(worker, f"{entry.module}:answer", AnswerRequest(net, case), Result)
                    found[index] = _lost(reply) if isinstance(reply, Lost) else reply
                    self.progress(engine, len(found), len(cases))

        with ThreadPoolExecutor(len(entry.answers_in)) as pool:
            list(pool.map(work, entry.answers_in))
        return [found[index] for index in range(len(found))]

    def oracle(self, cases: tuple[GradCase, ...]) -> list[OracleResult]:
        """Central differences for each case."""
        net = msgspec.structs.replace(next(iter(self.nets.requests.values())), engine="torch-tape", device="cpu")
        if "torch" in self.nets.lost:
            return [OracleResult(self.nets.lost["torch"].outcome)] * len(cases)
        found: list[OracleResult] = []
        while len(found) < len(cases) and not self.stop.is_set():
            self.progress("central differences", len(found), len(cases))
            case = cases[len(found)]
            reply = self.workers.call("torch", "explorer.engines.oracle:estimate", OracleRequest(net, case), OracleResult)
            found.append(OracleResult(reply.outcome, error=_failure(reply)) if isinstance(reply, Lost) else reply)
        self.progress("central differences", len(cases), len(cases))
        return found

    def capture(self, engine: str, case: GradCase) -> Captured:
        """The engine's graphs of one case; none, with the reason in the result, when it cannot."""
        entry = ENGINES[engine]
        lost = self.nets.lost.get(entry.framework)
        if lost or self.stop.is_set():
            return Captured((), _lost(lost or Lost("timed_out", "stopped")))
        request = CaptureRequest(self.nets.requests[engine], case)
        reply = self.workers.call(entry.captures_in, f"{entry.module}:capture", request, Captured)
        return Captured((), _lost(reply)) if isinstance(reply, Lost) else reply


def _lost(lost: Lost) -> Result:
    return Result(outcome=lost.outcome, error=_failure(lost))


def _failure(lost: Lost) -> Failure:
    return Failure(lost.outcome, lost.detail)


def _present(workers: Workers, frameworks: Iterable[Framework]) -> dict[Framework, About]:
    present: dict[Framework, About] = {}
    for framework in sorted(frameworks):
        found = _about(workers, framework)
        if isinstance(found, Failure):
            raise MissingFrameworkError(f"{framework} cannot be used: {found.message}")
        present[framework] = found
    return present


def widest(floating: tuple[bool, ...], outputs: int, weights: bool) -> GradCase:
    """The case that asks for most: every floating input, all weights, the first output alone where there are several."""
    places = tuple(index for index, yes in enumerate(floating) if yes)
    position = places[0] if len(places) == 1 else places or None
    return GradCase("grad", position, "all" if weights else None, outputs > 1)


def _captured_case(scenario: Scenario, nets: Nets, cases: tuple[GradCase, ...], label: str | None) -> GradCase:
    if label is None:
        floating = tuple(array.dtype.kind == "f" for array in scenario.inputs().values())
        return widest(floating, nets.outputs, bool(nets.trainable))
    by_label = {case.label: case for case in cases}
    return by_label[choose("case", label, by_label)]


def _report(
    scenario: Scenario,
    nets: Nets,
    known: dict[Framework, About],
    devices: dict[str, str],
    cases: list[CaseReport],
    taken: dict[str, Captured],
) -> Report:
    graphs = {name: captured.graphs[-1] for name, captured in taken.items() if captured.graphs}
    return Report(
        scenario=scenario.name,
        title=scenario.title,
        notes=scenario.notes,
        versions={name: version for each in known.values() for name, version in each.versions.items()},
        devices=devices,
        inputs=tuple(Leaf(name, pack(array)) for name, array in scenario.inputs().items()),
        parameters=tuple(Leaf(name, array) for name, array in nets.parameters.items()),
        cases=tuple(cases),
        graphs=tuple(graph for captured in taken.values() for graph in captured.graphs),
        ungraphed={name: captured.result.error.message for name, captured in taken.items() if captured.result.error},
        alignments=tuple(align(one, other) for one, other in combinations(graphs.values(), 2)),
    )
