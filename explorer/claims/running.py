"""Measures what some claims need, each measurement once, and lets every claim judge: the board."""

import datetime
from collections.abc import Iterable

import msgspec

from explorer.claims.records import Claim, Verdict
from explorer.explore import about
from explorer.measuring import Evidence, Measured, Measurement, Progress, measure
from explorer.records import About
from explorer.report.clean import one_line
from explorer.worker import Workers


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One claim on the board: its verdict with evidence and advice, or None and why it could not be run."""

    id: int
    topic: str
    statement: str
    guides: tuple[str, ...]
    would: str
    verdict: Verdict | None
    evidence: str
    advice: str
    measured: tuple[str, ...]


class Board(msgspec.Struct, frozen=True, kw_only=True):
    """Verdicts on the guides' statements, on the versions that are installed; ``measured`` holds all figures by name."""

    schema: int = 1
    date: str
    versions: dict[str, str]
    rows: tuple[Row, ...]
    measured: dict[str, Measured] = {}


def board(
    chosen: Iterable[Claim],
    workers: Workers,
    progress: Progress = lambda stage, done, total: None,
) -> Board:
    """The board of ``chosen`` claims. Raises nothing that a framework does: what could not be measured is said in its row."""
    claims = tuple(chosen)
    found = about(workers)
    measured = measure(needed(claims), workers, progress)
    return Board(
        date=datetime.date.today().isoformat(),
        versions={name: version for each in found.values() if isinstance(each, About) for name, version in each.versions.items()},
        rows=tuple(row(claim, measured) for claim in claims),
        measured=measured,
    )


def needed(claims: Iterable[Claim]) -> list[Measurement]:
    """The measurements of some claims, each once; two that differ under one name are a mistake of ours."""
    wanted: dict[str, Measurement] = {}
    for claim in claims:
        for each in claim.measurements:
            assert wanted.setdefault(each.name, each) == each, f"two measurements are called {each.name}"
    return list(wanted.values())


def row(claim: Claim, measured: dict[str, Measured]) -> Row:
    """One claim judged on what was measured; pure."""
    names = tuple(each.name for each in claim.measurements)
    evidence = Evidence({name: measured[name] for name in names})
    lost = [f"{name}: {one_line(f'{error.type}: {error.message}')}" for name, error in evidence.failures.items()]
    ruling = None if lost else claim.judge(evidence, claim.expects)
    return Row(
        id=claim.id,
        topic=claim.topic,
        statement=claim.statement,
        guides=claim.guides,
        would=claim.would,
        verdict=ruling.verdict if ruling else None,
        evidence=ruling.evidence if ruling else "could not be run: " + "; ".join(lost),
        advice=ruling.advice if ruling else "",
        measured=names,
    )
