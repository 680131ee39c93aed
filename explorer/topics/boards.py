"""Judges claims: what they need is measured once, and each gets a row of the board."""

from collections.abc import Iterable, Mapping

from explorer.exploration.installed import stored_versions, versions_here
from explorer.model.claim import Board, ClaimRow, ClaimVerdict, Listing, Observation, Ruling
from explorer.model.environments import NO_HOMES, Homes
from explorer.model.failures import LACKING, Failure
from explorer.model.measurement import Measured, Measurement
from explorer.model.message import message
from explorer.store.store import Store
from explorer.topics.evidence import Evidence
from explorer.topics.measurements import measure, stored
from explorer.topics.topic import Claim
from explorer.workers.queue import Progress, no_progress
from explorer.workers.workers import Workers


def board(
    chosen: Iterable[Claim],
    workers: Workers,
    progress: Progress = no_progress,
    store: Store | None = None,
    homes: Homes = NO_HOMES,
) -> Board:
    """The board of ``chosen`` claims, dated by the first of its measurements.

    A framework that ``homes`` names is measured in that environment.
    Raises nothing that a framework does: what could not be measured is said in its row. What a
    ``store`` has is not measured again.
    """
    claims = tuple(chosen)
    measured = measure(needed(claims), workers, progress, store, homes)
    return _board(claims, measured, versions_here(workers, store, homes))


def stored_board(chosen: Iterable[Claim], store: Store, homes: Homes = NO_HOMES) -> Board | None:
    """The board of ``chosen`` claims where all that it needs is stored; no worker is started."""
    claims = tuple(chosen)
    measured = stored(needed(claims), store, homes)
    versions = stored_versions(store, homes)
    if measured is None or versions is None:
        return None
    return _board(claims, measured, versions)


def _board(
    claims: tuple[Claim, ...], measured: dict[str, Measured], versions: dict[str, str]
) -> Board:
    return Board(
        date=min(outcome.date for outcome in measured.values()),  # no claim asks nothing
        versions=versions,
        rows=tuple(judged(claim, measured) for claim in claims),
        measured=measured,
    )


def needed(claims: Iterable[Claim]) -> list[Measurement]:
    """The measurements that some claims are judged by, claim by claim.

    A measurement that two claims need is listed twice.
    """
    measurements: list[Measurement] = []
    for claim in claims:
        measurements.extend(claim.measurements)
    return measurements


def judged(claim: Claim, measured: Mapping[str, Measured]) -> ClaimRow:
    """One claim judged on what was measured; pure."""
    names = tuple(measurement.name for measurement in claim.measurements)
    evidence = Evidence({name: measured[name] for name in names})
    not_run = evidence.failures
    # Nothing is judged on half of the evidence: what is missing might turn the verdict.
    ruling = None if not_run else _ruling(claim, evidence)
    verdict: ClaimVerdict | None = ruling.verdict if ruling else None
    if not_run and all(map(_is_lacking, not_run.values())):
        verdict = "not_runnable_here"
    return ClaimRow(
        id=claim.id,
        heading=claim.heading,
        statement=claim.statement,
        guides=claim.guides,
        would=claim.would,
        verdict=verdict,
        advice=ruling.advice if ruling else "",
        measured=names,
        sections=dict(claim.sections),
        observations=ruling.evidence if ruling else (),
        not_run=not_run,
        printed=_listings({name: measured[name].printed for name in names}),
        meant=_listings({name: measured[name].meant for name in names}),
    )


def _ruling(claim: Claim, evidence: Evidence) -> Ruling:
    """The judge's ruling; "not_judged" where a version gave an answer that the judge does not know."""
    try:
        return claim.judge(evidence, claim.expects)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        return Ruling("not_judged", (Observation(message("cells.unknown_answer"), reason),))


def _is_lacking(failure: Failure) -> bool:
    """Whether a measurement needs what is not installed, though its framework is."""
    return failure.kind in LACKING


def _listings(code_of: Mapping[str, str]) -> tuple[Listing, ...]:
    """Each different piece of code once, with all measurements that ran it."""
    names_by_code: dict[str, list[str]] = {}
    for name, code in code_of.items():
        if code:
            names_by_code.setdefault(code, []).append(name)
    return tuple(Listing(code, tuple(names)) for code, names in names_by_code.items())
