"""Ctrl-C ends the server of the app and its workers, whatever they are doing."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.support.app_servers import workers_of
from tests.support.browsers import watched
from tests.support.command_line import ROOT
from tests.support.servers import free_port, wait_for

pytestmark = [pytest.mark.browser, pytest.mark.mindspore, pytest.mark.torch, pytest.mark.whole]

SECONDS = 10
"""The limit of the end, which takes about a second: the machine may be busy."""

MILLISECONDS = 180_000

EXPLORER = ("explorer", "app")
STREAMLIT = ("streamlit", "run", "app.py")


@pytest.mark.own_store
@pytest.mark.parametrize(
    ("command", "number"),
    [(EXPLORER, signal.SIGINT), (EXPLORER, signal.SIGTERM), (STREAMLIT, signal.SIGINT)],
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
        with watched(chromium, url) as browser:
            # A visitor waits for a scenario that nobody has asked.
            browser.page.goto(f"{url}/semantics?scenario=mlp_cross_entropy")
            browser.page.get_by_text("starting workers").wait_for(timeout=MILLISECONDS)
            deadline = time.monotonic() + SECONDS
            while not (workers := workers_of(psutil.Process(server.pid))):
                assert time.monotonic() < deadline, "no worker is started"
                time.sleep(0.1)
            server.send_signal(number)
            server.wait(SECONDS)  # raises TimeoutExpired
            _, alive = psutil.wait_procs(workers, timeout=SECONDS)
            assert alive == []
        assert list(tmp_path.glob("explorer-*")) == [], "no scratch folder is left behind"
    finally:
        server.kill()
        server.wait()
