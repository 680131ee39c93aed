"""Ten visitors who click through the app at once, each in a browser of their own: is it right and fair?

Begins with an empty store: first each scenario is opened by a visitor of its own, all at once, and
must be right. Then the ten click. Counts the pages that were seen, what went wrong (which is said on
stderr), and the workers that were started and lost; gives the memory that server and workers took, the
processor seconds of server, workers and browsers, and how long pages took for the visitor who fared
best and for the one who fared worst.
"""

import argparse
import asyncio
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import psutil
from playwright.async_api import async_playwright

from benchmarks._figures import Basis, Figure
from benchmarks._memory import proportional
from benchmarks._presenting import detail, parser, present
from explorer.scenario.find import find
from explorer.scenario.load import load
from tests.support.app_servers import server_at, workers_of
from tests.support.servers import SWITCHES, serving

VISITORS, SECONDS = 10, 60
SCENARIOS = ("dense_mse", "aliased_input", "polynomial")
PAGES = ("semantics", "graphs", "code", "export")
PAGE_SECONDS = 120
"""The limit of one page, which may wait for the runs of all others."""

MEGABYTE = 1 << 20
MEMORY_LIMIT = 6000
"""MB that server and workers may take together."""

ERRORS = "[data-testid=stException], [data-testid=stAlertContentError]"


@dataclass
class Visitor:
    """What happened to one visitor: the seconds of each page, and what went wrong."""

    number: int
    seconds: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


@dataclass
class Load:
    """What was seen to be taken: the workers by process id, the most memory of the server in MB.

    ``seconds`` are the processor seconds of each process of the server, its workers and the browsers.
    """

    workers: set[int] = field(default_factory=set)
    server: float = 0.0
    in_all: float = 0.0
    seconds: dict[str, dict[int, float]] = field(default_factory=dict)

    def look(self, server: psutil.Process) -> None:
        """Take a sample."""
        workers = workers_of(server)
        self.workers.update(worker.pid for worker in workers)
        own = proportional(server) / MEGABYTE
        of_workers = sum(proportional(worker) for worker in workers) / MEGABYTE
        self.server = max(self.server, own)
        self.in_all = max(self.in_all, own + of_workers)
        self._count("server", [server])
        self._count("workers", workers)
        self._count("browsers", _browsers())

    def _count(self, who: str, processes: list[psutil.Process]) -> None:
        # By process: what one took that has ended since still counts.
        known = self.seconds.setdefault(who, {})
        for process in processes:
            known[process.pid] = max(known.get(process.pid, 0.0), _processor_seconds(process))


def _browsers() -> list[psutil.Process]:
    """The processes of this benchmark's browser."""
    children = psutil.Process().children(recursive=True)
    return [child for child in children if "chrom" in _name(child)]


def _name(process: psutil.Process) -> str:
    try:
        return str(process.name())
    except psutil.NoSuchProcess:
        return ""


def _processor_seconds(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return float(times.user + times.system)


async def click_through(browser: Any, url: str, visitor: Visitor, until: float) -> None:
    """Open one page after another until the time is over, and check each."""
    context = await browser.new_context()
    page = await context.new_page()
    page.set_default_timeout(PAGE_SECONDS * 1000)
    page.on("pageerror", lambda error: visitor.wrong.append(str(error)))
    turn = visitor.number
    while turn == visitor.number or time.monotonic() < until:
        # Neighbours are on different scenarios, and each visitor comes to all pages of all of them.
        name = SCENARIOS[turn % len(SCENARIOS)]
        place = f"{PAGES[turn % len(PAGES)]}?scenario={name}"
        began = time.monotonic()
        try:
            await page.goto(f"{url}/{place}")
            await _see(page, name, visitor, place)
            visitor.seconds.append(time.monotonic() - began)
        except Exception as error:  # whatever it is, it is what this benchmark is to tell
            visitor.wrong.append(f"{place}: {str(error).splitlines()[0]}")
        turn += 1
    await context.close()


async def _see(page: Any, name: str, visitor: Visitor, place: str) -> None:
    """Wait for the end of a page, and note where it shows an error or another scenario."""
    # The languages are offered once all else is there.
    await page.get_by_text("中文").first.wait_for()
    title = load(find(name)).title
    if not await page.get_by_role("heading", name=title).count():
        visitor.wrong.append(f"{place}: the title {title!r} is not there")
    for text in await page.locator(ERRORS).all_inner_texts():
        visitor.wrong.append(f"{place}: {text}")


async def watch_load(server: psutil.Process, load_seen: Load) -> None:
    """Take a sample every second, until this is cancelled."""
    while True:
        await asyncio.to_thread(load_seen.look, server)
        await asyncio.sleep(1)


async def visit(url: str, first: list[Visitor], visitors: list[Visitor], seconds: float) -> Load:
    """The first ones with a page each, then all others at once; what the server took meanwhile."""
    load_seen = Load()
    async with async_playwright() as driver:
        chromium = shutil.which("chromium")
        browser = await driver.chromium.launch(executable_path=chromium, args=list(SWITCHES))
        watching = asyncio.create_task(watch_load(server_at(url), load_seen))
        await asyncio.gather(*(click_through(browser, url, one, 0.0) for one in first))
        until = time.monotonic() + seconds
        clicks = [click_through(browser, url, visitor, until) for visitor in visitors]
        await asyncio.gather(*clicks)
        watching.cancel()
        await browser.close()
    return load_seen


def first_figures(first: list[Visitor]) -> Iterator[Figure]:
    """How long scenarios took that were asked at once and not stored, and what went wrong with them."""
    wrong = [text for visitor in first for text in visitor.wrong]
    seconds = [second for visitor in first for second in visitor.seconds]
    yield figure(f"{len(first)} scenarios that nobody has asked, all at once", "s", "wall", seconds)
    yield errors("errors on scenarios that nobody has asked", wrong)


def figures(visitors: list[Visitor], load_seen: Load, alive: int) -> Iterator[Figure]:
    """What happened to the visitors, and what that took."""
    wrong = [text for visitor in visitors for text in visitor.wrong]
    pages = [float(len(visitor.seconds)) for visitor in visitors]
    lost = float(len(load_seen.workers) - alive)
    yield figure("pages that a visitor saw", "", "count", pages, wanted="high")
    yield figure("visitors who saw none", "", "count", [float(pages.count(0))], bar=0.0)
    yield errors("errors", wrong)
    yield figure("workers started", "", "count", [float(len(load_seen.workers))])
    yield figure("workers lost", "", "count", [lost], bar=0.0)
    yield figure("memory of the server at most", "MB", "size", [load_seen.server])
    yield figure(
        "memory of server and workers at most", "MB", "size", [load_seen.in_all], bar=MEMORY_LIMIT
    )
    for who, known in load_seen.seconds.items():
        yield figure(f"seconds of {who}", "s", "processor", [sum(known.values())])
    fared = [visitor.seconds for visitor in visitors if visitor.seconds]
    fared.sort(key=statistics.median)
    for word, seconds in (("best", fared[0]), ("worst", fared[-1])) if fared else ():
        yield figure(f"a page for the visitor who fared {word}", "s", "wall", seconds)


def errors(name: str, wrong: list[str]) -> Figure:
    """The number of things that went wrong, none of which may; they are said on stderr."""
    for text in wrong:
        detail(text)
    return figure(name, "", "count", [float(len(wrong))], bar=0.0)


def figure(
    name: str,
    unit: str,
    basis: Basis,
    rounds: list[float],
    bar: float | None = None,
    wanted: Literal["low", "high"] = "low",
) -> Figure:
    """One figure of the visitors."""
    return Figure(name=name, unit=unit, basis=basis, rounds=tuple(rounds), bar=bar, wanted=wanted)


def measure(count: int, seconds: float) -> Iterator[Figure]:
    """Let the visitors in, and tell what happened."""
    visitors = [Visitor(number) for number in range(count)]
    first = [Visitor(number) for number in range(len(SCENARIOS))]
    with (
        tempfile.TemporaryDirectory() as store,
        serving(["explorer", "app"], {"EXPLORER_STORE": store}) as url,
    ):
        load_seen = asyncio.run(visit(url, first, visitors, seconds))
        alive = len(workers_of(server_at(url)))
    yield from first_figures(first)
    yield from figures(visitors, load_seen, alive)


def options() -> argparse.Namespace:
    """What was typed."""
    known = parser(__doc__)
    known.add_argument("--seconds", type=float, default=SECONDS, help="how long they click")
    known.add_argument("--visitors", type=int, default=VISITORS, help="how many they are")
    return known.parse_args()


if __name__ == "__main__":
    given = options()
    sys.exit(present(measure(given.visitors, given.seconds), given.figures))
