"""The installed versions and the usable devices, as each framework's worker reports them."""

from collections.abc import Iterable, Mapping

from explorer.model.engines import NEEDED, Framework, WorkerKind, placed
from explorer.model.environments import NO_HOMES, Homes
from explorer.model.errors import MissingFrameworkError
from explorer.model.failures import MISSING_FRAMEWORK, Failure
from explorer.model.requests import Nothing
from explorer.model.results import About
from explorer.store.keys import Key, key_of
from explorer.store.store import Store
from explorer.workers.protocol import Lost
from explorer.workers.queue import Job, Progress, carry_out, no_progress
from explorer.workers.workers import Workers


def about(
    workers: Workers, homes: Homes = NO_HOMES, frameworks: Iterable[Framework] = NEEDED
) -> dict[Framework, About | Failure]:
    """The report of each framework's worker, in the environment that is named of it; or a Failure."""
    return {name: about_framework(workers, name, homes.get(name, "")) for name in frameworks}


STARTING = "starting workers"
"""The stage of workers that import their framework."""


def start(
    workers: Workers, kinds: Mapping[WorkerKind, Framework], progress: Progress = no_progress
) -> None:
    """Let workers import their framework side by side; about_framework() says if one cannot."""
    jobs = []
    for kind, framework in kinds.items():
        target = f"explorer.engines.{framework}.about:about"
        jobs.append(Job(kind, STARTING, (kind,), target, Nothing(), About))
    carry_out(jobs, workers, progress)


def about_framework(
    workers: Workers, framework: Framework, environment: str = ""
) -> About | Failure:
    """The report of one framework's worker, in an environment or where it is found first.

    A Failure, of type MISSING_FRAMEWORK or of a lost worker's outcome, where it says nothing.
    """
    try:
        reply = workers.call(
            placed(framework, environment),
            f"explorer.engines.{framework}.about:about",
            Nothing(),
            About,
        )
    except MissingFrameworkError as error:
        return Failure(MISSING_FRAMEWORK, str(error))
    if isinstance(reply, Lost):
        return reply.failure
    return reply


VERSIONS = ("versions", "of the frameworks")
"""The kind and the name under which the versions are stored."""


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
    asked = tuple(frameworks)
    known = stored_versions(store, homes, asked) if store else None
    if known is not None:
        return known
    versions: dict[str, str] = {}
    replies = about(workers, homes, asked)
    for reply in replies.values():
        if isinstance(reply, About):
            versions.update(reply.versions)
    if store and all(isinstance(reply, About) for reply in replies.values()):
        store.put(_key(homes, asked), versions)
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
