"""Environments tried: a worker imports each framework in each of them."""

from collections.abc import Iterable, Iterator

from explorer.exploration.about import about_framework
from explorer.model.engines import FRAMEWORKS, Framework
from explorer.model.environments import EnvironmentCheck, EnvironmentFacts
from explorer.model.errors import ExplorerError
from explorer.model.failures import Failure
from explorer.model.versions import version_facts
from explorer.text.failures import message
from explorer.text.language import _
from explorer.text.messages import one_line
from explorer.workers.queue import Progress
from explorer.workers.workers import Workers

STAGE = "checks"


def checked(
    environments: Iterable[EnvironmentFacts], workers: Workers, progress: Progress
) -> list[EnvironmentCheck]:
    """What came of each framework in each environment; takes as long as importing them all."""
    wanted = list(environments)
    checks: list[EnvironmentCheck] = []
    for done, facts in enumerate(wanted):
        progress(STAGE, done, len(wanted))
        checks += _of_one(facts, workers)
    return checks


def _of_one(facts: EnvironmentFacts, workers: Workers) -> Iterator[EnvironmentCheck]:
    environment = facts.environment
    if facts.error:
        yield EnvironmentCheck(environment=environment, framework=None, error=facts.error)
        return
    there = [framework for framework in FRAMEWORKS if framework in facts.versions]
    if not there and environment.origin != "here":
        nothing = _("none of MindSpore, PyTorch and JAX is installed in it")
        yield EnvironmentCheck(environment=environment, framework=None, error=nothing)
    for framework in there:
        yield _of_framework(framework, facts, workers)


def _of_framework(
    framework: Framework, facts: EnvironmentFacts, workers: Workers
) -> EnvironmentCheck:
    environment = facts.environment
    version = facts.versions[framework]
    try:
        # By its path, where it has no name: as the explorer's own, or one that a variable names.
        reply = about_framework(workers, framework, environment.name or environment.python)
    except ExplorerError as error:
        reply = Failure(type(error).__name__, str(error))
    if isinstance(reply, Failure):
        why = one_line(message(reply))
        return EnvironmentCheck(
            environment=environment, framework=framework, version=version, error=why
        )
    known = version_facts(framework, reply.versions.get(framework, version))
    return EnvironmentCheck(
        environment=environment,
        framework=framework,
        version=known.version,
        tried=known.tried,
        limits=known.limits,
        devices=reply.devices,
    )
