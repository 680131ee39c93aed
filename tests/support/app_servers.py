"""The app's server as a process: its workers, and what is left of it once it was told to end."""

import psutil

WORKERS = ("explorer.workers.serving", "explorer.workers.forking")
"""The modules that run in workers, and in the process from which some of these are forked."""


def server_at(url: str) -> psutil.Process:
    """The process that serves an address of this machine."""
    port = url.rsplit(":", 1)[1]
    for process in psutil.process_iter(["cmdline"]):
        if f"--server.port={port}" in (process.info["cmdline"] or ()):
            return process
    raise AssertionError(f"no process serves {url}")


def workers_of(server: psutil.Process) -> list[psutil.Process]:
    """The worker processes of a server, and that from which some of them are forked."""
    children = server.children(recursive=True)
    return [child for child in children if set(WORKERS) & set(child.cmdline())]
