"""Ctrl-C ends the server of the app and its workers, whatever they are doing."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from playwright.sync_api import sync_playwright

from tests.support.app_servers import workers_of
from tests.support.command_line import ROOT
from tests.support.servers import SWITCHES, free_port, wait_for

pytestmark = [pytest.mark.browser, pytest.mark.mindspore, pytest.mark.torch, pytest.mark.slow]

SECONDS = 10
"""The limit of the end, which takes about a second: the machine may be busy."""

MILLISECONDS = 180_000


def opened(driver: Any, chromium: str, url: str) -> Any:
    """A page at which a visitor waits for a scenario that nobody has asked."""
    browser = driver.chromium.launch(executable_path=chromium, args=list(SWITCHES))
    page = browser.new_page()
    page.set_default_timeout(MILLISECONDS)
    page.goto(f"{url}/semantics?scenario=mlp_cross_entropy")
    page.get_by_text("starting workers").wait_for()
    return page


EXPLORER = ("explorer", "app")
STREAMLIT = ("streamlit", "run", "app.py")


@pytest.mark.parametrize(
    ("command", "number"),
    [
        (EXPLORER, signal.SIGINT),
        pytest.param(EXPLORER, signal.SIGTERM, marks=pytest.mark.whole),
        pytest.param(STREAMLIT, signal.SIGINT, marks=pytest.mark.whole),
    ],
)
def test_a_signal_ends_the_server_and_its_workers_while_they_work(
    command: tuple[str, ...], number: signal.Signals, chromium: str, tmp_path: Path
) -> None:
    port = free_port()
    server = subprocess.Popen(
        [sys.executable, "-m", *command, f"--server.port={port}"],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        url = f"http://127.0.0.1:{port}"
        wait_for(url)
        with sync_playwright() as driver:
            opened(driver, chromium, url)
            workers = workers_of(psutil.Process(server.pid))
            assert workers
            server.send_signal(number)
            server.wait(SECONDS)  # raises TimeoutExpired
            _, alive = psutil.wait_procs(workers, timeout=SECONDS)
            assert alive == []
        assert list(tmp_path.glob("explorer-*")) == [], "no scratch folder is left behind"
    finally:
        server.kill()
