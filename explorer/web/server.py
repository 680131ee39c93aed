"""The server of the app: Streamlit, with headers that keep pages to themselves, and a quick end."""

import base64
import hashlib
import os
import re
import signal
import sys
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import psutil
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.file_util import get_static_dir
from streamlit.starlette import App

from explorer.web import ENTRY
from explorer.web.shared_runs import shared_runs
from explorer.web.warm_up import warm_up

ENDING_SECONDS = 0.8
"""Seconds in which what still works notices that it is to end."""

CLOSING_SECONDS = 0.1
"""Seconds between two looks for a worker that was started while the others were stopped."""

INLINE_SCRIPT = re.compile(rb"<script>(.*?)</script>", re.DOTALL)


def _own_scripts() -> str:
    """The digests of the scripts inside Streamlit's page, by which the policy knows them."""
    page = Path(get_static_dir(), "index.html").read_bytes()
    sources = []
    for script in INLINE_SCRIPT.findall(page):
        digest = base64.b64encode(hashlib.sha256(script).digest()).decode()
        sources.append(f"'sha256-{digest}'")
    return " ".join(sources)


POLICY = {
    "default-src": "'none'",
    # Our components arrive as text, which the page loads as a blob.
    "script-src": f"'self' blob: {_own_scripts()}".strip(),
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "connect-src": "'self'",
    "worker-src": "'self' blob:",
    "manifest-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
}
"""The Content-Security-Policy by its directives: nothing comes from, or goes to, another host."""

HEADERS = {
    "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in POLICY.items()),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


class Headers:
    """Middleware that sets HEADERS in every response."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the app does, with more headers."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await self.app(scope, receive, send_with_headers)


@asynccontextmanager
async def life(_app: App) -> AsyncIterator[dict[str, Any]]:
    """For the life of the server: it warms up, and Ctrl-C ends it within seconds, with its workers."""
    # In place of uvicorn's own, which wait until every browser has gone.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _end_soon)
    warm_up()
    yield {}


def _end_soon(_number: int, _frame: FrameType | None) -> None:
    # In a thread: a handler interrupts code that may hold the locks that closing takes.
    threading.Thread(target=_end, daemon=True).start()


def _end() -> None:
    """Stop the workers, and then this process, whatever a page is doing."""
    closing = threading.Thread(target=_close, daemon=True)
    closing.start()
    closing.join(2 * ENDING_SECONDS)
    for child in psutil.Process().children(recursive=True):
        child.kill()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _close() -> None:
    runs = shared_runs()
    latest = time.monotonic() + ENDING_SECONDS
    # Again and again: a worker may have been about to start.
    while time.monotonic() < latest:
        runs.end()
        time.sleep(CLOSING_SECONDS)


OPTIONS: dict[str, Any] = {"lifespan": life, "middleware": [Middleware(Headers)]}
"""What makes a Streamlit app ours: however it is started, it is served alike."""

app = App(ENTRY, **OPTIONS)
