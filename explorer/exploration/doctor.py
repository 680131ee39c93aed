"""Looks at what this installation has and lacks, each with the way to get it."""

import importlib.metadata
import platform
import shutil
import sys
from collections.abc import Callable

import msgspec

from explorer.exploration.about import about
from explorer.exploration.requirements import remedy
from explorer.model.engines import FRAMEWORKS
from explorer.model.results import About, Failure
from explorer.text.messages import one_line
from explorer.workers.queue import Progress
from explorer.workers.workers import Workers

PACKAGES = ("numpy", "streamlit", "graphviz", "pygraphviz", "typer", "rich", "msgspec")
"""The packages that the explorer needs beside the frameworks, by their names in pip."""

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
"""Programs that the tests of the app can drive."""

PYTHONS = ((3, 10), (3, 12))
"""The first and the last Python that both frameworks have wheels for.

Seen with MindSpore 2.10.0 and PyTorch 2.13.0.
"""

STAGE = "doctor"
STEPS = 3
"""The steps that progress counts: the frameworks take one of them, and most of the time."""


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One thing looked at, and what was found.

    ``remedy`` says how to get it where it is not fine. Without a ``required`` one nothing can be
    compared.
    """

    name: str
    fine: bool
    found: str
    remedy: str = ""
    required: bool = False


def examine(
    workers: Workers, substitute_layout: Callable[[], str], progress: Progress
) -> list[Check]:
    """Look at everything; takes as long as importing both frameworks in their workers.

    ``substitute_layout`` lets Graphviz lay out a graph, and says what had to stand in for it; ""
    where nothing did. (Drawing lies on a higher floor, so the caller brings it along.)
    """
    progress(STAGE, 0, STEPS)
    # In workers: this process must stay free of both frameworks, and survive a broken one.
    replies = about(workers)
    progress(STAGE, 1, STEPS)
    frameworks = [_check_framework(name, replies[name]) for name in FRAMEWORKS]
    packages = [_check_package(name) for name in PACKAGES]
    progress(STAGE, 2, STEPS)
    return [
        _check_python(),
        *frameworks,
        *packages,
        _check_layout(substitute_layout()),
        _check_browser(),
    ]


def _check_python() -> Check:
    first, last = PYTHONS
    fine = first <= sys.version_info[:2] <= last
    advice = f"use Python {_dotted(first)} to {_dotted(last)}"
    return Check(
        name="python",
        fine=fine,
        found=platform.python_version(),
        remedy="" if fine else advice,
    )


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def _check_framework(name: str, reply: About | Failure) -> Check:
    if isinstance(reply, Failure):
        return Check(
            name=name,
            fine=False,
            found=one_line(reply.message),
            remedy=remedy(name),
            required=True,
        )
    version = reply.versions.get(name, "")
    devices = ", ".join(reply.devices)
    return Check(name=name, fine=True, found=f"{version} on {devices}", required=True)


def _check_package(name: str) -> Check:
    try:
        version = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return Check(name=name, fine=False, found="not installed", remedy=remedy(name))
    # MindSpore 2.10.0 was compiled against numpy 1: with numpy 2 it imports, and dies at a pow.
    if name == "numpy" and version.partition(".")[0] != "1":
        return Check(
            name=name,
            fine=False,
            found=f"{version}, with which MindSpore's first pow dies",
            remedy=remedy(name),
        )
    return Check(name=name, fine=True, found=version)


def _check_layout(substitute: str) -> Check:
    return Check(
        name="layout",
        fine=not substitute,
        found=substitute or "Graphviz places nodes",
        remedy=remedy("pygraphviz") if substitute else "",
    )


def _check_browser() -> Check:
    # Looked for on the path, as the tests do; Playwright's own download is not used.
    is_here = any(shutil.which(program) for program in BROWSERS)
    state = "present" if is_here else "not found"
    return Check(
        name="chromium",
        fine=is_here,
        found=f"{state} (only the tests of the app's pages need it)",
        remedy="" if is_here else "apt-get install chromium",
    )
