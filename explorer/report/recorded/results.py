"""Reads recorded results, and gives what is shown of a scenario, a study and the claims."""

import functools
import gzip
import hashlib
import lzma
import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

import msgspec

from explorer.exploration.options import Wanted
from explorer.model.claim import Board, VersionsBoard
from explorer.model.measurement import Measured, Measurement
from explorer.model.message import Text
from explorer.model.report import Report
from explorer.model.study import StudyRecord
from explorer.report.recorded.records import (
    RecordedDrawings,
    RecordedMeasurement,
    RecordedScenario,
    Recording,
)
from explorer.report.scenario.card import ScenarioCard
from explorer.scenario.declaration import Declaration
from explorer.scenario.devices import CPU
from explorer.scenario.find import SHIPPED
from explorer.shipped import PACKAGE
from explorer.store.keys import versions_here
from explorer.text.language import code
from explorer.topics.boards import judged, needed
from explorer.topics.question import Target
from explorer.topics.studies import asked, record
from explorer.topics.topic import Claim, Topic

FOLDER = Path(__file__).resolve().parent

SCENARIOS_FILE = FOLDER / "scenarios.json"
DRAWINGS_FILE = FOLDER / "drawings.json.gz"
MEASUREMENTS_FILE = FOLDER / "measurements.json.gz"
VERSIONS_FILE = FOLDER / "versions.json"
REPORTS_FOLDER = FOLDER / "reports"

NOT_NARROWED = ("device", "order", "prove")
"""The options in which a run must be as it was recorded; engines and cases may be fewer."""

NET = re.compile(r"\n+def (\w+)_net\(.*(?:\n+[ \t].*)*")
"""The function that makes a framework's net in a scenario's file, with the blank lines before it."""


@functools.cache
def recording() -> Recording:
    """When and with which versions everything was recorded, and the facts of all scenarios."""
    return msgspec.json.decode(SCENARIOS_FILE.read_bytes(), type=Recording)


@functools.cache
def drawings() -> RecordedDrawings:
    """All recorded drawings."""
    return msgspec.json.decode(gzip.decompress(DRAWINGS_FILE.read_bytes()), type=RecordedDrawings)


@functools.cache
def measurements() -> dict[tuple[str, str], Measured]:
    """All recorded measurements, by their names and the stems of their scenarios' files."""
    content = gzip.decompress(MEASUREMENTS_FILE.read_bytes())
    recorded = msgspec.json.decode(content, type=tuple[RecordedMeasurement, ...])
    return {(entry.name, entry.scenario): entry.measured for entry in recorded}


def recorded_scenario(path: Path) -> RecordedScenario | None:
    """The facts of a shipped scenario; None for any other file, and for one changed since."""
    known = _scenarios().get(path.stem) if path.parent in SHIPPED else None
    frameworks = recording().versions
    return known if known and known.sha256 == digest_of_text(path, frameworks) else None


@functools.cache
def _scenarios() -> dict[str, RecordedScenario]:
    return {scenario.name: scenario for scenario in recording().scenarios}


def digest_of_text(path: Path, frameworks: Collection[str]) -> str:
    """The SHA-256 digest of a scenario's file without the nets of other frameworks than these.

    What was recorded of these frameworks remains as it is where a net for another one is added.
    """

    def kept(net: re.Match[str]) -> str:
        return net[0] if net[1] in frameworks else ""

    text = NET.sub(kept, path.read_text(encoding="utf-8"))
    return hashlib.sha256(text.encode()).hexdigest()


def recorded_card(scenario: Declaration) -> ScenarioCard | None:
    """The recorded card of a shipped scenario."""
    facts = recorded_scenario(scenario.path)
    if facts is None:
        return None
    return ScenarioCard(
        name=facts.name,
        title=scenario.title,
        cases=facts.cases,
        different=facts.different,
        unexpected=facts.unexpected,
        ladder=drawings().ladders[facts.name],
    )


def report_file(name: str) -> Path:
    """The file with the report on the shipped scenario of a name."""
    return REPORTS_FOLDER / f"{name}.msgpack.xz"


def recorded_report(scenario: Declaration, wanted: Wanted) -> Report | None:
    """The recorded report on a shipped scenario, or one on more cases and engines than are wanted.

    None for a scenario that has changed since, and for other options than the recorded ones.
    """
    whole = Wanted()
    is_as_wanted = all(getattr(wanted, name) == getattr(whole, name) for name in NOT_NARROWED)
    if not is_as_wanted or recorded_scenario(scenario.path) is None:
        return None
    try:
        content = lzma.decompress(report_file(scenario.path.stem).read_bytes())
        report = msgspec.msgpack.decode(content, type=Report)
    except (OSError, lzma.LZMAError, msgspec.DecodeError):
        return None  # as if it were not recorded
    captured = {graph.case for graph in report.graphs}
    return report if wanted.graph_case is None or wanted.graph_case in captured else None


def recorded_introduction(scenario: Declaration) -> str:
    """The recorded drawing of the two ladders that introduce the app; "" for a changed scenario."""
    return drawings().introductions[code()] if recorded_scenario(scenario.path) else ""


def recorded_study(topic: Topic, target: Target) -> StudyRecord[Text] | None:
    """The record of a study all of which is recorded."""
    if target.device != CPU:
        return None
    measured = recorded_outcomes(asked(topic, target, recording().versions))
    return None if measured is None else record(topic, target, recording().versions, measured)


def recorded_versions() -> VersionsBoard | None:
    """The board over versions, as it was recorded; None where there is none."""
    try:
        return msgspec.json.decode(VERSIONS_FILE.read_bytes(), type=VersionsBoard)
    except (OSError, msgspec.DecodeError):
        return None


def recorded_board(chosen: Iterable[Claim]) -> Board | None:
    """The board of ``chosen`` claims where all that it needs is recorded."""
    claims = tuple(chosen)
    measured = recorded_outcomes(needed(claims))
    if measured is None:
        return None
    return Board(
        date=recording().date,
        versions=recording().versions,
        rows=tuple(judged(claim, measured) for claim in claims),
        measured=measured,
    )


def recorded_outcomes(wanted: Iterable[Measurement]) -> dict[str, Measured] | None:
    """The outcomes by name where all are recorded, on scenarios that have not changed since."""
    is_as_recorded = functools.cache(_is_as_recorded)
    outcomes: dict[str, Measured] = {}
    for measurement in wanted:
        path = Path(measurement.scenario) if measurement.scenario else None
        known = measurements().get((measurement.name, path.stem if path else ""))
        if known is None or (path and not is_as_recorded(path)):
            return None
        outcomes[measurement.name] = known
    return outcomes


def _is_as_recorded(path: Path) -> bool:
    """Whether a file is a net of a study's own, or a shipped scenario that has not changed since."""
    is_of_a_study = path.is_relative_to(PACKAGE) and path.parent not in SHIPPED
    return is_of_a_study or recorded_scenario(path) is not None


def other_versions(installed: Mapping[str, str] | None = None) -> dict[str, str]:
    """The installed versions of the frameworks that were recorded with another one; "none" if absent.

    Builds of one version, such as 2.13.0+cpu, count as the same.
    """
    here = versions_here() if installed is None else installed
    others: dict[str, str] = {}
    for name, version in recording().versions.items():
        if _public(here[name]) != _public(version):
            others[name] = here[name]
    return others


def _public(version: str) -> str:
    return version.partition("+")[0]
