"""Takes a picture of every page of the app, in both themes and three widths, into out/screenshots.

It shows what is stored: run `python -m explorer warm aliased_input dense_mse devices claims` first, or
give PAGES by name. `--docs` makes the few small ones that the documents show, in docs/images.
"""

import argparse
import shutil
import sys
from pathlib import Path
from typing import Any

# Run as a file, as the Makefile does, Python looks for modules in this folder alone.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from PIL import Image
from playwright.sync_api import sync_playwright

from tests.support.servers import SWITCHES, serving_app

OUT = Path("out/screenshots")
IMAGES = Path(__file__).parent / "images"

PAGES = {
    "home": "",
    "semantics": "semantics?scenario=aliased_input&case=grad(0)",
    "graphs": "graphs?scenario=aliased_input",
    "code": "code?scenario=aliased_input",
    "export": "export?scenario=aliased_input",
    "studies": "studies?study=devices",
    "claims": "claims?claim=9",
    "doctor": "doctor",
    "unknown": "semantics?scenario=dense_msee",
    "中文": "semantics?scenario=aliased_input&lang=zh",
}
"""The pages by the names of their pictures, with their addresses."""

THEMES = ("light", "dark")
WIDTHS = (390, 1400, 2560)
HEIGHT = 1000

TALLEST = 4000
"""Pixels of a picture's height: below that, pages repeat themselves."""

FOR_DOCUMENTS = {"home": 815, "semantics": 1000, "graphs": 1100}
"""The pages that the documents show, by the heights of their pictures."""

LARGEST = 150_000
"""Bytes of a picture in the documents."""

MILLISECONDS = 180_000
SETTLED = 1500
"""Milliseconds in which charts are drawn once the page is there."""

LANGUAGE_BOX = "Language"
"""What ends every page: where it is, all before it is there."""


def main() -> None:
    """Take the pictures that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="*", choices=[*PAGES, []], metavar="PAGES")
    parser.add_argument("--docs", action="store_true")
    asked = parser.parse_args()
    with serving_app({}) as url, sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=list(SWITCHES)
        )
        if asked.docs:
            take_for_documents(browser, url)
        else:
            take_all(browser, url, asked.pages or list(PAGES))


def take_all(browser: Any, url: str, names: list[str]) -> None:
    """Every page asked for in both themes and all widths, each picture as tall as its page."""
    OUT.mkdir(parents=True, exist_ok=True)
    for theme in THEMES:
        for width in WIDTHS:
            page = new_page(browser, theme, width, HEIGHT)
            for name in names:
                show(page, f"{url}/{PAGES[name]}")
                page.set_viewport_size({"width": width, "height": height_of(page)})
                page.wait_for_timeout(SETTLED)
                page.screenshot(path=OUT / f"{name}-{theme}-{width}.png")
                page.set_viewport_size({"width": width, "height": HEIGHT})
            page.close()


def take_for_documents(browser: Any, url: str) -> None:
    """A few pages in the light theme, in 256 colours so that they stay small."""
    for name, height in FOR_DOCUMENTS.items():
        page = new_page(browser, "light", 1400, height)
        show(page, f"{url}/{PAGES[name]}")
        file = IMAGES / f"app-{name}.png"
        page.screenshot(path=file)
        page.close()
        with Image.open(file) as picture:
            picture.convert("RGB").quantize(256).save(file, optimize=True)
        assert file.stat().st_size < LARGEST, f"{file} has {file.stat().st_size} bytes"


def new_page(browser: Any, theme: str, width: int, height: int) -> Any:
    """A page that prefers a theme, in English."""
    page = browser.new_page(
        viewport={"width": width, "height": height}, color_scheme=theme, locale="en-GB"
    )
    page.set_default_timeout(MILLISECONDS)
    return page


def show(page: Any, address: str) -> None:
    """Open an address, and wait until the whole page is there."""
    page.goto(address)
    page.get_by_role("radiogroup", name=LANGUAGE_BOX).wait_for()
    page.get_by_test_id("stStatusWidgetRunningIcon").wait_for(state="hidden")
    page.wait_for_timeout(SETTLED)


def height_of(page: Any) -> int:
    """The height of all that a page holds, at most TALLEST."""
    height = page.get_by_test_id("stMain").evaluate("element => element.scrollHeight")
    return max(HEIGHT, min(int(height), TALLEST))


if __name__ == "__main__":
    main()
