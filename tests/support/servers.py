"""A server of the app, or of a page of it, for the time of a test."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from explorer.web import warm_up
from tests.support.command_line import ROOT

SECONDS = 120
"""How long a server may take to answer for the first time."""

SWITCHES = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
"""The switches of a Chromium that asks nobody anything."""


def free_port() -> int:
    """A port of this machine at which nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def serving(command: Sequence[str], variables: Mapping[str, str]) -> Iterator[str]:
    """The address of a server that ``python -m command`` starts on a free port."""
    port = free_port()
    # Where it listens is settled by the app's own settings.
    options = [f"--server.port={port}"]
    server = subprocess.Popen(
        [sys.executable, "-m", *command, *options],
        cwd=ROOT,
        # Workers are started where something is asked of them: most tests ask nothing.
        env={**os.environ, "PYTHONPATH": str(ROOT), warm_up.VARIABLE: "no", **variables},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        wait_for(url)
        yield url
    finally:
        server.terminate()
        server.wait(30)


@contextmanager
def serving_graphs(
    blocks: int, spoiled: str, folder: str, is_explained: str = "", is_mended: str = ""
) -> Iterator[str]:
    """The address of the page of graphs on a made net (tests/support/graphs_app.py)."""
    script = "tests/support/graphs_app.py"
    command = ["streamlit", "run", script, "--server.headless=true"]
    variables = {"NET_BLOCKS": str(blocks), "NET_SPOILED": spoiled, "NET_FOLDER": folder}
    variables |= {"NET_EXPLAINED": is_explained, "NET_MENDED": is_mended}
    with serving(command, variables) as url:
        yield url


def wait_for(url: str) -> None:
    """Wait until a server answers at an address."""
    deadline = time.monotonic() + SECONDS
    while not _answers(url):
        assert time.monotonic() < deadline, f"the server did not start within {SECONDS} s"
        time.sleep(0.2)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/_stcore/health", timeout=5):
            return True
    except OSError:
        return False


@contextmanager
def serving_app(variables: Mapping[str, str]) -> Iterator[str]:
    """The address of the whole app, as `make app` starts it."""
    with serving(["explorer", "app"], variables) as url:
        yield url


@contextmanager
def serving_samples() -> Iterator[str]:
    """The address of the pages on records made by hand (tests/support/samples_app.py)."""
    command = ["streamlit", "run", "tests/support/samples_app.py", "--server.headless=true"]
    with serving(command, {}) as url:
        yield url
