"""Records of recorded results: the facts of each scenario's card, drawings, and measurements."""

import msgspec

from explorer.model.measurement import Measured


class RecordedScenario(msgspec.Struct, frozen=True, kw_only=True):
    """The counts of one scenario's card; ``sha256`` is the digest of the scenario's file."""

    name: str
    sha256: str
    cases: int
    different: int
    unexpected: int


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    """When and with which versions everything was recorded, and the scenarios by name.

    ``date`` is the day of the recording, in ISO 8601; ``versions`` are those of the frameworks.
    """

    schema: int = 1
    date: str
    versions: dict[str, str]
    scenarios: tuple[RecordedScenario, ...]


class RecordedDrawings(msgspec.Struct, frozen=True, kw_only=True):
    """SVGs: the two ladders that introduce the app, and each scenario's small one by its name.

    ``introductions`` are by the codes of languages.
    """

    introductions: dict[str, str]
    ladders: dict[str, str]


class RecordedMeasurement(msgspec.Struct, frozen=True, kw_only=True):
    """One outcome, without graphs; ``scenario`` is the stem of the scenario's file, "" for none."""

    name: str
    scenario: str
    measured: Measured
