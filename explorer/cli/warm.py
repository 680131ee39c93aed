"""The ``warm`` command: runs everything that is shipped, and stores the results."""

import sys
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from explorer.cli import exit_codes
from explorer.cli.terminal import progress
from explorer.exploration.options import Wanted
from explorer.exploration.stored import explored
from explorer.model.errors import ExplorerError
from explorer.model.results import LOST
from explorer.report.scenario.card import INTRODUCTION, card, pair_of_ladders
from explorer.scenario.find import names
from explorer.scenario.load import load
from explorer.store.store import Store
from explorer.text.choices import choose
from explorer.topics import STUDIES, study_topic
from explorer.topics import claims as every_claim
from explorer.topics.judging import board
from explorer.topics.studying import study, target
from explorer.workers.queue import Progress
from explorer.workers.workers import Workers

SCENARIOS, STUDIES_OF_ALL, CLAIMS = "scenarios", "studies", "claims"


class Task(NamedTuple):
    """One thing to run; ``ask`` runs it and returns whether a worker died or timed out."""

    group: str
    name: str
    ask: Callable[[Workers, Store, Progress], bool]


def fill_store(only: tuple[str, ...]) -> int:
    """Run what is chosen, and print a line for each; after a failure continue, and return LOST."""
    tasks = list(_tasks())
    groups = (SCENARIOS, STUDIES_OF_ALL, CLAIMS)
    allowed = dict.fromkeys([*groups, *(task.name for task in tasks)])
    chosen = {choose("group, scenario or study", name, allowed) for name in only}
    if chosen:
        tasks = [task for task in tasks if {task.group, task.name} & chosen]
    store = Store()
    is_whole = True
    for number, task in enumerate(tasks, 1):
        start = time.perf_counter()
        # Each task has its own workers: what one net does to a process does not affect the next.
        with Workers(_limit(task)) as workers, progress() as step:
            try:
                outcome = (
                    "incomplete: a worker died or timed out"
                    if task.ask(workers, store, step)
                    else "stored"
                )
            except ExplorerError as error:
                outcome = f"cannot be run: {error}"
        is_whole = is_whole and outcome == "stored"
        seconds = time.perf_counter() - start
        print(f"{number}/{len(tasks)} {task.group} {task.name}: {outcome} ({seconds:.1f} s)")
        sys.stdout.flush()
    return exit_codes.AS_EXPECTED if is_whole else exit_codes.LOST


def _limit(task: Task) -> float:
    return study_topic(task.name).seconds if task.group == STUDIES_OF_ALL else CLAIM_SECONDS


CLAIM_SECONDS = 300.0
"""The time limit for one request for a scenario or a claim, in seconds; nobody waits for it."""


def _tasks() -> Iterator[Task]:
    for name in names():
        yield Task(SCENARIOS, name, _scenario(name))
    for name in STUDIES:
        yield Task(STUDIES_OF_ALL, name, _study(name))
    yield Task(CLAIMS, "board", _board)


def _scenario(name: str) -> Callable[[Workers, Store, Progress], bool]:
    def ask(workers: Workers, store: Store, step: Progress) -> bool:
        scenario = load(names()[name])
        report = explored(scenario, Wanted(), workers, store, progress=step)
        # What the app's first page shows of it is drawn here, not when the page is opened.
        card(scenario, store)
        if name == INTRODUCTION:
            pair_of_ladders(scenario, store)
        results = [result for case in report.cases for result in case.results.values()]
        return any(result.outcome in LOST for result in results)

    return ask


def _study(name: str) -> Callable[[Workers, Store, Progress], bool]:
    def ask(workers: Workers, store: Store, step: Progress) -> bool:
        topic = study_topic(name)
        record = study(topic, target(topic, None, "cpu"), workers, step, store)
        return any(measured.outcome in LOST for measured in record.measured.values())

    return ask


def _board(workers: Workers, store: Store, step: Progress) -> bool:
    rows = board(every_claim().values(), workers, step, store).rows
    return any(row.verdict is None for row in rows)
