"""A browser's page that notes what must not happen: dialogs, requests to other hosts, errors."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import expect, sync_playwright

from tests.support.servers import SWITCHES

MILLISECONDS = 60_000
"""How long a page may take to show what is expected."""

AT_REST = "[data-test-script-state=notRunning]"
"""The app while no script of the page runs (Streamlit 1.67)."""


class Watched:
    """A page of a browser with the dialogs, requests and errors that there were."""

    def __init__(self, page: Any, host: str) -> None:
        self.page = page
        self.dialogs: list[str] = []
        self.requests: list[str] = []
        self.errors: list[str] = []
        self._host = host
        page.on("dialog", self._on_dialog)
        page.on("request", self._on_request)
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def _on_dialog(self, dialog: Any) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def _on_request(self, request: Any) -> None:
        address = urlsplit(request.url)
        if address.scheme not in ("data", "blob") and address.netloc != self._host:
            self.requests.append(request.url)

    def assert_unharmed(self) -> None:
        """Nothing was run, asked or shown that a label wanted."""
        assert self.dialogs == []
        assert self.requests == []
        assert self.errors == []
        assert self.page.evaluate("() => window.harmed") is None
        harmed = self.page.locator("img[src=x], a[href*='harm.invalid'], a[href^='javascript:']")
        assert [part.evaluate("part => part.outerHTML") for part in harmed.all()] == []


@contextmanager
def watched(
    chromium: str, url: str, width: int = 1400, height: int = 1000, theme: str = "light"
) -> Iterator[Watched]:
    """A new page that will open ``url``; its theme is the one that the browser prefers."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=list(SWITCHES))
        page = browser.new_page(
            viewport={"width": width, "height": height}, color_scheme=theme, locale="en-GB"
        )
        page.set_default_timeout(MILLISECONDS)
        expect.set_options(timeout=MILLISECONDS)
        yield Watched(page, urlsplit(url).netloc)
        browser.close()
