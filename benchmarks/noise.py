"""Prints what measuring noise costs: python -m benchmarks.noise [NAME ...]

Of each scenario the main case: the seconds of answers, captures and the oracle on all engines, and
those of measuring how all of them move under rounding, job after job. In an exploration jobs of
different workers run side by side.
"""

import sys
import time
from collections.abc import Iterable

from explorer.exploration.jobs import captures, questions
from explorer.exploration.noise import level_jobs, noise_jobs
from explorer.model.engines import ENGINES
from explorer.model.errors import ExplorerError
from explorer.scenario.find import SHIPPED, names
from explorer.scenario.load import load
from explorer.scenario.matrix import cases_of
from explorer.scenario.selection import asks_for_most, main_case
from explorer.scenario.settling import settle
from explorer.workers.queue import Job
from explorer.workers.workers import Workers

FIRST = "dense_mse"
"""The scenario that is asked first, unmeasured: what the frameworks load once is no cost of noise."""

NAMES = ("dense_mse", "attention_block", "bottleneck", "bert")


def jobs_of(name: str, workers: Workers) -> tuple[list[Job], list[Job]]:
    """The jobs on a scenario's main case: those that ask, and those that measure noise."""
    scenario = load(names(SHIPPED)[name])
    engines = tuple(key for key, value in ENGINES.items() if scenario.defines(value.framework))
    nets = settle(scenario, workers, engines, dict.fromkeys(engines, "cpu"))
    cases = cases_of(scenario, bool(nets.trainable))
    main = main_case(scenario, nets.has_auxiliary, bool(nets.trainable), cases)
    most = asks_for_most(scenario, nets.has_auxiliary, bool(nets.trainable))
    asking = captures(nets, main) + questions(nets, (main,), has_oracle=True, shared=False)
    return asking, level_jobs(nets, main) + noise_jobs(nets, (main,), most)


def seconds(jobs: Iterable[Job], workers: Workers) -> float:
    """The seconds that jobs take one after another."""
    start = time.perf_counter()
    for job in jobs:
        workers.call(job.kinds[0], job.target, job.request, job.reply)
    return time.perf_counter() - start


def main() -> None:
    """Print a line a scenario, and the share in all."""
    totals = [0.0, 0.0]
    with Workers() as workers:
        for jobs in jobs_of(FIRST, workers):
            seconds(jobs, workers)
        print(f"{'scenario':28} {'asking':>8} {'noise':>8}  share")
        for name in sys.argv[1:] or NAMES:
            try:
                asking, measuring = (seconds(jobs, workers) for jobs in jobs_of(name, workers))
            except ExplorerError as error:
                print(f"{name:28} {str(error).splitlines()[0]}")
                continue
            totals[0] += asking
            totals[1] += measuring
            print(
                f"{name:28} {asking:7.2f}s {measuring:7.2f}s  {measuring / asking:.0%}", flush=True
            )
    if totals[0]:
        print(f"{'in all':28} {totals[0]:7.2f}s {totals[1]:7.2f}s  {totals[1] / totals[0]:.0%}")


if __name__ == "__main__":
    main()
