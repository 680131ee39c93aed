"""The record of a study: findings, tables and charts, with the figures that they were made of.

What a topic makes of its figures is facts, with messages where a reader reads text: a Table[Text]. A face
shows what explorer.words.messages.as_text makes of it in the reader's language: a Table, all of whose
texts are strings.
"""

from typing import TYPE_CHECKING, Any, Generic, Literal

import msgspec

from explorer.model.measurement import Measured
from explorer.model.message import Text

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    W = TypeVar("W", bound=Text, covariant=True, default=str)
else:
    # The default is for the type checker, and typing itself has it from Python 3.13 on.
    from typing import TypeVar

    W = TypeVar("W", bound=Text, covariant=True)
"""The kind of a record's texts: strings, or messages too."""

Cell = str | int | float | bool | None
"""The content of a table's cell; None where there is nothing."""


class Table(msgspec.Struct, Generic[W], frozen=True, kw_only=True):
    """Rows under named columns.

    ``note`` says in a sentence what to see in the table; ``timing`` marks one that varies from run
    to run.
    """

    title: W
    columns: tuple[W, ...]
    rows: tuple[tuple[Cell | W, ...], ...]
    note: W | str = ""
    timing: bool = False


class Series(msgspec.Struct, Generic[W], frozen=True):
    """One named line or set of bars.

    ``x`` holds numbers, or names for bars; ``y`` may hold None where there is no value.
    """

    name: W
    x: tuple[float | W, ...]
    y: tuple[float | None, ...]


class Chart(msgspec.Struct, Generic[W], frozen=True, kw_only=True):
    """One figure of a study.

    ``name`` is its file's stem; ``log`` names the logarithmic axes, which bars have none of.
    ``timing`` marks what varies from run to run.
    """

    name: str
    title: W
    kind: Literal["line", "steps", "points", "bars"]
    x: W
    y: W
    series: tuple[Series[W], ...] = ()
    log: tuple[Literal["x", "y"], ...] = ()
    note: W | str = ""
    timing: bool = False


class StudyRecord(msgspec.Struct, Generic[W], frozen=True, kw_only=True):
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
    findings: tuple[W, ...]
    tables: tuple[Table[W], ...]
    charts: tuple[Chart[W], ...]

    @property
    def date(self) -> str:
        """The day of the first measurement, in ISO 8601; "" where none has one."""
        return min((one.date for one in self.measured.values() if one.date), default="")

    @property
    def figures(self) -> dict[str, dict[str, Any]]:
        """The figures of every measurement, by its name."""
        return {name: measured.figures for name, measured in self.measured.items()}
