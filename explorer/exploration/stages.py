"""The stages of one exploration: the main case, its graphs, why they differ, then the other cases."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations, zip_longest
from typing import Any

from msgspec.structs import replace

from explorer.compare.align.alignment import seamed
from explorer.compare.causes.explanations import (
    Diverging,
    Explanations,
    as_if_mended,
)
from explorer.compare.results.answers import state_rows
from explorer.compare.results.remarks import (
    conventions,
    equal_elements,
    ill_conditioned,
    non_finite,
    random_draws,
    silent_broadcasts,
)
from explorer.compare.results.verdicts import (
    judge,
    judged_results,
    with_expectation,
    without_divergence,
)
from explorer.exploration.jobs import JobKey, Jobs, made_in_parts
from explorer.exploration.large_nets import first_answer
from explorer.exploration.options import SILENT, Callbacks, ignored
from explorer.exploration.outcomes import (
    PLAIN,
    Outcomes,
    abridged,
    abridged_leaf,
    altered_engines,
    losses,
    recorded_otherwise,
)
from explorer.model.alignment import Alignment
from explorer.model.arrays import Array, pack
from explorer.model.cases import GradCase
from explorer.model.causes import Trial, Tried
from explorer.model.engines import WorkerKind, environment_of
from explorer.model.findings import ReportFinding
from explorer.model.graph import GradGraph, Slot, with_values, without_large
from explorer.model.mended import Whole
from explorer.model.report import CaseReport, LeftOut, Report, Ungraphed
from explorer.model.results import LOST, About, Captured, Leaf
from explorer.scenario.declaration import Declaration
from explorer.scenario.selection import Selection, covering, spread, takes
from explorer.workers.protocol import Lost
from explorer.workers.queue import Job, JobOutcome, JobQueue

LARGE = 10_000
"""The number of cases times op nodes above which not every case is run unless --cases says all.

Each case costs MindSpore's graph style a compilation, which takes the longer the larger the graph.
"""

MOST_ALIGNMENTS = 4
"""So often graphs are aligned again at most, each time with more of their large values."""


@dataclass
class Exploration:
    """One exploration and its results so far.

    ``engines`` are all that a report says something of, ``present`` the frameworks' reports on themselves,
    and ``devices`` those of the engines. ``cases`` are all there are; ``nested`` are run beside the main
    one in any case.
    """

    scenario: Declaration
    engines: tuple[str, ...]
    present: Mapping[WorkerKind, About]
    devices: dict[str, str]
    jobs: Jobs
    cases: tuple[GradCase, ...]
    nested: tuple[GradCase, ...] = ()

    def __post_init__(self) -> None:
        self._nets, self._main = self.jobs.nets, self.jobs.main
        # Of more than three inputs the matrix holds no pairs, and the main case may be one.
        if self._main not in self.cases:
            self.cases = (self._main, *self.cases)
        self._asked = set(self.cases)  # until a selection leaves some out
        self._left_out: tuple[LeftOut, ...] = ()
        self._outcomes = Outcomes(self.jobs)
        self._complete: dict[GradCase, CaseReport] = {}
        self._graphs: list[GradGraph] = []
        self._alignments: list[Alignment] = []
        self._diverging: dict[int, Diverging] = {}
        self._remarks: tuple[ReportFinding, ...] = ()
        self._is_explained = False
        self._whole: dict[str, dict[Slot, Array | None]] = {}

    @property
    def has_answers(self) -> bool:
        """Whether there are any results to report."""
        return bool(self._outcomes.by_key)

    def run(
        self, queue: JobQueue, selection: Selection | None, callbacks: Callbacks = SILENT
    ) -> None:
        """Run the main case, then the others."""
        self._queue = queue
        self._hear: Callable[[CaseReport], None] = ignored  # nothing before the first report
        expect, main = self._outcomes.expect, self._main
        jobs = expect(self.jobs.of_main())
        queue.add(jobs)
        # Whoever is through with the main case goes on, with cases that are run even if graphs are large.
        others = [case for case in self.cases if case != main]
        net = takes(self.scenario, self._nets.has_auxiliary)
        sure = self.nested if selection == "main" else covering(others, (main,), net)
        queue.add(expect(self.jobs.of_others(sure)), start=False)
        answers = [job for job in jobs if job.key.what == "result"]
        if answers and self.jobs.is_large:
            self._wait_for(answers)
            results = {name: self._outcomes.result(name, main) for name in self.engines}
            callbacks.early(first_answer(results))
        self._wait_for(jobs)

        # The workers go on while the graphs are aligned.
        self._align()
        counts = (sum(node.kind == "op" for node in graph.nodes) for graph in self._graphs)
        op_nodes, total = max(counts, default=0), len(self.cases)
        by_size = selection is None
        selection = selection or ("structure" if total * op_nodes > LARGE else "all")
        chosen = spread(others, (main,), net) if selection == "all" else sure
        self._asked = {main, *chosen}
        rest = tuple(case for case in others if case not in self._asked)
        if rest and selection != "all":
            why = "size" if by_size else selection
            self._left_out = (LeftOut("selected", rest, why, total=total, op_nodes=op_nodes),)
        for _round in range(MOST_ALIGNMENTS):
            if not self.look_up_values():
                break
            self._align()

        self._explain(expect(self.jobs.of_others(chosen[len(sure) :])))
        self.mend()
        callbacks.first(self.report((main,)))
        for case, case_report in self._complete.items():
            if case != main:
                callbacks.complete(case_report)
        self._hear = callbacks.complete
        for job, outcome in queue.finished():
            self._note(job, outcome)

    def _wait_for(self, jobs: Iterable[Job]) -> None:
        """Wait for the last of some jobs; what else is finished meanwhile is noted too."""
        missing = {job.key for job in jobs}.difference(self._outcomes.by_key)
        while missing:
            job, outcome = next(self._queue.finished())
            self._note(job, outcome)
            missing.discard(job.key)

    def _carried_out(self, jobs: list[Job], others: Iterable[Job] = ()) -> dict[JobKey, JobOutcome]:
        """The outcomes of some jobs for which all ``others`` wait, and which are let go of.

        Where a trial ends its worker, they are those of the other trials.
        """
        self._queue.add(jobs, ahead=True)
        self._queue.add(others)
        self._wait_for(jobs)
        outcomes = {job.key: self._outcomes.by_key.pop(job.key) for job in jobs}

        def make(part: Job) -> JobOutcome:
            self._queue.add([part], ahead=True)
            self._wait_for([part])
            return self._outcomes.by_key.pop(part.key)

        return {job.key: made_in_parts(job, outcomes[job.key], make) for job in jobs}

    def _note(self, job: Job, outcome: JobOutcome) -> None:
        """Note the outcome of a job, and judge the cases that are complete with it."""
        for case in self._outcomes.note(job.key, outcome):
            if self._outcomes.is_reached(case):
                self._complete[case] = self._judged(case)
                # The main case's values are still to be compared with those of the recorded runs.
                if case != self._main or self._is_explained:
                    self._abridge(case)
                self._hear(self._complete[case])

    def _abridge(self, case: GradCase) -> None:
        """Let go of what only the verdict on a case needed of large tensors."""
        self._complete[case] = abridged(self._complete[case])
        self._outcomes.forget_values("result", case)

    def _judged(self, case: GradCase) -> CaseReport:
        """A case with the results of all engines, and the verdict on them."""
        if case in self._complete:
            return self._complete[case]
        # Engines without a net take part as well: a report says of all that were asked for.
        results = {name: self._outcomes.result(name, case) for name in self.engines}
        estimate = self._outcomes.estimate(case)
        noise, forwards = (self._outcomes.noise(it, self.engines) for it in (case, PLAIN))
        expected, tolerances = self.scenario.expected, self.scenario.tolerances
        return judge(case, results, estimate, expected, noise, tolerances, forwards)

    def _captured(self) -> dict[str, Captured]:
        names = self._nets.requests if self.jobs.proof else ()
        return {name: self._outcomes.captured(name) for name in names}

    def _recorded_otherwise(self) -> tuple[ReportFinding, ...]:
        """A remark on each engine whose recorded run gave other results than its plain call."""
        recorded = self._captured()
        plain = {name: self._outcomes.result(name, self._main) for name in recorded}
        noise = self._outcomes.noise(self._main, self.engines)
        return tuple(recorded_otherwise(recorded, plain, noise))

    def _align(self) -> None:
        """Align the main case's graphs, two by two, and look for places that multiply rounding."""
        graphs: list[GradGraph] = []
        for name, captured in self._captured().items():
            # Earlier stages are not run: their nodes have no values by which they could be paired.
            graphs += [with_values(it, self._whole.get(name, {})) for it in captured.graphs[-1:]]
        report = self._judged(self._main)
        noise = self._outcomes.noise(self._main, self.engines)
        otherwise = self._recorded_otherwise()
        altered = altered_engines(otherwise)
        expected, tolerances = self.scenario.expected, self.scenario.tolerances
        alignments: list[Alignment] = []
        self._diverging.clear()
        for left, right in combinations(graphs, 2):
            judged = judged_results(report, (left.engine, right.engine), noise)
            align = partial(seamed, alike=judged.alike, pieces=self._nets.pieces)
            aligned = align(left, right)
            alignment = replace(aligned.alignment, unjudged=judged.unjudged)
            alignment = without_divergence(alignment, altered)
            alignment = with_expectation(alignment, report, expected, tolerances, noise)
            if alignment.divergence is not None:
                self._diverging[len(alignments)] = Diverging(aligned, left, right, align)
            alignments.append(alignment)
        self._graphs, self._alignments = graphs, alignments
        of_the_call = [graph for graph in graphs if graph.engine not in altered]
        self._remarks = (
            *otherwise,
            *non_finite(of_the_call),
            *silent_broadcasts(of_the_call),
            *conventions(of_the_call, report),
            *ill_conditioned(of_the_call),
            *random_draws(graphs, report.drawn),
        )

    def _explain(self, others: list[Job]) -> None:
        """Try what may explain the divergences, before all ``others``, and note what does."""
        explanations = {
            place: Explanations(self._alignments[place], (diverging.left, diverging.right))
            for place, diverging in self._diverging.items()
        }
        wanted: dict[str, tuple[Trial, ...]] = {}
        for one in explanations.values():
            for engine, of_one in one.trials().items():
                wanted[engine] = wanted.get(engine, ()) + of_one
        # The first report waits for them.
        outcomes = self._carried_out(self.jobs.trials(wanted), others).items()
        tried = {key.engine: iter(it.outputs) for key, it in outcomes if isinstance(it, Tried)}
        self._is_explained = True
        self._outcomes.forget_values("graphs")
        if self._main in self._complete:
            self._abridge(self._main)
        for place, one in explanations.items():
            self._alignments[place] = one.explained(tried)

    def look_up_values(self) -> bool:
        """Ask for large values: where graphs part, and what is put in as if they were mended.

        Returns whether there were any left that were not asked for yet.
        """
        wanted: dict[str, dict[Slot, None]] = {}
        for diverging in self._diverging.values():
            for engine, slot in diverging.wanted():
                if slot not in self._whole.setdefault(engine, {}):
                    wanted.setdefault(engine, {})[slot] = None
        for key, whole in self._carried_out(self.jobs.whole(wanted)).items():
            values = whole.values if isinstance(whole, Whole) else ()  # where its worker was lost
            self._whole[key.engine].update(zip_longest(wanted[key.engine], values))
        return bool(wanted)

    def mend(self) -> None:
        """Compute the main case with values of the other side, round after round, to see what is behind.

        All that this shows is noted in the alignments.
        """
        runs = {
            place: as_if_mended(self._alignments[place], it)
            for place, it in self._diverging.items()
        }
        replies: dict[int, Any] = dict.fromkeys(runs)  # a generator is sent None at first
        while replies:
            asked: dict[int, list[Job]] = {}
            for place, reply in replies.items():
                try:
                    ask = runs[place].send(reply)
                except StopIteration as end:
                    self._alignments[place] = end.value
                    continue
                asked[place] = self.jobs.mended(ask)
            outcomes = self._carried_out([job for jobs in asked.values() for job in jobs])
            replies = {place: [outcomes[it.key] for it in jobs] for place, jobs in asked.items()}

    def report(self, cases: Iterable[GradCase] | None = None) -> Report:
        """The report on some cases, by default on everything that is known."""
        left_out: tuple[LeftOut, ...] = ()
        if cases is None:
            wanted = [case for case in self.cases if case in self._asked]
            cases = list(filter(self._outcomes.is_reached, wanted))
            unreached = tuple(case for case in wanted if case not in cases)
            left_out = self._left_out
            if unreached:
                # A job is not run where the time limit of the whole run was reached.
                lost = [it for it in self._outcomes.by_key.values() if isinstance(it, Lost)]
                is_late = any(it.outcome == "not_asked" for it in lost)
                left_out += (LeftOut("timed_out" if is_late else "interrupted", unreached),)
        environments: dict[str, dict[str, str]] = {"": {}}
        for kind, about in self.present.items():
            environments.setdefault(environment_of(kind), {}).update(about.versions)
        graphs: list[GradGraph] = []
        ungraphed: dict[str, Ungraphed] = {}
        recorded = self._captured()
        for name, captured in recorded.items():
            graphs += map(without_large, captured.graphs)
            if captured.result.error:
                # An error of the recording alone is the recorder's, which its message does not show.
                is_plain = self._outcomes.result(name, self._main).outcome == "ok"
                while_recorded = captured.result.outcome == "raised" and is_plain
                ungraphed[name] = Ungraphed(captured.result.error, while_recorded)
        inputs = self.scenario.inputs()
        starts = self._nets.parameters.items()
        return Report(
            scenario=self.scenario.name,
            title=self.scenario.title,
            notes=self.scenario.notes,
            versions=environments.pop(""),
            environments=environments,
            devices=self.devices,
            inputs=tuple(abridged_leaf(Leaf(name, pack(array))) for name, array in inputs.items()),
            parameters=tuple(abridged_leaf(Leaf(name, array)) for name, array in starts),
            findings=(
                *self._nets.findings,
                *(self._remarks or self._recorded_otherwise()),
                *equal_elements(inputs, self._alignments),
                *losses(self._outcomes.by_key),
            ),
            cases=tuple(map(self._judged, cases)),
            left_out=left_out,
            graphs=tuple(graphs),
            ungraphed=ungraphed,
            lost_graphs=tuple(name for name, it in recorded.items() if it.result.outcome in LOST),
            alignments=tuple(self._alignments),
            state=state_rows({name: it.state for name, it in recorded.items() if it.graphs}),
        )
