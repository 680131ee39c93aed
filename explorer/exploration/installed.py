"""What is installed: versions and devices as each framework's worker reports them, and what is missing."""

import importlib.metadata
import platform
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from msgspec.structs import asdict, replace

from explorer.environments.known import every, in_use, is_found
from explorer.model.doctor import CheckFacts
from explorer.model.engines import FRAMEWORKS, NEEDED, Framework, placed
from explorer.model.environments import NO_HOMES, EnvironmentCheck, EnvironmentFacts, Homes
from explorer.model.errors import ExplorerError, MissingFrameworkError
from explorer.model.failures import MISSING_FRAMEWORK, Failure
from explorer.model.requests import Nothing
from explorer.model.results import About
from explorer.model.versions import every_version, version_facts
from explorer.store.keys import Key, key_of
from explorer.store.store import Store
from explorer.text.failures import message
from explorer.text.language import _
from explorer.text.messages import one_line
from explorer.workers.protocol import Lost
from explorer.workers.queue import Job, Progress, carry_out, no_progress
from explorer.workers.system import can_run_workers
from explorer.workers.workers import Workers

Kind = TypeVar("Kind", bound=str)
"""The kind of a worker, or a framework, which is that of its worker where it is found first."""

PACKAGES = ("numpy", "keras", "streamlit", "graphviz", "pygraphviz", "typer", "rich", "msgspec")
"""The packages that the explorer needs beside the frameworks, by their names in pip."""

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
"""Programs that the tests of the app can drive."""

PYTHONS = ((3, 10), (3, 13))
"""The first and the last Python that the explorer is tried with.

A framework may have wheels for fewer: MindSpore 2.10.0 has none for 3.13.
"""

STARTING = "starting workers"
"""The stage of workers that import their framework."""

CHECKS = "checks"
STEPS = 3
"""The stage of checks, and its number of steps: the frameworks are one of them, and take the most time."""

VERSIONS = ("versions", "of the frameworks")
"""The kind and the name under which the versions are stored."""


def nothing_runs() -> bool:
    """Whether no net can be run here: then faces show what was recorded elsewhere.

    No process is started for it, and no framework is imported.
    """
    return not can_run_workers() or not any(map(is_found, FRAMEWORKS))


def about(
    workers: Workers, kinds: Mapping[Kind, Framework], progress: Progress = no_progress
) -> dict[Kind, About | Failure]:
    """The report of each kind of worker on its framework, which they import side by side.

    A Failure, of type MISSING_FRAMEWORK or of a lost worker's outcome, where it says nothing.
    """
    jobs = [
        Job(kind, STARTING, (kind,), f"explorer.engines.{it}.about:about", Nothing(), About)
        for kind, it in kinds.items()
    ]
    found: dict[Kind, About | Failure] = {}
    for kind, reply in carry_out(jobs, workers, progress).items():
        if isinstance(reply, MissingFrameworkError):
            reply = Failure(MISSING_FRAMEWORK, str(reply))
        found[kind] = reply.failure if isinstance(reply, Lost) else reply
    return found


# Versions


def versions_here(
    workers: Workers,
    store: Store | None = None,
    homes: Homes = NO_HOMES,
    frameworks: Iterable[Framework] = NEEDED,
) -> dict[str, str]:
    """The versions of all packages that the workers name; of a missing framework there are none.

    Those of a framework that ``homes`` names are of that environment. Where a ``store`` has them no
    worker is started.
    """
    kinds = {placed(name, homes.get(name, "")): name for name in frameworks}
    known = stored_versions(store, homes, kinds.values()) if store else None
    if known is not None:
        return known
    present = [reply for reply in about(workers, kinds).values() if isinstance(reply, About)]
    versions = {name: version for reply in present for name, version in reply.versions.items()}
    if store and len(present) == len(kinds):
        store.put(_key(homes, kinds.values()), versions)
    return versions


def stored_versions(
    store: Store, homes: Homes = NO_HOMES, frameworks: Iterable[Framework] = NEEDED
) -> dict[str, str] | None:
    """The versions that versions_here() has found before."""
    return store.get(_key(homes, frameworks), dict[str, str])


def _key(homes: Homes, frameworks: Iterable[Framework]) -> Key:
    named = [placed(framework, home) for framework, home in homes.items() if home]
    named += [name for name in frameworks if name not in (*NEEDED, *homes)]
    return key_of(*VERSIONS, sorted(named), engines=named) if named else key_of(*VERSIONS)


# Checks


def checked(
    environments: Iterable[EnvironmentFacts], workers: Workers, progress: Progress
) -> list[EnvironmentCheck]:
    """What came of each framework in each environment; takes as long as importing them all."""
    wanted = list(environments)
    checks: list[EnvironmentCheck] = []
    for done, facts in enumerate(wanted):
        progress(CHECKS, done, len(wanted))
        environment, error = facts.environment, facts.error
        there = [framework for framework in FRAMEWORKS if framework in facts.versions]
        if not (error or there or environment.origin == "here"):
            error = _("none of MindSpore, PyTorch and JAX is installed in it")
        if error:
            checks.append(EnvironmentCheck(environment=environment, framework=None, error=error))
            continue
        for framework in there:
            # By its path, where it has no name: as the explorer's own, or one that a variable names.
            kind = placed(framework, environment.name or environment.python)
            version = facts.versions[framework]
            try:
                reply = about(workers, {kind: framework})[kind]
            except ExplorerError as failed:
                reply = Failure(type(failed).__name__, str(failed))
            found = EnvironmentCheck(environment=environment, framework=framework, version=version)
            if isinstance(reply, Failure):
                checks.append(replace(found, error=one_line(message(reply))))
            else:
                known = asdict(version_facts(framework, reply.versions.get(framework, version)))
                checks.append(replace(found, devices=reply.devices, **known))
    return checks


def examine(
    workers: Workers, substitute_layout: Callable[[], str], progress: Progress
) -> list[CheckFacts]:
    """Run all checks; takes as long as importing the frameworks in their workers.

    ``substitute_layout`` lets Graphviz lay out a graph, and returns which layout was used instead of
    it; "" if Graphviz worked. (Drawing is on a higher floor, so the caller passes it in.)
    """
    progress(CHECKS, 0, STEPS)
    # In workers: this process must import neither framework, and survive a broken one.
    replies = about(workers, {name: name for name in in_use()})
    progress(CHECKS, 1, STEPS)
    frameworks = []
    for name, reply in replies.items():
        check = CheckFacts(kind="missing", name=name, fine=False, required=name in NEEDED)
        if isinstance(reply, About):
            known = version_facts(name, reply.versions.get(name, ""))
            check = replace(check, kind="framework", fine=True, devices=tuple(reply.devices))
            check = replace(check, version=known.version, frameworks=(known,))
        elif is_found(name):
            check = replace(check, kind="broken", error=reply)
        frameworks.append(check)
    packages = [_check_package(name) for name in PACKAGES]
    others = [
        CheckFacts(
            kind="environment",
            name=facts.environment.name or facts.environment.python,
            fine=not facts.error,
            environment=facts,
            frameworks=tuple(every_version(facts.versions)),
        )
        for facts in every()
        if facts.environment.origin != "here"
    ]
    progress(CHECKS, 2, STEPS)
    first, last = PYTHONS
    fine, version = first <= sys.version_info[:2] <= last, platform.python_version()
    layout = substitute_layout()
    # Searched for on the path, as the tests do; Playwright's own download is not used.
    has_browser = any(map(shutil.which, BROWSERS))
    return [
        CheckFacts(kind="python", name="python", fine=fine, version=version),
        *frameworks,
        *packages,
        *others,
        CheckFacts(kind="layout", name="layout", fine=not layout, text=layout),
        CheckFacts(kind="browser", name="chromium", fine=has_browser),
    ]


def _check_package(name: str) -> CheckFacts:
    try:
        version = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return CheckFacts(kind="missing", name=name, fine=False)
    # MindSpore 2.10.0 was compiled against numpy 1: with numpy 2 it imports, and crashes at a pow.
    is_too_new = name == "numpy" and version.partition(".")[0] != "1"
    if is_too_new and any(importlib.metadata.distributions(name="mindspore")):
        return CheckFacts(kind="too_new_numpy", name=name, fine=False, version=version)
    return CheckFacts(kind="package", name=name, fine=True, version=version)
