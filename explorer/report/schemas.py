"""JSON Schemas of the documents that ``--json`` prints and ``--format json`` writes.

They are made of the records, and of what documents say otherwise than these: values nest, an array is
lists of numbers or statistics, and a number that is not finite is a text.
"""

import inspect
from typing import Any, TypedDict

import msgspec

from explorer.model.alignment import Coverage, Pair
from explorer.model.claim import Board, ClaimRow
from explorer.model.findings import FindingKind
from explorer.model.graph import Edge, Node, Phase
from explorer.model.report import AnswerGroup, CaseVerdict, Difference, Report
from explorer.model.results import Outcome
from explorer.model.sides import SideName
from explorer.model.study import Chart, StudyRecord, Table
from explorer.model.unpaired import Reason
from explorer.report.json import Document
from explorer.sweep.records import Change, Sweep, SweepRow
from explorer.words.proofs import ProofCounts

DIALECT = "https://json-schema.org/draft/2020-12/schema"

NUMBER = {"anyOf": [{"type": "number"}, {"enum": ["NaN", "Infinity", "-Infinity"]}]}
"""A number as documents have it: JSON lacks those that are not finite."""


class Statistics(TypedDict):
    """Figures over the finite elements of a tensor; ``quantiles`` from least to greatest."""

    minimum: float
    maximum: float
    mean: float
    norm: float
    zeros: int
    nonfinite: int
    quantiles: list[float]


class Output(TypedDict):
    """One tensor that a node yields; ``values`` nest as its shape does, null where it is large."""

    shape: list[int]
    dtype: str
    statistics: Statistics | None
    values: Any
    noise: float | None


class Graph(TypedDict):
    """One engine's gradient graph of one case, at one stage."""

    engine: str
    case: str
    stage: str
    nodes: list[Node]
    edges: list[Edge]
    notes: list[str]


class Failure(TypedDict):
    """Why an engine could not answer: the exception's type and message, and the user's line."""

    type: str
    message: str
    source: str


class Answer(TypedDict):
    """An engine's answer to a case; ``values`` nest as ``structure`` says."""

    outcome: Outcome
    structure: str | None
    values: Any
    natural: str | None
    ids: list[str]
    error: Failure | None
    code: str
    note: str


class Estimate(TypedDict):
    """Central differences of one leaf or of several together, along the axes or along directions.

    ``at_kinks`` counts those of its values where there is no derivative, and ``not_finite`` those
    that are no estimate, since the net is not finite there.
    """

    leaf: str
    together: list[str]
    directions: list[list[Any]] | Any
    values: Any
    at_kinks: int
    not_finite: int


class Oracle(TypedDict):
    """What central differences in float64 say of a case.

    ``stops``: what the net cuts off from PyTorch's tape was held.
    """

    outcome: str
    agrees: bool | None
    estimates: list[Estimate]
    stops: bool
    error: Failure | None


class Case(TypedDict):
    """One way to ask for gradients, every engine's answer, and the verdict on them."""

    api: str
    grad_position: int | list[int] | None
    weights: str | None
    has_aux: bool
    order: int
    get_all: bool
    get_by_list: bool
    sens_param: bool
    label: str
    short: str
    results: dict[str, Answer]
    oracle: Oracle
    verdict: CaseVerdict
    expected: bool
    reason: str
    greatest: Difference | None
    groups: list[AnswerGroup]
    drawn: list[str]
    in_torch_table: bool | None
    in_mindspore_table: bool | None


class Finding(TypedDict):
    """Something about the nets that comes before the gradients; ``sentence`` says it in English."""

    kind: FindingKind
    sentence: str
    names: list[str]
    expected: bool
    reason: str


class Divergence(TypedDict):
    """The earliest place whose inputs are equal on both sides and whose value is not.

    ``left`` and ``right`` are node ids, null where a side has no counterpart. ``kind`` says what
    the two have there, ``sentence`` says it in English. ``left_value`` and ``right_value`` read the
    element that differs most, or the shapes where these differ. ``greatest`` is the difference of
    that element, ``ratio`` times the ``noise``.
    """

    left: str | None
    right: str | None
    phase: Phase
    kind: str
    sentence: str
    left_source: str
    right_source: str
    left_value: str
    right_value: str
    greatest: float | None
    noise: float | None
    ratio: float | None


class Unpaired(TypedDict):
    """A node without a partner for its main value, and why; ``detail`` says it in English."""

    side: SideName
    node: str
    reason: Reason
    detail: str


class AlignedGraphs(TypedDict):
    """Two engines' graphs of one case, side by side; ``same`` where nothing tells them apart."""

    left: str
    right: str
    case: str
    pairs: list[Pair]
    unpaired: list[Unpaired]
    divergence: Divergence | None
    differing: list[str]
    left_coverage: Coverage
    right_coverage: Coverage
    further: list[Divergence]
    expected: bool
    drawn: list[str]
    same: bool


class LeftOut(TypedDict):
    """Cases that were not asked, by their labels, and why."""

    cause: str
    reason: str
    cases: list[str]


class ReportDocument(TypedDict):
    """Everything that was found out about one scenario."""

    schema: int
    scenario: str
    title: str
    notes: str
    versions: dict[str, str]
    devices: dict[str, str]
    inputs: dict[str, Any]
    parameters: dict[str, Any]
    findings: list[Finding]
    cases: list[Case]
    left_out: list[LeftOut]
    graphs: list[Graph]
    ungraphed: dict[str, str]
    proofs: dict[str, ProofCounts]
    alignments: list[AlignedGraphs]


class Measured(TypedDict):
    """The outcome of one measurement, and the code that ran."""

    outcome: Outcome
    figures: dict[str, Any]
    timings: dict[str, float]
    graphs: list[Graph]
    error: Any
    code: str


class StudyDocument(TypedDict):
    """One run of a study: what was measured, by name, and what it tells."""

    schema: int
    study: str
    title: str
    question: str
    scenario: str
    device: str
    versions: dict[str, str]
    measured: dict[str, Measured]
    findings: list[str]
    tables: list[Table]
    charts: list[Chart]


class BoardDocument(TypedDict):
    """Verdicts on the guides' statements, and what was measured for them."""

    schema: int
    date: str
    versions: dict[str, str]
    rows: list[ClaimRow]
    measured: dict[str, Measured]


class SweepDocument(TypedDict):
    """What came of many jobs, and what has changed since a recorded sweep, null where none was given."""

    schema: int
    date: str
    seconds: float
    versions: dict[str, str]
    rows: list[SweepRow]
    unfinished: list[str]
    warnings: list[str]
    changes: list[Change] | None


DOCUMENTS: dict[str, tuple[Any, int]] = {
    "report": (ReportDocument, msgspec.structs.fields(Report)[0].default),
    "study": (StudyDocument, msgspec.structs.fields(StudyRecord)[0].default),
    "board": (BoardDocument, msgspec.structs.fields(Board)[0].default),
    "sweep": (SweepDocument, msgspec.structs.fields(Sweep)[0].default),
}
"""The kinds of documents: what each looks like, and the version that its key "schema" names."""


def schema(kind: str) -> Document:
    """The schema of a kind of document; its ``$id`` names the kind and the version."""
    document, version = DOCUMENTS[kind]
    made = msgspec.json.schema(document)
    # What a node yields is in documents another record than the one that a worker sends.
    outputs = msgspec.json.schema(Output)["$defs"]
    parts = {**made["$defs"], **outputs}
    for name in ("Summary", "Array"):
        parts.pop(name, None)
    name = made["$ref"].rpartition("/")[2]
    return {
        "$schema": DIALECT,
        "$id": f"urn:autodiff-explorer:{kind}:{version}",
        "$ref": f"#/$defs/{name}",
        "$defs": {part: _as_in_json(content) for part, content in parts.items()},
    }


def _as_in_json(part: Any) -> Any:
    """A part of a schema with numbers as documents have them, and descriptions without indentation."""
    if isinstance(part, list):
        return [_as_in_json(item) for item in part]
    if not isinstance(part, dict):
        return part
    if part.get("type") == "number":
        return NUMBER
    made = {key: _as_in_json(value) for key, value in part.items()}
    if isinstance(made.get("description"), str):
        made["description"] = inspect.cleandoc(made["description"])
    return made
