"""The commands ``doctor``, ``cache`` and ``warm``: what is installed, and what is stored."""

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

from rich.table import Table

from explorer.blocks.terminal import show
from explorer.cli import exit_codes
from explorer.cli.options import CacheOptions, DoctorOptions, WarmOptions
from explorer.cli.output import print_document
from explorer.cli.terminal import console, progress
from explorer.drawing.layout import substitute_layout
from explorer.exploration.installed import examine
from explorer.exploration.options import Callbacks, Wanted
from explorer.exploration.stored import explored
from explorer.model.errors import ExplorerError, UsageError
from explorer.model.results import LOST, Outcome
from explorer.report.doctor import checks_document, doctor_blocks
from explorer.report.scenario.card import INTRODUCTION, card, pair_of_ladders
from explorer.report.wording import KINDS
from explorer.scenario.find import names
from explorer.scenario.load import load
from explorer.store.store import MEGABYTE, Entry, Store
from explorer.text.choices import choose
from explorer.text.clean import clean
from explorer.text.language import ENGLISH, _, later, said_in
from explorer.topics import STUDIES, study_topic
from explorer.topics import claims as every_claim
from explorer.topics.boards import board
from explorer.topics.studies import study, target
from explorer.words.doctor import check as worded
from explorer.workers.queue import Progress
from explorer.workers.workers import Workers, shared_nurseries


def diagnose(options: DoctorOptions) -> int:
    """Print what is installed and what is missing."""
    with Workers() as workers, progress() as step:
        checks = examine(workers, substitute_layout, step)
    if options.as_json:
        with said_in(ENGLISH):
            print_document(checks_document(list(map(worded, checks))))
    else:
        show(doctor_blocks(list(map(worded, checks))), console())
    is_lost = any(check.required and not check.fine for check in checks)
    return exit_codes.LOST if is_lost else exit_codes.AS_EXPECTED


# What is stored


def show_store(options: CacheOptions) -> int:
    """Print what the store holds, or remove it."""
    store = Store()
    folder = clean(str(store.folder))
    if options.clear and options.as_json:
        raise UsageError(_("--clear prints no document; leave out --json"))
    if options.clear:
        count = store.clear()
        text = _("deleted 1 result from {folder}")
        if count != 1:
            text = _("deleted {n} results from {folder}")
        print(text.format(n=count, folder=folder))
        return exit_codes.AS_EXPECTED
    entries = store.entries()
    if options.as_json:
        results = list(map(_row, entries))
        print_document({"folder": str(store.folder), "limit": store.limit, "results": results})
    else:
        _show(store, folder, entries)
    return exit_codes.AS_EXPECTED


def _row(entry: Entry) -> dict[str, str | int]:
    return {
        "kind": entry.kind,
        "name": entry.name,
        "made": entry.made,
        "used": entry.used,
        "bytes": entry.size,
    }


def _show(store: Store, folder: str, entries: list[Entry]) -> None:
    total = sum(entry.size for entry in entries) / MEGABYTE
    text = _("{folder}: 1 result, {used} of {limit} MB")
    if len(entries) != 1:
        text = _("{folder}: {n} results, {used} of {limit} MB")
    limit = f"{store.limit / MEGABYTE:.0f}"
    print(text.format(folder=folder, n=len(entries), used=f"{total:.1f}", limit=limit))
    for kind, count in Counter(entry.kind for entry in entries).items():
        one, several = KINDS.get(kind, (kind, kind))
        print(f"  {count} {_(one if count == 1 else several)}")
    reports = [entry for entry in entries if entry.kind == "scenario"]
    if not reports:
        return
    table = Table(_("scenario"), _("made (UTC)"), _("last used (UTC)"), "kB", box=None)
    for entry in reports:
        size = f"{entry.size / 1000:.0f}"
        table.add_row(clean(entry.name), entry.made[:16], entry.used[:16], size)
    console().print(table)


# Storing everything

SCENARIOS, STUDIES_GROUP, CLAIMS = "scenarios", "studies", "claims"

REQUEST_SECONDS = 300.0
"""The time limit for one request for a scenario or a claim: nobody waits for it."""


class Task(NamedTuple):
    """One thing to run; ``run`` returns whether a worker died or timed out."""

    group: str
    name: str
    run: Callable[[Workers, Store, Progress], bool]


def fill_store(options: WarmOptions) -> int:
    """Run what is chosen, and print a line for each; after a failure continue, and return LOST."""
    store = Store()
    tasks = _chosen(options.only or [])
    is_whole = True
    # Each task has its own workers: what one net does to a process does not affect the next.
    with shared_nurseries():
        for number, task in enumerate(tasks, 1):
            start = time.perf_counter()
            outcome = _("stored")
            with Workers(_limit(task)) as workers, progress() as step:
                try:
                    if task.run(workers, store, step):
                        is_whole = False
                        outcome = _("incomplete: a worker died or timed out")
                except ExplorerError as error:
                    is_whole = False
                    outcome = _("cannot be run: {error}").format(error=error)
            seconds = time.perf_counter() - start
            print(f"{number}/{len(tasks)} {task.group} {task.name}: {outcome} ({seconds:.1f} s)")
            sys.stdout.flush()
    return exit_codes.AS_EXPECTED if is_whole else exit_codes.LOST


def _chosen(only: list[str]) -> list[Task]:
    tasks = list(_tasks())
    groups = (SCENARIOS, STUDIES_GROUP, CLAIMS)
    allowed = dict.fromkeys([*groups, *(task.name for task in tasks)])
    chosen = {choose(later("group, scenario or study"), name, allowed) for name in only}
    if not chosen:
        return tasks
    return [task for task in tasks if not chosen.isdisjoint((task.group, task.name))]


def _limit(task: Task) -> float:
    return study_topic(task.name).seconds if task.group == STUDIES_GROUP else REQUEST_SECONDS


def _tasks() -> Iterator[Task]:
    for name in names():
        yield Task(SCENARIOS, name, _scenario(name))
    for name in STUDIES:
        yield Task(STUDIES_GROUP, name, _study(name))
    yield Task(CLAIMS, "board", _board)


def _scenario(name: str) -> Callable[[Workers, Store, Progress], bool]:
    def run(workers: Workers, store: Store, step: Progress) -> bool:
        scenario = load(names()[name])
        report = explored(scenario, Wanted(), workers, store, Callbacks(step))
        # What the app's first page shows of it is drawn here, not when the page is opened.
        card(scenario, store)
        if name == INTRODUCTION:
            pair_of_ladders(scenario, store)
        outcomes: set[Outcome] = set()
        for case in report.cases:
            outcomes.update(result.outcome for result in case.results.values())
        return not outcomes.isdisjoint(LOST)

    return run


def _study(name: str) -> Callable[[Workers, Store, Progress], bool]:
    def run(workers: Workers, store: Store, step: Progress) -> bool:
        topic = study_topic(name)
        record = study(topic, target(topic, None, "cpu"), workers, step, store)
        return any(measured.outcome in LOST for measured in record.measured.values())

    return run


def _board(workers: Workers, store: Store, step: Progress) -> bool:
    rows = board(every_claim().values(), workers, step, store).rows
    return any(row.verdict is None for row in rows)
