"""The JSON documents: what each looks like, how it is made of records, and its JSON Schema.

A document has what its records have, but for what the descriptions here say otherwise: values
nest, an array is lists of numbers or statistics, and a number that is not finite is a text.
"""

import inspect
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, TypedDict

import msgspec

from explorer.model.alignment import Alignment, Coverage, Pair
from explorer.model.arrays import unpack
from explorer.model.claim import Board, ClaimRow
from explorer.model.divergence import Divergence as DivergenceFact
from explorer.model.findings import FindingKind
from explorer.model.graph import Edge, GradGraph, Node, Phase
from explorer.model.graph import Output as NodeOutput
from explorer.model.report import AnswerGroup, CaseVerdict, Difference, Report
from explorer.model.results import Failure, Leaf, Outcome, Result
from explorer.model.sides import SideName
from explorer.model.study import Chart, StudyRecord, Table
from explorer.model.unpaired import Reason
from explorer.model.unpaired import Unpaired as UnpairedNode
from explorer.report.json import By, Document, document_of, to_builtins
from explorer.sweep.records import Change, Sweep, SweepRow
from explorer.text.language import ENGLISH, said_in
from explorer.words.cases import reason
from explorer.words.coverage import not_compared
from explorer.words.divergences import Engines, divergences
from explorer.words.findings import sentence
from explorer.words.proofs import ProofCounts, last_stages, proofs
from explorer.words.readings import reading
from explorer.words.unpaired import detail

DIALECT = "https://json-schema.org/draft/2020-12/schema"

NUMBER = {"anyOf": [{"type": "number"}, {"enum": ["NaN", "Infinity", "-Infinity"]}]}
"""A number as documents have it: JSON lacks those that are not finite."""


def _elements(output: NodeOutput) -> Any:
    """All elements of a small tensor."""
    whole = output.values.whole if output.values else None
    return None if whole is None else unpack(whole).tolist()


def _nodes(graph: GradGraph) -> Iterator[Document]:
    for node in graph.nodes:
        # Without its outputs, whose raw bytes JSON has no place for; the key keeps its own.
        document = to_builtins(msgspec.structs.replace(node, outputs=()))
        document["outputs"] = [document_of(output, Output) for output in node.outputs]
        yield document


def _where_ok(name: str) -> By:
    """A field of a result with outcome "ok"; null for others, and not "".

    A bare tensor's structure is a name, and could be any.
    """

    def find(result: Result) -> Any:
        return getattr(result, name) if result.outcome == "ok" else None

    return By(find)


class _Stated(msgspec.Struct, frozen=True):
    """A divergence with its sentence."""

    what: DivergenceFact
    sentence: str

    @property
    def kind(self) -> str:
        """The tag of its type."""
        return str(type(self.what).__struct_config__.tag)


def _stated(alignment: Alignment) -> list[_Stated]:
    return list(map(_Stated, alignment.divergences, divergences(alignment)))


def _first_stated(alignment: Alignment) -> _Stated | None:
    return next(iter(_stated(alignment)), None)


def _value_of(slot: int) -> By:
    """What one side has at a divergence."""

    def find(stated: _Stated) -> str:
        return reading(stated.what.ends[slot].value)

    return By(find)


def _end(slot: int, name: str) -> By:
    def find(stated: _Stated) -> Any:
        return getattr(stated.what.ends[slot], name)

    return By(find)


class _Explained(msgspec.Struct, frozen=True):
    """An unpaired node of one of two engines' graphs."""

    what: UnpairedNode
    engines: Engines

    @property
    def detail(self) -> str:
        """Why it is unpaired."""
        return detail(self.what, self.engines)


def _unpaired(alignment: Alignment) -> Iterator[_Explained]:
    for node in alignment.unpaired:
        yield _Explained(node, (alignment.left, alignment.right))


def _by_name(leaves: Iterable[Leaf]) -> dict[str, Leaf]:
    return {leaf.name: leaf for leaf in leaves}


def _proofs(report: Report) -> dict[str, ProofCounts]:
    return {graph.engine: proofs(graph) for graph in last_stages(report.graphs)}


def _error(measured: Any) -> dict[str, str] | None:
    """The error without its line."""
    error = measured.error
    return {"type": error.type, "message": error.message} if error else None


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
    statistics: Annotated[Statistics | None, By("values")]
    values: Annotated[Any, By(_elements)]
    noise: float | None


class Graph(TypedDict):
    """One engine's gradient graph of one case, at one stage."""

    engine: str
    case: str
    stage: str
    nodes: Annotated[list[Node], By(_nodes)]
    edges: list[Edge]
    notes: list[str]


class Answer(TypedDict):
    """An engine's answer to a case; ``values`` nest as ``structure`` says."""

    outcome: Outcome
    structure: Annotated[str | None, _where_ok("written")]
    values: Annotated[Any, _where_ok("nested")]
    natural: Annotated[str | None, _where_ok("natural")]
    ids: list[str]
    error: Failure | None
    code: str
    note: str


class Estimate(TypedDict):
    """Central differences of one leaf or of several together, along the axes or along directions.

    ``at_kinks`` counts those of its values where there is no derivative, and ``not_finite`` those
    that are no estimate, since the net is not finite there.
    """

    leaf: Annotated[str, By("name")]
    together: list[str]
    directions: list[list[Any]] | Any
    values: Annotated[Any, By("value")]
    at_kinks: int
    not_finite: int


class Oracle(TypedDict):
    """What central differences in float64 say of a case.

    ``stops``: what the net cuts off from PyTorch's tape was held.
    """

    outcome: Annotated[str, By("oracle.outcome")]
    agrees: Annotated[bool | None, By("oracle_agrees")]
    estimates: Annotated[list[Estimate], By("oracle.estimates")]
    stops: Annotated[bool, By("oracle.stops")]
    error: Annotated[Failure | None, By("oracle.error")]


class Case(TypedDict):
    """One way to ask for gradients, every engine's answer, and the verdict on them."""

    api: Annotated[str, By("case.api")]
    # A list distinguishes (0,) from 0.
    grad_position: Annotated[int | list[int] | None, By("case.grad_position")]
    weights: Annotated[str | None, By("case.weights")]
    has_aux: Annotated[bool, By("case.has_aux")]
    order: Annotated[int, By("case.order")]
    get_all: Annotated[bool, By("case.get_all")]
    get_by_list: Annotated[bool, By("case.get_by_list")]
    sens_param: Annotated[bool, By("case.sens_param")]
    label: Annotated[str, By("case.label")]
    short: Annotated[str, By("case.short")]
    results: dict[str, Answer]
    oracle: Annotated[Oracle, By(lambda case: case)]
    verdict: CaseVerdict
    expected: bool
    reason: Annotated[str, By(reason)]
    greatest: Difference | None
    groups: list[AnswerGroup]
    drawn: list[str]
    in_torch_table: bool | None
    in_mindspore_table: bool | None


class Finding(TypedDict):
    """Something about the nets that comes before the gradients; ``sentence`` says it in English."""

    kind: FindingKind
    sentence: Annotated[str, By(sentence)]
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

    left: Annotated[str | None, _end(0, "node")]
    right: Annotated[str | None, _end(1, "node")]
    phase: Annotated[Phase, By("what.phase")]
    kind: str
    sentence: str
    left_source: Annotated[str, _end(0, "source")]
    right_source: Annotated[str, _end(1, "source")]
    left_value: Annotated[str, _value_of(0)]
    right_value: Annotated[str, _value_of(1)]
    greatest: Annotated[float | None, By("what.gap.greatest")]
    noise: Annotated[float | None, By("what.gap.noise")]
    ratio: Annotated[float | None, By("what.gap.ratio")]


class Unpaired(TypedDict):
    """A node without a partner for its main value, and why; ``detail`` says it in English."""

    side: Annotated[SideName, By("what.side")]
    node: Annotated[str, By("what.node")]
    reason: Annotated[Reason, By("what.reason")]
    detail: str


class AlignedGraphs(TypedDict):
    """Two engines' graphs of one case, side by side; ``same`` where nothing tells them apart."""

    left: str
    right: str
    case: str
    pairs: list[Pair]
    unpaired: Annotated[list[Unpaired], By(_unpaired)]
    divergence: Annotated[Divergence | None, By(_first_stated)]
    differing: list[str]
    left_coverage: Coverage
    right_coverage: Coverage
    further: Annotated[list[Divergence], By(lambda alignment: _stated(alignment)[1:])]
    expected: bool
    drawn: list[str]
    same: Annotated[bool, By("is_same")]


class LeftOut(TypedDict):
    """Cases that were not asked, by their labels, and why."""

    cause: str
    reason: str
    cases: Annotated[list[str], By(lambda left_out: [case.label for case in left_out.cases])]


class ReportDocument(TypedDict):
    """Everything that was found out about one scenario."""

    schema: int
    scenario: str
    title: str
    notes: str
    versions: dict[str, str]
    devices: dict[str, str]
    inputs: Annotated[dict[str, Any], By(lambda report: _by_name(report.inputs))]
    parameters: Annotated[dict[str, Any], By(lambda report: _by_name(report.parameters))]
    findings: list[Finding]
    cases: list[Case]
    left_out: list[LeftOut]
    graphs: list[Graph]
    ungraphed: dict[str, str]
    proofs: Annotated[dict[str, ProofCounts], By(_proofs)]
    alignments: list[AlignedGraphs]


class Measured(TypedDict):
    """The outcome of one measurement, and the code that ran."""

    outcome: Outcome
    figures: dict[str, Any]
    timings: dict[str, float]
    graphs: list[Graph]
    error: Annotated[Any, By(_error)]
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
    changes: Annotated[list[Change] | None, By(lambda _sweep: None)]


DOCUMENTS: dict[str, tuple[Any, int]] = {
    "report": (ReportDocument, msgspec.structs.fields(Report)[0].default),
    "study": (StudyDocument, msgspec.structs.fields(StudyRecord)[0].default),
    "board": (BoardDocument, msgspec.structs.fields(Board)[0].default),
    "sweep": (SweepDocument, msgspec.structs.fields(Sweep)[0].default),
}
"""The kinds of documents: what each looks like, and the version that its key "schema" names."""


@said_in(ENGLISH)
def report_document(report: Report) -> Document:
    """The report as plain data.

    ``values`` of a result nest like its ``structure``. A ``grad_position`` is null, an int, or a
    list of ints: ``0`` is the int, ``[0]`` the 1-tuple.
    """
    return document_of(report, ReportDocument)


def graph_document(graph: GradGraph) -> Document:
    """A gradient graph as plain data.

    The values of a node's output are statistics, with all elements under "values" when small.
    """
    return document_of(graph, Graph)


def study_document(record: StudyRecord) -> Document:
    """The record of a study as plain data."""
    return document_of(record, StudyDocument)


def board_document(board: Board) -> Document:
    """The board as plain data, with every figure and the code that found it."""
    return document_of(board, BoardDocument)


def sweep_document(sweep: Sweep, changes: Iterable[Change] | None = None) -> Document:
    """A sweep as plain data, which ``explorer sweep --against`` reads.

    "changes" is null where it was not compared with a recorded one.
    """
    document = document_of(sweep, SweepDocument)
    document["changes"] = None if changes is None else to_builtins(list(changes))
    return document


@said_in(ENGLISH)
def diff_document(report: Report, alignment: Alignment) -> Document:
    """An alignment as plain data, under the scenario that it was made on.

    "remark" says in words, in English, what was not compared.
    """
    head = {
        "schema": report.schema,
        "scenario": report.scenario,
        "findings": [document_of(finding, Finding) for finding in report.findings],
        "remark": not_compared(alignment),
    }
    return {**head, **document_of(alignment, AlignedGraphs)}


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
