"""The state of one exploration: what is known so far, what runs next, and the report on it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations, count
from typing import Any

import msgspec

from explorer.compare.align.alignment import seamed
from explorer.compare.graphs.view import Slot
from explorer.compare.results.remarks import (
    conventions,
    ill_conditioned,
    non_finite,
    random_draws,
    silent_broadcasts,
)
from explorer.compare.results.steps import state_rows
from explorer.compare.results.verdicts import (
    equal_elements,
    judge,
    judged_results,
    with_expectation,
    without_divergence,
)
from explorer.exploration.excerpts import abridged, abridged_leaf
from explorer.exploration.explanations import Explanations
from explorer.exploration.first_answer import FirstAnswer, first_answer
from explorer.exploration.jobs import (
    JobKey,
    MendedKey,
    mended_jobs,
    question,
    trial_jobs,
    whole_jobs,
)
from explorer.exploration.mended_run import Diverging, as_if_mended
from explorer.exploration.outcomes import (
    LEFT_OUT_ORACLE,
    NO_ORACLE,
    Outcomes,
    altered_engines,
    recorded_otherwise,
)
from explorer.model.alignment import Alignment
from explorer.model.arrays import Array, pack
from explorer.model.cases import GradCase
from explorer.model.engines import Framework, WorkerKind, environment_of
from explorer.model.findings import ReportFinding
from explorer.model.graph import GradGraph, with_values, without_large
from explorer.model.report import CaseReport, LeftOut, Report, Ungraphed
from explorer.model.results import LOST, About, Captured, Leaf
from explorer.scenario.common_start import Nets
from explorer.scenario.declaration import Declaration
from explorer.scenario.selection import Selection, covering, spread, takes
from explorer.workers.queue import Job, JobOutcome

LARGE = 10_000
"""The number of cases times op nodes above which not every case is run unless --cases says all.

Each case costs MindSpore's graph style a compilation, which takes the longer the larger the graph.
"""


class RunState:
    """One exploration and its results so far.

    ``cases`` are all there are, and ``main`` is the one that is asked first; ``graphs`` says
    whether its graphs are captured, ``is_main_given`` whether the user has named it, and ``no_oracle``
    that the user leaves the oracle out; ``referees`` are the frameworks whose nets it runs.
    """

    def __init__(
        self,
        scenario: Declaration,
        nets: Nets,
        engines: tuple[str, ...],
        present: Mapping[WorkerKind, About],
        devices: dict[str, str],
        cases: tuple[GradCase, ...],
        main: GradCase,
        graphs: bool,
        *,
        is_main_given: bool = False,
        no_oracle: bool = False,
        referees: Sequence[Framework] = (),
    ) -> None:
        self._scenario = scenario
        self._nets = nets
        self._engines = engines
        self._present = present
        self._devices = devices
        self._main = main
        self._graphs = graphs
        # Of more than three inputs the matrix holds no pairs, and the main case may be one.
        self._cases = cases if main in cases else (main, *cases)
        self._asked = set(self._cases)  # until a selection leaves some out
        # An order asks for nested calls beside the main case, but not beside one that is named.
        self._nested: tuple[GradCase, ...] = ()
        if not is_main_given:
            self._nested = tuple(case for case in self._others() if case.order > 1)
        self._takes = takes(scenario, nets.has_auxiliary)
        self._measured = {question(main)}
        self._selected: LeftOut | None = None
        self._outcomes = Outcomes(nets, LEFT_OUT_ORACLE if no_oracle else NO_ORACLE, referees)
        self._complete: dict[GradCase, CaseReport] = {}
        self._alignments: tuple[Alignment, ...] = ()
        self._explanations = Explanations()
        self._diverging: dict[int, Diverging] = {}
        self._remarks: tuple[ReportFinding, ...] = ()
        self._is_aligned = False
        self._whole: dict[str, dict[Slot, Array | None]] = {}
        self._asked_for: dict[str, tuple[Slot, ...]] = {}

    @property
    def has_answers(self) -> bool:
        """Whether there are any results to report."""
        return not self._outcomes.is_empty

    def expected(self, jobs: list[Job]) -> list[Job]:
        """The same jobs, now that it is known that they are on their way."""
        self._outcomes.expect(jobs)
        return jobs

    def note(self, job: Job, outcome: JobOutcome) -> list[CaseReport]:
        """Note the outcome of a job; the reports on the cases that are complete with it."""
        reports = []
        for case in self._outcomes.note(job, outcome):
            if self._outcomes.is_reached(case):
                self._complete[case] = self._judged(case)
                # The main case's values are still to be compared with those of the recorded runs.
                if case != self._main or self._is_aligned:
                    self._abridge(case)
                reports.append(self._complete[case])
        return reports

    def outcome(self, key: JobKey) -> JobOutcome:
        """The outcome of a job that is finished; None of another one."""
        return self._outcomes.of(key)

    def taken(self, key: JobKey) -> JobOutcome:
        """The outcome of a job, which is let go of."""
        return self._outcomes.taken(key)

    def _abridge(self, case: GradCase) -> None:
        """Let go of what only the verdict on a case needed of large tensors."""
        self._complete[case] = abridged(self._complete[case])
        self._outcomes.abridge(case)

    def unmeasured(self, cases: Iterable[GradCase]) -> tuple[GradCase, ...]:
        """The cases whose noise no earlier question measures; from now on one does."""
        unmeasured = tuple(case for case in cases if question(case) not in self._measured)
        self._measured.update(map(question, unmeasured))
        return unmeasured

    def sure(self, selection: Selection | None) -> tuple[GradCase, ...]:
        """The cases that are run besides the main one even if its graphs are large, in order."""
        if selection == "main":
            return self._nested
        return covering(self._others(), (self._main,), self._takes)

    def select(self, selection: Selection | None) -> tuple[GradCase, ...]:
        """The cases to run besides the main one, in order; those of sure() come first."""
        others = self._others()
        op_nodes = self._op_nodes()
        is_large = len(self._cases) * op_nodes > LARGE
        by_size = selection is None
        if selection is None:
            selection = "structure" if is_large else "all"
        chosen = self._nested
        if selection == "structure":
            chosen = covering(others, (self._main,), self._takes)
        elif selection == "all":
            chosen = spread(others, (self._main,), self._takes)
        self._asked = {self._main, *chosen}
        rest = tuple(case for case in others if case not in self._asked)
        if rest and selection != "all":
            self._selected = LeftOut(
                "selected",
                rest,
                "size" if by_size else selection,
                total=len(self._cases),
                op_nodes=op_nodes,
            )
        return chosen

    def _others(self) -> list[GradCase]:
        others = list(self._cases)
        others.remove(self._main)
        return others

    def _op_nodes(self) -> int:
        """The number of op nodes in the largest graph."""
        largest = 0
        for graph in self._last_stages():
            ops = sum(node.kind == "op" for node in graph.nodes)
            largest = max(largest, ops)
        return largest

    def _captured(self) -> dict[str, Captured]:
        if not self._graphs:
            return {}
        return {name: self._outcomes.captured(name) for name in self._nets.requests}

    def _last_stages(self) -> list[GradGraph]:
        graphs: list[GradGraph] = []
        for name, captured in self._captured().items():
            graphs += [with_values(it, self._whole.get(name, {})) for it in captured.graphs[-1:]]
        return graphs

    def align(self) -> None:
        """Align the main case's graphs, two by two, and look for places that multiply rounding."""
        # Earlier stages are not run: their nodes have no values by which they could be paired.
        graphs = self._last_stages()
        pairs = combinations(graphs, 2)
        report = self._judged(self._main)
        noise = self._outcomes.noise(self._main, self._engines)
        altered = altered_engines(self._recorded_otherwise())
        expected, tolerances = self._scenario.expected, self._scenario.tolerances
        alignments: list[Alignment] = []
        self._diverging.clear()
        for left, right in pairs:
            parties = left.engine, right.engine
            judged = judged_results(report, parties, noise)
            align = partial(seamed, alike=judged.alike, pieces=self._nets.pieces)
            aligned = align(left, right)
            alignment = msgspec.structs.replace(aligned.alignment, unjudged=judged.unjudged)
            alignment = without_divergence(alignment, altered)
            alignment = with_expectation(alignment, report, expected, tolerances, noise)
            if alignment.divergence is not None:
                self._diverging[len(alignments)] = Diverging(aligned, left, right, align)
            alignments.append(alignment)
        self._alignments = tuple(alignments)
        self._explanations = Explanations(self._alignments, graphs)
        of_the_call = [graph for graph in graphs if graph.engine not in altered]
        self._remarks = (
            *self._recorded_otherwise(),
            *non_finite(of_the_call),
            *silent_broadcasts(of_the_call),
            *conventions(of_the_call, report),
            *ill_conditioned(of_the_call),
            *random_draws(graphs, report.drawn),
        )

    def _recorded_otherwise(self) -> tuple[ReportFinding, ...]:
        """A remark on each engine whose recorded run gave other results than its plain call."""
        recorded = self._captured()
        plain = {name: self._outcomes.result(name, self._main) for name in recorded}
        noise = self._outcomes.noise(self._main, self._engines)
        return tuple(recorded_otherwise(recorded, plain, noise))

    def first_answer(self) -> FirstAnswer:
        """How far the engines' answers to the main case agree, before anything else is known."""
        results = {name: self._outcomes.result(name, self._main) for name in self._engines}
        return first_answer(results)

    def trial_jobs(self) -> list[Job]:
        """The jobs that try what may explain the divergences of the main case."""
        return trial_jobs(self._nets, self._main, self._explanations.trials())

    def explain(self) -> None:
        """Note which of what was tried explains the divergences: nothing is compared again."""
        self._is_aligned = True
        self._outcomes.forget_recorded_values()
        if self._main in self._complete:
            self._abridge(self._main)
        self._alignments = self._explanations.explained(self._outcomes.tried())

    def whole_jobs(self) -> list[Job]:
        """The jobs that find large values: where the graphs part, and what is put in as if it were mended.

        There are none once all are known, or were asked for.
        """
        wanted: dict[str, dict[Slot, None]] = {}
        for diverging in self._diverging.values():
            for engine, slot in diverging.wanted():
                if slot not in self._whole.setdefault(engine, {}):
                    wanted.setdefault(engine, {})[slot] = None
        for engine, new in wanted.items():
            self._whole[engine].update(new)
        self._asked_for = {engine: tuple(slots) for engine, slots in wanted.items()}
        return whole_jobs(self._nets, self._main, self._asked_for)

    def align_again(self) -> None:
        """Align the graphs by these values too."""
        for engine, slots in self._asked_for.items():
            self._whole[engine].update(zip(slots, self._outcomes.whole(engine), strict=False))
        self.align()

    def mended(self) -> Iterator[list[Job]]:
        """The jobs that compute the main case with values of the other side, one round after another.

        All that they show is noted in the alignments at the end.
        """
        alignments = list(self._alignments)
        runs = {
            place: as_if_mended(alignments[place], diverging)
            for place, diverging in self._diverging.items()
        }
        replies: dict[int, Any] = dict.fromkeys(runs)  # a generator is sent None at first
        for number in count(1):
            keys: dict[int, MendedKey] = {}
            jobs: list[Job] = []
            for place, reply in replies.items():
                try:
                    ask = runs[place].send(reply)
                except StopIteration as end:
                    alignments[place] = end.value
                    continue
                keys[place] = MendedKey(ask.engine, ask.other, number)
                jobs += mended_jobs(self._nets, self._main, keys[place], ask)
            if not jobs:
                break
            yield jobs
            replies = {place: self._outcomes.mended(key) for place, key in keys.items()}
        self._alignments = tuple(alignments)

    def first_report(self) -> Report:
        """The report on the main case alone."""
        return self._report((self._main,), ())

    def report(self) -> Report:
        """The report on everything that is known."""
        reached: list[GradCase] = []
        unreached: list[GradCase] = []
        for case in filter(self._asked.__contains__, self._cases):
            cases = reached if self._outcomes.is_reached(case) else unreached
            cases.append(case)
        left_out = list(filter(None, [self._selected]))
        if unreached:
            is_late = self._outcomes.is_out_of_time
            left_out.append(LeftOut("timed_out" if is_late else "interrupted", tuple(unreached)))
        return self._report(tuple(reached), tuple(left_out))

    def _report(self, cases: tuple[GradCase, ...], left_out: tuple[LeftOut, ...]) -> Report:
        versions: dict[str, str] = {}
        environments: dict[str, dict[str, str]] = {}
        for kind, about in self._present.items():
            environment = environment_of(kind)
            found = environments.setdefault(environment, {}) if environment else versions
            found.update(about.versions)
        graphs: list[GradGraph] = []
        ungraphed: dict[str, Ungraphed] = {}
        lost: list[str] = []
        recorded = self._captured()
        plain = {name: self._outcomes.result(name, self._main) for name in recorded}
        for name, captured in recorded.items():
            graphs += map(without_large, captured.graphs)
            if captured.result.error:
                # An error of the recording alone is the recorder's, which its message does not show.
                ungraphed[name] = Ungraphed(
                    captured.result.error,
                    captured.result.outcome == "raised" and plain[name].outcome == "ok",
                )
            if captured.result.outcome in LOST:
                lost.append(name)
        inputs = self._scenario.inputs()
        return Report(
            scenario=self._scenario.name,
            title=self._scenario.title,
            notes=self._scenario.notes,
            versions=versions,
            environments=environments,
            devices=self._devices,
            inputs=tuple(abridged_leaf(Leaf(name, pack(array))) for name, array in inputs.items()),
            parameters=self._parameters(),
            findings=(
                *self._nets.findings,
                *(self._remarks if self._is_aligned else self._recorded_otherwise()),
                *equal_elements(inputs, self._alignments if self._is_aligned else ()),
                *self._outcomes.remarks,
            ),
            cases=tuple(map(self._judged, cases)),
            left_out=left_out,
            graphs=tuple(graphs),
            ungraphed=ungraphed,
            lost_graphs=tuple(lost),
            alignments=self._alignments,
            state=state_rows({name: seen.state for name, seen in recorded.items() if seen.graphs}),
        )

    def _parameters(self) -> tuple[Leaf, ...]:
        """The starting values, large ones as excerpts."""
        starts = self._nets.parameters.items()
        return tuple(abridged_leaf(Leaf(name, array)) for name, array in starts)

    def _judged(self, case: GradCase) -> CaseReport:
        """A case with the results of all engines, and the verdict on them."""
        if case in self._complete:
            return self._complete[case]
        # Engines without a net take part as well: a report says of all that were asked for.
        results = {name: self._outcomes.result(name, case) for name in self._engines}
        noise = self._outcomes.noise(case, self._engines)
        scenario = self._scenario
        estimate = self._outcomes.estimate(case)
        forwards = self._outcomes.forwards(self._engines)
        return judge(
            case, results, estimate, scenario.expected, noise, scenario.tolerances, forwards
        )
