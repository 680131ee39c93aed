"""What a run of a study leaves: findings, tables, charts, and the figures that they were made of."""

from typing import Any, Literal

import msgspec

from explorer.model.measurement import Measured

Cell = str | int | float | bool | None
"""What stands in a table's cell; None where there is nothing."""


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """Rows under named columns; ``note`` says in a sentence what to see in it. ``timing`` marks
    what varies from run to run.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    timing: bool = False


class Series(msgspec.Struct, frozen=True):
    """One named line or set of bars; ``y`` may hold None where there is no value. ``x`` is numbers,
    or names for bars.
    """

    name: str
    x: tuple[float | str, ...]
    y: tuple[float | None, ...]


class Chart(msgspec.Struct, frozen=True, kw_only=True):
    """One figure of a study. ``name`` is its file's stem; ``log`` names the logarithmic axes, which
    bars have none of.

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


class StudyRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One run of a study: what was measured by name, and what it tells. Timings apart, the same at
    every run.
    """

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
