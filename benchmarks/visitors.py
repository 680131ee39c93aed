"""Ten visitors who click through the app at once, each in a browser of their own: is it right and fair?

Begins with an empty store: first each scenario is opened by a visitor of its own, all at once, and
must be right. Then the ten click. Prints the pages that were seen, what went wrong, how many workers
there were, the memory that server and workers took, the processor seconds of server, workers and
browsers, and how long pages took for the visitor who fared best and for the one who fared worst. It
exits with 1 where anything went wrong or a limit is missed. `--seconds` is for how long the visitors click.
"""

import argparse
import asyncio
import shutil
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field
from typing import Any

import psutil
from playwright.async_api import async_playwright

from explorer.scenario.find import find
from explorer.scenario.load import load
from tests.support.app_servers import server_at, workers_of
from tests.support.servers import SWITCHES, serving

VISITORS, SECONDS = 10, 120
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
        own = _megabytes(server)
        self.server = max(self.server, own)
        self.in_all = max(self.in_all, own + sum(_megabytes(worker) for worker in workers))
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


def _megabytes(process: psutil.Process) -> float:
    try:
        return float(process.memory_info().rss) / MEGABYTE
    except psutil.NoSuchProcess:
        return 0.0


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


def tell_first(first: list[Visitor]) -> bool:
    """Print how long scenarios took that were asked at once and not stored; whether all were right."""
    times = ", ".join(f"{max(visitor.seconds, default=0.0):.1f} s" for visitor in first)
    wrong = [text for visitor in first for text in visitor.wrong]
    print(f"{len(first)} visitors on scenarios that nobody has asked: {times}; {len(wrong)} errors")
    for text in wrong:
        print(f"  {text}")
    return not wrong


def tell(visitors: list[Visitor], load_seen: Load, alive: int) -> bool:
    """Print the figures; whether all is as it should be."""
    wrong = [text for visitor in visitors for text in visitor.wrong]
    pages = sum(len(visitor.seconds) for visitor in visitors)
    lost = len(load_seen.workers) - alive
    print(f"{len(visitors)} visitors, {pages} pages, {len(wrong)} errors")
    for text in wrong[:10]:
        print(f"  {text}")
    print(f"workers: {len(load_seen.workers)} started, {lost} of them lost")
    print(
        f"memory at most: server {load_seen.server:.0f} MB, with workers {load_seen.in_all:.0f} MB"
    )
    taken = {who: sum(known.values()) for who, known in load_seen.seconds.items()}
    told = ", ".join(f"{who} {seconds:.0f}" for who, seconds in taken.items())
    print(f"processor seconds: {told}")
    fared = [visitor for visitor in visitors if visitor.seconds]
    fared.sort(key=lambda visitor: statistics.median(visitor.seconds))
    for word, visitor in (("best", fared[0]), ("worst", fared[-1])) if fared else ():
        median, slowest = statistics.median(visitor.seconds), max(visitor.seconds)
        count = len(visitor.seconds)
        print(
            f"the visitor who fared {word}: {count} pages, median {median:.1f} s, slowest {slowest:.1f} s"
        )
    return (
        not wrong and not lost and len(fared) == len(visitors) and load_seen.in_all < MEMORY_LIMIT
    )


def main() -> None:
    """Let the visitors in, and exit with 1 where anything went wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--visitors", type=int, default=VISITORS)
    arguments = parser.parse_args()
    visitors = [Visitor(number) for number in range(arguments.visitors)]
    first = [Visitor(number) for number in range(len(SCENARIOS))]
    with (
        tempfile.TemporaryDirectory() as store,
        serving(["explorer", "app"], {"EXPLORER_STORE": store}) as url,
    ):
        load_seen = asyncio.run(visit(url, first, visitors, arguments.seconds))
        alive = len(workers_of(server_at(url)))
        is_right = tell_first(first)
        is_fine = tell(visitors, load_seen, alive) and is_right
    sys.exit(int(not is_fine))


if __name__ == "__main__":
    main()
