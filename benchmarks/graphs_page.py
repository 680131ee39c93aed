"""How long the page of graphs takes in a real browser, on a made net with 1000 nodes a pane.

Times a click until the panel has the node, and the pointer over 60 nodes until all paths are lit,
each until the next picture is painted; counts what the browser sends meanwhile.
"""

import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

from playwright.sync_api import sync_playwright

from benchmarks._figures import Basis, Figure
from benchmarks._presenting import parser, present
from tests.support.servers import SWITCHES, serving_graphs

BLOCKS = 91
"""Residual blocks: 1005 nodes a pane."""

CLICKS, HOVERS = 30, 60
CLICK_LIMIT = 0.5
"""Seconds from a click to the panel."""

FIRST_SIGHT = 300_000
"""Milliseconds that the first drawing may take; it is not what is measured."""

TOUCH = """async ([ids, kind]) => {
  const root = [...document.querySelectorAll('*')].map(element => element.shadowRoot)
    .find(shadow => shadow?.querySelector('.panes')) || document
  const frame = () => new Promise(done => requestAnimationFrame(() => setTimeout(done)))
  const times = [], code = []
  for (const id of ids) {
    const node = root.querySelector(`#left-${id}`)
    const event = name => new PointerEvent(name, { bubbles: true, clientX: 9, clientY: 9 })
    const start = performance.now()
    if (kind === 'click') { node.dispatchEvent(event('pointerdown')); node.dispatchEvent(event('pointerup')) }
    else node.dispatchEvent(event('pointerover'))
    code.push(performance.now() - start)
    await frame()
    times.push(performance.now() - start)
    const done = kind === 'click' ? root.querySelector('.frame.chosen') : root.querySelector('.frame.pale')
    if (!done) throw new Error(`nothing happened at ${id}`)
  }
  return [times, code]
}"""
"""Touches nodes one after the other; gives the milliseconds until each next picture is painted."""


def measure() -> Iterator[Figure]:
    """The page for the first time and again, then the pointer over nodes, and clicks on them."""
    with (
        tempfile.TemporaryDirectory() as folder,
        serving_graphs(BLOCKS, "", folder) as url,
        sync_playwright() as driver,
    ):
        chromium = shutil.which("chromium")
        browser = driver.chromium.launch(executable_path=chromium, args=list(SWITCHES))
        page = browser.new_page(viewport={"width": 1400, "height": 1100})
        yield from figures(page, url)


def figures(page: Any, url: str) -> Iterator[Figure]:
    """What a page takes that is opened at ``url``."""
    sent: list[int] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda _: sent.append(1)))
    start = time.perf_counter()
    page.goto(f"{url}/?depth=all")
    left = page.locator(".pane[data-side=left]")
    left.locator(".pick").first.wait_for(timeout=FIRST_SIGHT)
    yield figure("first sight, with both drawings made", [time.perf_counter() - start])
    start = time.perf_counter()
    page.reload()
    left.locator(".pick").first.wait_for(timeout=FIRST_SIGHT)
    yield figure("again, drawn already", [time.perf_counter() - start])
    page.wait_for_timeout(3000)  # what the page still had to say has been said

    ids = left.evaluate(
        "pane => [...pane.querySelectorAll('.pick')].map(node => node.dataset.pick)"
    )
    before = len(sent)
    hovers, hover_code = page.evaluate(TOUCH, [ids[:: len(ids) // HOVERS][:HOVERS], "hover"])
    frames = len(sent) - before
    clicks, click_code = page.evaluate(TOUCH, [ids[:: len(ids) // CLICKS][:CLICKS], "click"])
    yield figure("pointer over a node", seconds(hovers), note=f"{len(ids)} nodes a pane")
    yield figure("pointer over a node: our code alone", seconds(hover_code))
    yield figure("messages to the server meanwhile", [frames], basis="count", unit="", bar=0.0)
    yield figure("click to the panel", seconds(clicks), bar=CLICK_LIMIT)
    yield figure("click to the panel: our code alone", seconds(click_code))


def figure(
    name: str,
    rounds: list[float],
    basis: Basis = "wall",
    unit: str = "s",
    bar: float | None = None,
    note: str = "",
) -> Figure:
    """One figure of the page."""
    return Figure(name=name, unit=unit, basis=basis, rounds=tuple(rounds), bar=bar, note=note)


def seconds(milliseconds: list[float]) -> list[float]:
    """Times in seconds."""
    return [time / 1000 for time in milliseconds]


if __name__ == "__main__":
    sys.exit(present(measure(), parser(__doc__).parse_args().figures))
