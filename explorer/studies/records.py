"""What a study is, and the record that a run of it leaves: figures, tables, charts and graphs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from explorer.measuring import Evidence, Measured, Measurement

Cell = str | int | float | bool | None


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """Rows under named columns; ``note`` says in a sentence what to see in it. ``timing`` marks what varies from run to run."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    timing: bool = False


class Series(msgspec.Struct, frozen=True):
    """One named line or set of bars; ``y`` may hold None where there is no value. ``x`` is numbers, or names for bars."""

    name: str
    x: tuple[float | str, ...]
    y: tuple[float | None, ...]


class Chart(msgspec.Struct, frozen=True, kw_only=True):
    """One figure of a study. ``name`` is its file's stem; ``log`` names the logarithmic axes, which bars have none of.

    ``timing`` marks what varies from run to run.
    """

    name: str
    title: str
    kind: Literal["line", "steps", "points", "bars"]
    x: str
    y: str
    series: tuple[Series, ...] = ()
    log: tuple[Literal["x", "y"], ...] = ()
    note: str = ""
    timing: bool = False


class Telling(msgspec.Struct, frozen=True, kw_only=True):
    """What a study makes of its evidence: findings (one sentence each, computed), tables, charts."""

    findings: tuple[str, ...]
    tables: tuple[Table, ...]
    charts: tuple[Chart, ...] = ()


class StudyRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One run of a study: what was measured by name, and what it tells. Timings apart, the same at every run."""

    schema: int = 1
    study: str
    title: str
    question: str
    scenario: str
    device: str
    versions: dict[str, str]
    measured: dict[str, Measured]
    findings: tuple[str, ...]
    tables: tuple[Table, ...]
    charts: tuple[Chart, ...]

    @property
    def figures(self) -> dict[str, dict[str, Any]]:
        """The figures of every measurement, by its name."""
        return {name: each.figures for name, each in self.measured.items()}


@dataclass(frozen=True)
class Target:
    """What a study is run on: a scenario's file ("" for the study's own nets), and the device."""

    scenario: str
    device: str


@dataclass(frozen=True)
class Study:
    """A question beyond the matrix. ``measurements`` lists the programs to run; ``tell`` is a pure function of their figures.

    ``default_scenario`` is the shipped scenario that it looks at when none is named; None for a study with nets of its own,
    which refuses a scenario. ``seconds`` is the limit of one measurement.
    """

    name: str
    title: str
    question: str
    measurements: Callable[[Target], tuple[Measurement, ...]]
    tell: Callable[[Evidence], Telling]
    default_scenario: str | None = None
    seconds: float = 60.0
