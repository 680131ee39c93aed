"""How soon a visitor of the app sees something, in a real browser and on a server just started.

Times the first page, a stored scenario by a click and by a link, and the rows of a scenario that
nobody has asked before, where the server has started its workers and where it has not. Beside them
a page with a text box alone, in the same browser: what Streamlit itself takes on this machine.
The store is a folder of its own, and goes afterwards.
"""

import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

from playwright.sync_api import sync_playwright

from benchmarks._figures import Figure
from benchmarks._presenting import parser, present
from explorer.web import warm_up
from tests.support.app_servers import server_at, workers_of
from tests.support.servers import SWITCHES, serving, serving_app

SCENARIO = "dense_mse"

ROUNDS = 5
"""How often what is stored is timed, each time in a browser that has nothing of the app."""

BARE = "a bare page of Streamlit"
FIRST = "first page, usable"
ROWS = f"{SCENARIO}, not asked: first rows"
WHOLE = f"{SCENARIO}, not asked: all"
CLICK = f"{SCENARIO}, stored: by a click"
LINK = f"{SCENARIO}, stored: by a link"
COLD_ROWS = "no worker started: first rows"
COLD_WHOLE = "no worker started: all"

LIMITS = {FIRST: 2.0, CLICK: 1.5, ROWS: 5.0, WHOLE: 15.0}
"""Seconds that each may take where there is a limit."""

IDLE_PERCENT = 5
"""The share of a core below which a worker has nothing to do."""

WARM_UP_SECONDS = 120

MILLISECONDS = 180_000

Times = dict[str, list[float]]


def measure() -> Iterator[Figure]:
    """Each time with its limit, and beside that of a bare page."""
    times: Times = {}
    with sync_playwright() as driver:
        chromium = shutil.which("chromium")
        browser = driver.chromium.launch(executable_path=chromium, args=list(SWITCHES))
        time_started(browser, times)
        time_bare_server(browser, times)
        browser.close()
    yield from figures(times)


def time_started(browser: Any, times: Times) -> None:
    """Note the seconds of everything on a server that starts its workers."""
    page = ["streamlit", "run", "benchmarks/_bare_page.py", "--server.headless=true"]
    with (
        tempfile.TemporaryDirectory() as store,
        serving(page, {}) as bare,
        serving_app({"EXPLORER_STORE": store, warm_up.VARIABLE: "yes"}) as url,
    ):
        for _ in range(ROUNDS):
            note(times, BARE, seconds_until(browser, bare, text_box_is_there))
            note(times, FIRST, seconds_until(browser, url, search_is_there))
        wait_for_workers(url)
        time_not_asked(browser, url, ROWS, WHOLE, times)
        for _ in range(ROUNDS):
            note(times, CLICK, seconds_of_click(browser, url))
            note(times, LINK, seconds_until(browser, address(url), summary_is_there))


def time_bare_server(browser: Any, times: Times) -> None:
    """Note the seconds of a scenario on a server that starts its workers when it is asked."""
    with (
        tempfile.TemporaryDirectory() as store,
        serving_app({"EXPLORER_STORE": store, warm_up.VARIABLE: "no"}) as url,
    ):
        time_not_asked(browser, url, COLD_ROWS, COLD_WHOLE, times)


def note(times: Times, name: str, seconds: float) -> None:
    """Add a measurement to those of its name."""
    times.setdefault(name, []).append(seconds)


def address(url: str) -> str:
    """The address of the scenario on a server."""
    return f"{url}/semantics?scenario={SCENARIO}"


def wait_for_workers(url: str) -> None:
    """Wait until the server has started its workers, and they have nothing to do."""
    deadline = time.monotonic() + WARM_UP_SECONDS
    server = server_at(url)
    while time.monotonic() < deadline:
        workers = workers_of(server)
        shares = [worker.cpu_percent(1.0) for worker in workers]
        # One more: the process from which some are forked.
        if len(workers) == len(warm_up.KINDS) + 1 and max(shares) < IDLE_PERCENT:
            return
    raise TimeoutError(f"no idle workers after {WARM_UP_SECONDS} s")


def time_not_asked(browser: Any, url: str, rows: str, whole: str, times: Times) -> None:
    """Note the seconds from run for a scenario that is not stored to its rows."""
    page = new_page(browser)
    start = time.perf_counter()
    page.goto(address(url))
    page.get_by_test_id("stDataFrame").first.wait_for()
    note(times, rows, time.perf_counter() - start)
    summary_is_there(page)
    note(times, whole, time.perf_counter() - start)
    page.close()


def seconds_until(browser: Any, place: str, is_there: Any) -> float:
    """The seconds from run for an address until what is waited for is there."""
    page = new_page(browser)
    start = time.perf_counter()
    page.goto(place)
    is_there(page)
    seconds = time.perf_counter() - start
    page.close()
    return seconds


def seconds_of_click(browser: Any, url: str) -> float:
    """The seconds from a click on the scenario's card to all of its page."""
    page = new_page(browser)
    page.goto(url)
    search_is_there(page)
    page.get_by_role("radiogroup", name="Language").wait_for()
    start = time.perf_counter()
    page.get_by_role("link", name=SCENARIO).first.click()
    summary_is_there(page)
    seconds = time.perf_counter() - start
    page.close()
    return seconds


def new_page(browser: Any) -> Any:
    """A page with nothing in its caches."""
    page = browser.new_context(locale="en-GB").new_page()
    page.set_default_timeout(MILLISECONDS)
    return page


def text_box_is_there(page: Any) -> None:
    """A page with a text box can be used."""
    page.get_by_role("textbox", name="Search").wait_for()


def search_is_there(page: Any) -> None:
    """The first page can be used: the scenarios are there, and can be searched."""
    text_box_is_there(page)
    page.get_by_role("link", name=SCENARIO).first.wait_for()


def summary_is_there(page: Any) -> None:
    """The whole scenario is there: its summary counts every case, and its page has come to its end."""
    page.get_by_test_id("stAlert").filter(has_text="unexpected").first.wait_for()
    page.get_by_role("radiogroup", name="Language").wait_for()


def figures(times: Times) -> Iterator[Figure]:
    """The seconds of each, and how often the median of a bare page goes into the first page's."""
    for name, seconds in times.items():
        yield Figure(name=name, unit="s", basis="wall", rounds=tuple(seconds), bar=LIMITS.get(name))
    floor = statistics.median(times[BARE])
    for name in (FIRST, CLICK, LINK):
        yield Figure(
            name=f"{name} ÷ {BARE}",
            unit="×",
            basis="ratio of wall times",
            rounds=tuple(seconds / floor for seconds in times[name]),
        )


if __name__ == "__main__":
    sys.exit(present(measure(), parser(__doc__).parse_args().figures))
