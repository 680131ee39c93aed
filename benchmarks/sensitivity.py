"""How small a mistake is found, and how often one is named where there is none.

Multiplies the result of one operator of PyTorch's tape by 1 + share, operators drawn at random from
forward and backward, and compares with MindSpore's tape: by results (as `scenario` does) and by graphs
(as `diff` does). Of the mistakes that move a result by a tenth of their size it gives the share that is
found for each size, and it counts false alarms where just the rounding is another one.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks._figures import Figure
from benchmarks._presenting import detail, parser, present
from benchmarks._sensitivity_in_torch import Planted, Planting
from explorer.compare.align import align
from explorer.compare.graphs.levels import with_levels
from explorer.compare.results.comparison import Movements, compare, movements
from explorer.exploration.jobs import Jobs
from explorer.exploration.outcomes import Outcomes
from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from explorer.model.errors import ExplorerError
from explorer.model.graph import GradGraph
from explorer.model.requests import CaseRequest
from explorer.model.results import Captured, Result, ResultNoise
from explorer.scenario.common_start import Nets, settle
from explorer.scenario.find import SHIPPED, find, names
from explorer.scenario.load import load
from explorer.scenario.selection import asks_for_most
from explorer.workers.protocol import Lost
from explorer.workers.workers import Workers

SIZES = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
"""The planted shares."""

NAMES = ("dense_mse", "attention_block", "conv_bn_relu_pool", "lstm")
"""The scenarios where none are named."""

OPERATORS, QUICK_OPERATORS = 8, 3
"""Operators of a scenario at which each size is planted: of every scenario, or of a few."""

FOUND: dict[str, str] = {"results": "by results", "graphs": "by graphs"}
"""The ways in which a mistake is found, as counted and as told."""

FIRST_SAMPLE = 1000
"""The samples of rounding that test for false alarms: none of those that measured the noise."""

MOVES = 0.1
"""A mistake counts as one of the results where it moves one by this part of its own size."""

TAPES = ("mindspore-tape", "torch-tape")
SECONDS = 200.0


@dataclass(frozen=True)
class Clean:
    """Both tapes of a scenario without a mistake: graphs with levels, answers, and their noise."""

    request: CaseRequest
    graphs: tuple[GradGraph, GradGraph]
    answers: tuple[Result, Result]
    noise: tuple[Movements, Movements]


def measure(chosen: list[str], operators: int) -> Iterator[Figure]:
    """The false alarms, then the share that is found of each size."""
    counts: Counter[tuple[float, str]] = Counter()
    scenarios = []
    with Workers(SECONDS) as workers:
        for name in chosen:
            try:
                clean = _clean(find(name), workers)
            except ExplorerError as error:
                detail(f"{name}: {str(error).splitlines()[0]}")
                continue
            if clean is None:
                detail(f"{name}: left out, its tapes differ or do not answer")
                continue
            scenarios.append(name)
            before = counts.copy()
            counts.update(_planted(clean, operators, workers))
            _tell_missed(name, counts - before)
    yield from _alarms(counts, len(scenarios))
    yield from _found(counts)


def _clean(path: Path, workers: Workers) -> Clean | None:
    """The tapes of a scenario; None where they already differ, or one has no answer."""
    scenario = load(path)
    if not (scenario.defines("mindspore") and scenario.defines("torch")):
        return None
    nets = settle(scenario, workers, TAPES, dict.fromkeys(TAPES, "cpu"))
    case = asks_for_most(scenario, nets.has_auxiliary, bool(nets.trainable))
    graphs, answers = [], []
    for engine in TAPES:
        framework = engine.removesuffix("-tape")
        request = CaseRequest(nets.requests[engine], case)
        target = f"explorer.engines.{framework}.noise:capture"
        captured = workers.call(framework, target, request, Captured)
        if isinstance(captured, Lost) or not captured.graphs:
            return None
        graphs.append(captured.graphs[-1])
        answers.append(captured.result)
    noise = _noise(nets, case, workers)
    clean = Clean(request, (graphs[0], graphs[1]), (answers[0], answers[1]), noise)
    if _verdict(clean, answers[1]) or _divergence(clean, graphs[1]):
        return None
    return clean


def _noise(nets: Nets, case: GradCase, workers: Workers) -> tuple[Movements, Movements]:
    jobs = Jobs(nets=nets, main=case, most=case)
    outcomes = Outcomes(jobs)
    for job in jobs.noise((case,)):
        reply = workers.call(job.kinds[0], job.target, job.request, ResultNoise)
        outcomes.note(job.key, reply)
    measured = outcomes.noise(case, TAPES)
    assert measured
    left, right = (movements(measured.get(engine)) for engine in TAPES)
    return left, right


def _verdict(clean: Clean, answer: Result) -> bool:
    """Whether an answer of PyTorch differs from MindSpore's."""
    return compare(clean.answers[0], answer, TAPES, clean.noise).verdict == "differs"


def _divergence(clean: Clean, graph: GradGraph) -> bool:
    """Whether a graph of PyTorch parts from MindSpore's."""
    return align(clean.graphs[0], with_levels(graph, clean.graphs[1])).divergence is not None


def _planted(clean: Clean, operators: int, workers: Workers) -> Iterator[tuple[float, str]]:
    """What happened to each mistake: its size, and "planted", "moves", "results" or "graphs"."""
    for sample in range(operators):
        planted = _ask(Planting(clean.request, sample=FIRST_SAMPLE + sample), workers)
        if planted:
            yield from _told(clean, planted, 0.0)
    first = _ask(Planting(clean.request), workers)
    if not first or not first.operators:
        return
    draws = np.random.default_rng(0)
    for size in SIZES:
        for operator in draws.integers(0, first.operators, operators).tolist():
            planted = _ask(Planting(clean.request, operator, size), workers)
            if planted:
                yield from _told(clean, planted, size)


def _ask(planting: Planting, workers: Workers) -> Planted | None:
    target = "benchmarks._sensitivity_in_torch:capture"
    planted = workers.call("torch", target, planting, Planted)
    if isinstance(planted, Lost) or not planted.captured.graphs:
        return None
    return planted


def _told(clean: Clean, planted: Planted, size: float) -> Iterator[tuple[float, str]]:
    answer = planted.captured.result
    yield size, "planted"
    moves = not size or _moves(clean.answers[1], answer, MOVES * size)
    if not moves:
        return
    yield size, "moves"
    if _verdict(clean, answer):
        yield size, "results"
    if _divergence(clean, planted.captured.graphs[-1]):
        yield size, "graphs"


def _moves(clean: Result, planted: Result, share: float) -> bool:
    """Whether any result of the same engine moved by ``share`` of its greatest element."""
    for leaf, other in zip(clean.leaves, planted.leaves, strict=True):
        one = np.asarray(unpack(leaf.value), np.float64)
        another = np.asarray(unpack(other.value), np.float64)
        finite = np.isfinite(one) & np.isfinite(another)
        size = np.abs(one[finite]).max(initial=0.0)
        if np.abs(one - another)[finite].max(initial=0.0) > share * size:
            return True
    return False


def _tell_missed(name: str, counts: Counter[tuple[float, str]]) -> None:
    alarms = max(counts[0.0, "results"], counts[0.0, "graphs"])
    missed = []
    for size in SIZES:
        found = min(counts[size, "results"], counts[size, "graphs"])
        if found < counts[size, "moves"]:
            missed.append(f"{size:.0e} {found} of {counts[size, 'moves']}")
    told = f"; not all found: {', '.join(missed)}" if missed else ""
    detail(f"{name}: {alarms} false alarms{told}")


def _alarms(counts: Counter[tuple[float, str]], scenarios: int) -> Iterator[Figure]:
    """How often a difference is named where there is none."""
    for kind, told in FOUND.items():
        yield Figure(
            name=f"false alarms {told}",
            unit="",
            basis="count",
            rounds=(float(counts[0.0, kind]),),
            bar=0.0,
            note=f"of {counts[0.0, 'planted']} runs of {scenarios} scenarios with other rounding",
        )


def _found(counts: Counter[tuple[float, str]]) -> Iterator[Figure]:
    """The share that is found of the mistakes of each size."""
    for size in SIZES:
        moves = counts[size, "moves"]
        for kind, told in FOUND.items():
            yield Figure(
                name=f"mistakes of {size:.0e} found {told}",
                unit="%",
                basis="share",
                rounds=(100 * counts[size, kind] / moves,) if moves else (),
                wanted="high",
                note=f"{counts[size, kind]} of {moves} that move a result; "
                f"{counts[size, 'planted']} were planted",
            )


def options() -> argparse.Namespace:
    """What was typed."""
    known = parser(__doc__)
    known.add_argument("names", nargs="*", default=NAMES, help="scenarios")
    known.add_argument("--all", action="store_true", help="every shipped scenario: hours")
    return known.parse_args()


if __name__ == "__main__":
    given = options()
    chosen = list(names(SHIPPED)) if given.all else given.names
    planted_at = OPERATORS if given.all else QUICK_OPERATORS
    sys.exit(present(measure(chosen, planted_at), given.figures))
