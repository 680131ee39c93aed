"""How soon a visitor of the app sees something, in a real browser and on a server just started.

Times the first page, a stored scenario, and the rows of a scenario that nobody has asked before.
It exits with 1 where a limit is missed. The store is a folder of its own, and goes afterwards.
"""

import shutil
import statistics
import sys
import tempfile
import time
from typing import Any

from playwright.sync_api import sync_playwright

from tests.support.servers import SWITCHES, serving_app

SCENARIO = "dense_mse"

ROUNDS = 5
"""How often what is stored is timed, each time in a browser that has nothing of the app."""

LIMITS = {
    "first page, usable": 2.0,
    f"{SCENARIO}, stored": 1.5,
    f"{SCENARIO}, cold: first rows": 5.0,
    f"{SCENARIO}, cold: all": 15.0,
}
"""Seconds that each may take."""

MILLISECONDS = 180_000


def main() -> None:
    """Print the medians beside their limits; exit with 1 where one is missed."""
    with tempfile.TemporaryDirectory() as store, sync_playwright() as driver:
        chromium = shutil.which("chromium")
        browser = driver.chromium.launch(executable_path=chromium, args=list(SWITCHES))
        with serving_app({"EXPLORER_STORE": store}) as url:
            times = timed(browser, url)
        browser.close()
    sys.exit(int(not print_table(times)))


def timed(browser: Any, url: str) -> dict[str, list[float]]:
    """The seconds of every measurement, by what was measured."""
    first, stored, rows, whole = LIMITS
    times: dict[str, list[float]] = {name: [] for name in LIMITS}
    for _ in range(ROUNDS):
        times[first].append(seconds_until(browser, url, search_is_there))
    address = f"{url}/semantics?scenario={SCENARIO}"
    page = new_page(browser)
    start = time.perf_counter()
    page.goto(address)
    page.get_by_test_id("stDataFrame").first.wait_for()
    times[rows].append(time.perf_counter() - start)
    summary_is_there(page)
    times[whole].append(time.perf_counter() - start)
    page.close()
    for _ in range(ROUNDS):
        times[stored].append(seconds_until(browser, address, summary_is_there))
    return times


def seconds_until(browser: Any, address: str, is_there: Any) -> float:
    """The seconds from asking for an address until what is waited for is there."""
    page = new_page(browser)
    start = time.perf_counter()
    page.goto(address)
    is_there(page)
    seconds = time.perf_counter() - start
    page.close()
    return seconds


def new_page(browser: Any) -> Any:
    """A page with nothing in its caches."""
    page = browser.new_context(locale="en-GB").new_page()
    page.set_default_timeout(MILLISECONDS)
    return page


def search_is_there(page: Any) -> None:
    """The first page can be used: the scenarios are there, and can be searched."""
    page.get_by_role("textbox", name="Search").wait_for()
    page.get_by_role("link", name=SCENARIO).first.wait_for()


def summary_is_there(page: Any) -> None:
    """The whole scenario is there: its summary counts every case."""
    page.get_by_test_id("stAlert").filter(has_text="unexpected").first.wait_for()
    page.get_by_role("radiogroup", name="Language").wait_for()


def print_table(times: dict[str, list[float]]) -> bool:
    """Print the median of each; gives whether all are within their limits."""
    print(f"{'':28} {'median':>8} {'slowest':>8} {'limit':>8}")
    is_fast = True
    for name, limit in LIMITS.items():
        median = statistics.median(times[name])
        print(f"{name:28} {median:7.2f}s {max(times[name]):7.2f}s {limit:7.1f}s")
        is_fast = is_fast and median <= limit
    return is_fast


if __name__ == "__main__":
    main()
