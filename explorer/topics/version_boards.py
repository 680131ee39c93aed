"""The board over versions: the claims judged in every environment that has a framework."""

from collections.abc import Iterable, Sequence

from packaging.version import Version

from explorer.environments.known import every
from explorer.model.claim import Board, Tried, VersionsBoard, VersionsRow
from explorer.model.engines import NEEDED
from explorer.model.environments import Homes
from explorer.store.store import Store
from explorer.topics.boards import board
from explorer.topics.evidence import Evidence
from explorer.topics.measurements import measure
from explorer.topics.operators import kinks_by_version
from explorer.topics.question import Target
from explorer.topics.topic import Claim
from explorer.workers.queue import Progress, no_progress
from explorer.workers.workers import Workers


def versions_there() -> list[Tried]:
    """Every version of a framework that an environment has, each once, the oldest first."""
    found: dict[tuple[str, str], Tried] = {}
    for facts in every():
        for framework in NEEDED:
            version = facts.versions.get(framework)
            if version is None:
                continue
            # That which is run where no environment is named needs no name.
            environment = "" if framework in facts.runs else facts.environment.name
            if environment or framework in facts.runs:
                found.setdefault((framework, version), Tried(framework, version, environment))
    return sorted(found.values(), key=_order)


def _order(tried: Tried) -> tuple[int, Version]:
    return NEEDED.index(tried.framework), Version(tried.version)


def version_board(
    claims: Sequence[Claim],
    tried: Iterable[Tried],
    request_seconds: float,
    progress: Progress = no_progress,
    store: Store | None = None,
) -> VersionsBoard:
    """The claims judged on each version of one framework, beside the other one as it is run here.

    With them go the gradients at kinks.

    What a ``store`` has is not measured again.
    """
    columns = tuple(tried)
    boards: list[Board] = []
    at_kinks: list[Evidence] = []
    for each in columns:
        homes: Homes = {each.framework: each.environment} if each.environment else {}
        # New workers for each: those of all versions together would take too much memory.
        with Workers(request_seconds) as workers:
            boards.append(board(claims, workers, progress, store, homes))
            asked = kinks_by_version.questions(each.framework)
            wanted = [one for question in asked for one in question.measurements(Target())]
            at_kinks.append(Evidence(measure(wanted, workers, progress, store, homes)))
    rows = []
    for number, claim in enumerate(claims):
        verdicts = tuple(each.rows[number].verdict for each in boards)
        rows.append(VersionsRow(claim.id, claim.statement, verdicts))
    beside: dict[str, str] = {}
    beside.update((each.framework, each.version) for each in columns if not each.environment)
    date = max(each.date for each in boards)
    facts = tuple(kinks_by_version.facts(at_kinks))
    return VersionsBoard(date=date, beside=beside, tried=columns, rows=tuple(rows), facts=facts)
