"""What a page of the app may load and whom it may ask: this server, and nobody else."""

import urllib.request
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest

from explorer.web.server import HEADERS, POLICY
from tests.support.app_servers import server_at
from tests.support.browsers import watched
from tests.support.servers import serving

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PAGES = ("", "claims", "studies", "doctor", "semantics", "graphs", "code", "export")
MILLISECONDS = 120_000


@pytest.mark.whole
def test_no_page_asks_another_host_and_none_breaks_the_policy(chromium: str, address: str) -> None:
    sockets: set[str] = set()
    refused: list[str] = []

    def note(message: Any) -> None:
        if "Content Security Policy" in message.text:
            refused.append(message.text)

    with watched(chromium, address) as browser:
        visitor = browser.page
        visitor.set_default_timeout(MILLISECONDS)
        visitor.on("websocket", lambda socket: sockets.add(urlsplit(socket.url).netloc))
        visitor.on("console", note)
        for name in PAGES:
            visitor.goto(f"{address}/{name}")
            # The language is offered at the end of a page, or work is shown.
            shown = visitor.get_by_role("button", name="Cancel").or_(visitor.get_by_text("中文"))
            shown.first.wait_for()
            visitor.wait_for_timeout(500)
        assert browser.requests == []
    assert sockets == {urlsplit(address).netloc}
    assert refused == []


@pytest.mark.parametrize("path", ["/", "/semantics", "/_stcore/health", "/no/such/page"])
def test_every_answer_carries_the_policy(address: str, path: str) -> None:
    with urllib.request.urlopen(address + path) as answer:
        headers = answer.headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    directives = {}
    for directive in headers["Content-Security-Policy"].split("; "):
        name, _, sources = directive.partition(" ")
        directives[name] = sources.split()
    assert directives.keys() == POLICY.keys()
    assert directives["default-src"] == ["'none'"]
    for name, sources in directives.items():
        # Keywords, and data that a page holds itself: no host, no scheme that leads to one.
        own = all(source.startswith("'") or source in ("data:", "blob:") for source in sources)
        assert own, name
    assert "data:" not in directives["script-src"]
    for source in directives["script-src"]:
        # Scripts of this server, and those known by their digests: no text that a page gets is run.
        assert source in ("'self'", "blob:") or source.startswith("'sha256-"), source
    assert directives["frame-ancestors"] == ["'none'"]


def test_the_server_listens_on_this_machine_alone(address: str) -> None:
    listening = set()
    for connection in server_at(address).net_connections("tcp"):
        if connection.status == psutil.CONN_LISTEN:
            listening.add(connection.laddr.ip)
    assert listening == {"127.0.0.1"}


@pytest.mark.whole
def test_streamlit_serves_the_app_of_a_checkout_with_the_same_headers() -> None:
    with serving(["streamlit", "run", "app.py"], {}) as url, urllib.request.urlopen(url) as answer:
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS
