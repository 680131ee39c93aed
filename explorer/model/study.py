"""The record of a study: findings, tables and charts, with the figures that they were made of."""

from typing import Any, Literal

import msgspec

from explorer.model.measurement import Measured

Cell = str | int | float | bool | None
"""The content of a table's cell; None where there is nothing."""


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """Rows under named columns.

    ``note`` says in a sentence what to see in the table; ``timing`` marks one that varies from run
    to run.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    timing: bool = False


class Series(msgspec.Struct, frozen=True):
    """One named line or set of bars.

    ``x`` holds numbers, or names for bars; ``y`` may hold None where there is no value.
    """

    name: str
    x: tuple[float | str, ...]
    y: tuple[float | None, ...]


class Chart(msgspec.Struct, frozen=True, kw_only=True):
    """One figure of a study.

    ``name`` is its file's stem; ``log`` names the logarithmic axes, which bars have none of.
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
    """One run of a study: what was measured, by name, and what it tells.

    Timings apart, it is the same at every run.
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
        return {name: measured.figures for name, measured in self.measured.items()}
