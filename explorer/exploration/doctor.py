"""Checks what is installed and what is missing, with the pip line that installs it."""

import importlib.metadata
import platform
import shutil
import sys
from collections.abc import Callable, Iterator

from explorer.environments.known import every, in_use, is_found
from explorer.exploration.about import about
from explorer.model.doctor import CheckFacts
from explorer.model.engines import NEEDED, Framework
from explorer.model.failures import Failure
from explorer.model.results import About
from explorer.model.versions import every_version, version_facts
from explorer.workers.queue import Progress
from explorer.workers.workers import Workers

PACKAGES = ("numpy", "keras", "streamlit", "graphviz", "pygraphviz", "typer", "rich", "msgspec")
"""The packages that the explorer needs beside the frameworks, by their names in pip."""

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
"""Programs that the tests of the app can drive."""

PYTHONS = ((3, 10), (3, 13))
"""The first and the last Python that the explorer is tried with.

A framework may have wheels for fewer: MindSpore 2.10.0 has none for 3.13.
"""

STAGE = "checks"
STEPS = 3
"""The number of steps of the progress: the frameworks are one of them, and take the most time."""


def examine(
    workers: Workers, substitute_layout: Callable[[], str], progress: Progress
) -> list[CheckFacts]:
    """Run all checks; takes as long as importing the frameworks in their workers.

    ``substitute_layout`` lets Graphviz lay out a graph, and returns which layout was used instead of
    it; "" if Graphviz worked. (Drawing is on a higher floor, so the caller passes it in.)
    """
    progress(STAGE, 0, STEPS)
    # In workers: this process must import neither framework, and survive a broken one.
    replies = about(workers, frameworks=in_use())
    progress(STAGE, 1, STEPS)
    frameworks = [_check_framework(name, reply) for name, reply in replies.items()]
    packages = [_check_package(name) for name in PACKAGES]
    progress(STAGE, 2, STEPS)
    return [
        _check_python(),
        *frameworks,
        *packages,
        *_check_environments(),
        _check_layout(substitute_layout()),
        _check_browser(),
    ]


def _check_python() -> CheckFacts:
    first, last = PYTHONS
    fine = first <= sys.version_info[:2] <= last
    return CheckFacts(kind="python", name="python", fine=fine, version=platform.python_version())


def _check_framework(name: Framework, reply: About | Failure) -> CheckFacts:
    if isinstance(reply, Failure):
        is_needed = name in NEEDED
        if not is_found(name):
            return CheckFacts(kind="missing", name=name, fine=False, required=is_needed)
        return CheckFacts(kind="broken", name=name, fine=False, error=reply, required=is_needed)
    version = reply.versions.get(name, "")
    return CheckFacts(
        kind="framework",
        name=name,
        fine=True,
        version=version,
        frameworks=(version_facts(name, version),),
        devices=tuple(reply.devices),
        required=name in NEEDED,
    )


def _check_environments() -> Iterator[CheckFacts]:
    """The environments beside the explorer's own."""
    for facts in every():
        if facts.environment.origin == "here":
            continue
        yield CheckFacts(
            kind="environment",
            name=facts.environment.name or facts.environment.python,
            fine=not facts.error,
            environment=facts,
            frameworks=tuple(every_version(facts.versions)),
        )


def _check_package(name: str) -> CheckFacts:
    try:
        version = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return CheckFacts(kind="missing", name=name, fine=False)
    # MindSpore 2.10.0 was compiled against numpy 1: with numpy 2 it imports, and crashes at a pow.
    if name == "numpy" and version.partition(".")[0] != "1" and _is_installed("mindspore"):
        return CheckFacts(kind="too_new_numpy", name=name, fine=False, version=version)
    return CheckFacts(kind="package", name=name, fine=True, version=version)


def _is_installed(name: str) -> bool:
    return any(importlib.metadata.distributions(name=name))


def _check_layout(substitute: str) -> CheckFacts:
    return CheckFacts(kind="layout", name="layout", fine=not substitute, text=substitute)


def _check_browser() -> CheckFacts:
    # Searched for on the path, as the tests do; Playwright's own download is not used.
    is_here = any(shutil.which(program) for program in BROWSERS)
    return CheckFacts(kind="browser", name="chromium", fine=is_here)
