"""The report on one scenario: its cases with their verdicts, its graphs, and how these align."""

from typing import Literal

import msgspec

from explorer.model.alignment import Alignment
from explorer.model.cases import GradCase
from explorer.model.engines import environment_of
from explorer.model.failures import Failure
from explorer.model.findings import ReportFinding
from explorer.model.graph import GradGraph
from explorer.model.results import Leaf, OracleResult, Outcome, Result
from explorer.model.state import StateRow

CaseVerdict = Literal[
    "match", "close", "differs", "drawn", "all_raise", "some_raise", "not_compared"
]
"""The verdict on a case.

"drawn": structure, shapes and dtypes agree, and every value depends on random numbers.
"""

ORACLE = "central-differences"
"""The name under which the independent oracle stands beside the engines."""


class Difference(msgspec.Struct, frozen=True):
    """The greatest difference of a case, or what differs first.

    It has the size, the two engines, the leaf, and the element's index. ``what`` is "value",
    "structure", "shape", "dtype" or "outcome"; only "value" has figures and an index. It is the
    greatest of all engines, leaves and elements; where some differ by more than rounding explains,
    of these. ``ratio`` is how many times the ``noise`` of that element it is, the level of both
    sides together in the units of the values. ``swamped`` says that it is as great as the values
    themselves, and so is the noise: it cannot be judged.
    """

    what: Literal["value", "structure", "shape", "dtype", "outcome"]
    engines: tuple[str, str]
    abs: float = 0.0
    rel: float = 0.0
    leaf: str = ""
    index: tuple[int, ...] = ()
    detail: str = ""
    noise: float = 0.0
    ratio: float = 0.0
    swamped: bool = False


class AnswerGroup(msgspec.Struct, frozen=True):
    """The engines that give one answer to a case.

    ``oracle_agrees`` says whether the oracle confirms the answer of each of them; it is None where
    the oracle judges none. Where it refutes some, whose own net gives another gradient, the others are
    ``confirmed`` or ``unjudged``. ``spread`` is the greatest difference within it, where its answers do
    not read alike. ``marks`` are differences from answers that begin with the same digits: the greatest
    one from each later group, and the one from the oracle if that is greater here than in any other group.
    """

    engines: tuple[str, ...]
    oracle_agrees: bool | None = None
    marks: tuple[Difference, ...] = ()
    confirmed: tuple[str, ...] = ()
    spread: Difference | None = None
    unjudged: tuple[str, ...] = ()


class Unanswered(msgspec.Struct, frozen=True, tag_field="surprise", tag="unanswered"):
    """Engines without an answer, whose workers were lost, by what became of these."""

    engines: dict[Outcome, tuple[str, ...]]


class Disagreement(msgspec.Struct, frozen=True, tag_field="surprise", tag="disagreement"):
    """Engines, and perhaps the oracle, disagree though nothing in the scenario tells them apart.

    Each of ``one`` disagrees with each of ``other``, and with each of ``further`` sides; those of one
    side agree.
    """

    one: tuple[str, ...]
    other: tuple[str, ...]
    further: tuple[tuple[str, ...], ...] = ()


class Agreement(msgspec.Struct, frozen=True, tag_field="surprise", tag="agreement"):
    """Engines that the scenario expects to differ from the others agree; ``reason`` is its own."""

    engines: tuple[str, ...]
    reason: str


Surprise = Unanswered | Disagreement | Agreement
"""What is not as the scenario expects."""


class NotFiniteAlike(msgspec.Struct, frozen=True):
    """Elements of a gradient that are the same nan or infinity in every engine, and finite in truth.

    ``count`` is their number; the first has ``index``, the engines' ``value``, and the ``estimate``
    of central differences in float64: None along directions, where all of those are finite. At a kink
    (``at_kink``) there is no derivative.
    """

    leaf: str
    index: tuple[int, ...]
    count: int
    value: float
    estimate: float | None
    at_kink: bool = False


class CaseReport(msgspec.Struct, frozen=True, kw_only=True):
    """One case with every engine's result, and the verdict on them.

    ``expected`` says whether the verdict is what the scenario expects: there is no ``surprise``.
    ``reason`` says, in the scenario's words, why a difference is expected. ``oracle_agrees`` is
    None where it was not compared. ``groups`` are the distinct answers; an engine that did not
    answer is in none of them.
    ``apart`` are the engines whose answers differ, two by two. ``drawn`` names the tensors
    that depend on random numbers in every engine: each drew its own, so that shapes and dtypes were
    compared and values were not. ``not_finite_alike`` is what the oracle does not judge, since it is
    the same nan or infinity in every engine. ``has_two_nets`` says that the outputs of the two nets
    differ, so that the oracle, which differentiates one, judges the engines of that one alone.
    ``in_torch_table`` and ``in_mindspore_table`` say whether all values are within the frameworks'
    own tolerances; None
    where there are no two.
    """

    case: GradCase
    results: dict[str, Result]
    oracle: OracleResult
    oracle_agrees: bool | None
    verdict: CaseVerdict
    expected: bool
    reason: str = ""
    surprise: Surprise | None = None
    greatest: Difference | None = None
    groups: tuple[AnswerGroup, ...] = ()
    apart: tuple[tuple[str, str], ...] = ()
    drawn: tuple[str, ...] = ()
    not_finite_alike: tuple[NotFiniteAlike, ...] = ()
    has_two_nets: bool = False
    in_torch_table: bool | None = None
    in_mindspore_table: bool | None = None


class LeftOut(msgspec.Struct, frozen=True):
    """Cases that were not selected, or that no engine reached before the end.

    ``cause`` is the selection of cases that left them out, or what ended the job: its time limit
    or Ctrl-C. Of a selection, ``selection`` says which it was: "main" and "structure" were chosen;
    with "size" the explorer has chosen the latter, since ``total`` cases on a graph of ``op_nodes``
    take long.
    """

    cause: Literal["selected", "timed_out", "interrupted"]
    cases: tuple[GradCase, ...]
    selection: Literal["", "main", "structure", "size"] = ""
    total: int = 0
    op_nodes: int = 0


class Ungraphed(msgspec.Struct, frozen=True):
    """Why an engine has no graph; ``while_recorded``: the call raises only while it is recorded."""

    error: Failure
    while_recorded: bool = False


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the explorer found out about one scenario.

    ``versions`` are keyed by package, ``devices`` by engine; ``environments`` has the versions in each
    environment that engines name ("torch-tape@torch26"). ``graphs`` are those of one case, each
    engine's last stage last; ``ungraphed`` says, by engine, what went wrong when they were captured,
    and ``lost_graphs`` are those of these engines whose worker was lost over it.
    ``findings`` are about the nets themselves, and come before everything else.
    ``left_out`` are cases of the matrix that are not among ``cases``. ``state`` is what the call
    whose graphs these are leaves in the nets' buffers and counters.
    """

    schema: int = 1
    scenario: str
    title: str
    notes: str
    versions: dict[str, str]
    environments: dict[str, dict[str, str]] = {}
    devices: dict[str, str]
    inputs: tuple[Leaf, ...]
    parameters: tuple[Leaf, ...]
    findings: tuple[ReportFinding, ...] = ()
    cases: tuple[CaseReport, ...]
    left_out: tuple[LeftOut, ...] = ()
    graphs: tuple[GradGraph, ...] = ()
    ungraphed: dict[str, Ungraphed] = {}
    lost_graphs: tuple[str, ...] = ()
    alignments: tuple[Alignment, ...] = ()
    state: tuple[StateRow, ...] = ()

    def versions_of(self, engine: str) -> dict[str, str]:
        """The versions by package where an engine ran."""
        environment = environment_of(engine)
        return self.environments.get(environment, {}) if environment else self.versions

    @property
    def is_as_expected(self) -> bool:
        """Whether the scenario expects every case's verdict, every finding and divergence."""
        are_expected = [part.expected for part in self.cases]
        are_expected += [part.expected for part in self.alignments]
        are_expected += [not finding.is_alarm for finding in self.findings]
        return all(are_expected)
