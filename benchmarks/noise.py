"""What measuring noise costs.

Of each scenario the main case: the seconds of answers, captures and the oracle on all engines, and
those of measuring how all of them move under rounding, job after job. In an exploration jobs of
different workers run side by side.
"""

import argparse
import sys
import time
from collections.abc import Iterable, Iterator

from benchmarks._figures import Figure, absent
from benchmarks._presenting import parser, present
from explorer.exploration.jobs import Jobs
from explorer.model.engines import ENGINES, STANDARD
from explorer.model.errors import ExplorerError
from explorer.scenario.common_start import settle
from explorer.scenario.find import find
from explorer.scenario.load import load
from explorer.scenario.matrix import cases_of
from explorer.scenario.selection import asks_for_most, main_case
from explorer.workers.queue import Job
from explorer.workers.workers import Workers

FIRST = "dense_mse"
"""The scenario that is asked first, unmeasured: what the frameworks load once is no cost of noise."""

NAMES = ("dense_mse", "attention_block", "bottleneck", "bert")


def jobs_of(name: str, workers: Workers) -> tuple[list[Job], list[Job]]:
    """The jobs on a scenario's main case: those that ask, and those that measure noise."""
    scenario = load(find(name))
    engines = tuple(key for key in STANDARD if scenario.defines(ENGINES[key].framework))
    nets = settle(scenario, workers, engines, dict.fromkeys(engines, "cpu"))
    cases = cases_of(scenario, bool(nets.trainable))
    main = main_case(scenario, nets.has_auxiliary, bool(nets.trainable), cases)
    most = asks_for_most(scenario, nets.has_auxiliary, bool(nets.trainable))
    jobs = Jobs(nets=nets, main=main, most=most, referees=("torch",))
    asking = jobs.captures() + jobs.results((main,), shared=False)
    return asking, jobs.levels() + jobs.noise((main,))


def seconds(jobs: Iterable[Job], workers: Workers) -> float:
    """The seconds that jobs take one after another."""
    start = time.perf_counter()
    for job in jobs:
        workers.call(job.kinds[0], job.target, job.request, job.reply)
    return time.perf_counter() - start


def measure(chosen: list[str]) -> Iterator[Figure]:
    """The seconds of asking and the share of noise, a scenario after the other, and in all."""
    asked, measured = 0.0, 0.0
    with Workers() as workers:
        for jobs in jobs_of(FIRST, workers):
            seconds(jobs, workers)
        for name in chosen:
            try:
                asking, measuring = (seconds(jobs, workers) for jobs in jobs_of(name, workers))
            except ExplorerError as error:
                yield absent(name, "wall", str(error).splitlines()[0])
                continue
            asked += asking
            measured += measuring
            yield from figures(name, asking, measuring)
    if asked:
        yield from figures("in all", asked, measured)


def figures(name: str, asking: float, measuring: float) -> Iterator[Figure]:
    """The figures of one scenario, or of all."""
    yield Figure(name=f"{name}: asking", unit="s", basis="wall", rounds=(asking,))
    yield Figure(
        name=f"{name}: measuring noise ÷ asking",
        unit="×",
        basis="ratio of wall times",
        rounds=(measuring / asking,),
    )


def options() -> argparse.Namespace:
    """What was typed."""
    known = parser(__doc__)
    known.add_argument("names", nargs="*", default=NAMES, help="scenarios")
    return known.parse_args()


if __name__ == "__main__":
    given = options()
    sys.exit(present(measure(given.names), given.figures))
