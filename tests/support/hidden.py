"""Environments whose Python lacks packages or what an operating system does not have."""

import os
from collections.abc import Iterable
from pathlib import Path

from explorer.shipped import PACKAGE

FOREIGN = (
    "filelock",
    "graphviz",
    "networkx",
    "platformdirs",
    "psutil",
    "pyarrow",
    "pygraphviz",
    "resvg_py",
    "rich",
    "streamlit",
    "typer",
    "typing_extensions",
    "vl_convert",
)
"""Packages of the explorer's that an environment with a framework alone may lack."""

NOT_ON_WINDOWS = {
    "os": (
        "fork",
        "forkpty",
        "geteuid",
        "getpgrp",
        "getuid",
        "killpg",
        "mkfifo",
        "pread",
        "register_at_fork",
        "sched_getaffinity",
        "set_blocking",
        "setsid",
        "uname",
        "WNOHANG",
        "waitstatus_to_exitcode",
    ),
    "signal": ("SIGCHLD", "SIGKILL", "SIGSTOP", "SIGALRM", "SIGHUP", "setitimer"),
    "socket": ("AF_UNIX", "recv_fds", "send_fds", "socketpair"),
    "select": ("epoll", "poll"),
}
"""What modules of Python lack on Windows, or on macOS too."""

MODULES_NOT_ON_WINDOWS = ("fcntl", "grp", "pty", "pwd", "resource", "termios", "tty")

AS_ON_WINDOWS = """
import asyncio, concurrent.futures, importlib, multiprocessing, subprocess, sys, tempfile, zipfile
# What others import may have branches of its own for Windows.
for name in PRELOADED:
    try:
        importlib.import_module(name)
    except ImportError:
        pass
for name, attributes in LACKING.items():
    module = importlib.import_module(name)
    for attribute in attributes:
        if hasattr(module, attribute):
            delattr(module, attribute)
for name in MODULES:
    sys.modules[name] = None
"""
"""Takes away from Python what MODULES and LACKING name, once those are imported that ask for it."""

FOREIGN_AND_BRANCHING = (
    "docutils",
    "filelock",
    "graphviz",
    "mkdocs.plugins",
    "msgspec",
    "numpy",
    "platformdirs",
    "psutil",
    "pytest",
    "rich.console",
    "rich.progress",
    "sphinx.application",
    "streamlit.starlette",
    "streamlit.web.cli",
    "typer",
)
"""The packages that the explorer imports and that ask what system they are on."""


def as_on_windows() -> str:
    """The beginning of a program that sees of Python what there is on Windows."""
    given = {
        "PRELOADED": FOREIGN_AND_BRANCHING,
        "LACKING": NOT_ON_WINDOWS,
        "MODULES": MODULES_NOT_ON_WINDOWS,
    }
    return "\n".join(f"{name} = {value!r}" for name, value in given.items()) + AS_ON_WINDOWS


HIDING = """
import sys
from importlib.metadata import DistributionFinder, MetadataPathFinder


class Hiding:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {packages} and importer().startswith({folder}):
            raise ModuleNotFoundError(f"No module named {{name!r}} (hidden)", name=name)
        return None


def importer():
    frame = sys._getframe(2)
    while frame and "importlib" in frame.f_code.co_filename:
        frame = frame.f_back
    return frame.f_code.co_filename if frame else ""


def not_hidden(finder, context=DistributionFinder.Context()):
    return () if context.name in {packages} else find_distributions(context)


find_distributions = MetadataPathFinder.find_distributions
MetadataPathFinder.find_distributions = classmethod(not_hidden)
sys.meta_path.insert(0, Hiding())
"""
"""Hides packages from modules in a folder: frameworks may have them."""


def hiding(packages: Iterable[str], folder: Path) -> dict[str, str]:
    """Variables of a process to whose modules of the explorer ``packages`` are not there.

    ``folder`` gets what Python runs when it starts, and is looked into before the checkout.
    """
    own = f"{PACKAGE}{os.sep}"
    text = HIDING.format(packages=sorted(packages), folder=repr(own))
    (folder / "sitecustomize.py").write_text(text, encoding="utf-8")
    path = [str(folder), str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")]
    return {"PYTHONPATH": os.pathsep.join(filter(None, path))}
