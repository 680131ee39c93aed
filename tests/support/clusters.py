"""A real Dask cluster on loopback: a scheduler and workers, each a process of its own."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from tests.support.command_line import ROOT, environment

STARTING_SECONDS = 60.0


class Cluster:
    """A scheduler's address, and the processes of its workers."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        file = folder / "scheduler.json"
        options = ("--port", "0", "--host", "127.0.0.1", "--no-dashboard", "--no-jupyter")
        self._scheduler = _started("scheduler", "--scheduler-file", str(file), *options, cwd=folder)
        self.workers: list[subprocess.Popen[bytes]] = []
        _wait(file.exists)
        (self._port,) = (
            connection.laddr.port
            for connection in psutil.Process(self._scheduler.pid).net_connections("tcp4")
            if connection.status == psutil.CONN_LISTEN and connection.laddr.ip == "127.0.0.1"
        )
        self.address = f"tcp://127.0.0.1:{self._port}"

    def add_worker(self, path: Path = ROOT) -> None:
        """Start a worker for one job at a time, with the explorer that lies in ``path``."""
        name = f"worker-{len(self.workers)}"
        folder = self._folder / name
        folder.mkdir()
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--name", name)
        store = {"EXPLORER_STORE": str(folder / "store"), "PYTHONPATH": str(path)}
        worker = _started("worker", self.address, *options, cwd=folder, **store)
        self.workers.append(worker)
        log = folder / "worker.log"
        _wait(lambda: "Registered to" in log.read_text())

    def close(self) -> None:
        """End all of it."""
        for process in (*self.workers, self._scheduler):
            process.kill()
            process.wait()


def _started(role: str, *arguments: str, cwd: Path, **variables: str) -> subprocess.Popen[bytes]:
    with (cwd / f"{role}.log").open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.dask_{role}", *arguments],
            cwd=cwd,
            env=environment(**variables),
            stdout=log,
            stderr=subprocess.STDOUT,
        )


def _wait(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + STARTING_SECONDS
    while not condition():
        assert time.monotonic() < end, "the cluster does not start"
        time.sleep(0.05)


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """A cluster without workers, gone when the context is left."""
    started = Cluster(folder)
    try:
        yield started
    finally:
        started.close()
