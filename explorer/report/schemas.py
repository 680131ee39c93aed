"""JSON documents of records, and their JSON Schemas: one table says what both have.

A document has what its records have, unless FORMS says otherwise: values nest, an array is
lists of numbers or statistics, and a number that is not finite is a text.
"""

import inspect
import types
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, reduce
from operator import attrgetter, or_
from typing import Any, NamedTuple, TypedDict, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import field

from explorer.model.alignment import Alignment, Unpaired
from explorer.model.arrays import Array, Summary, unpack
from explorer.model.causes import Attempts, Cause, Edits, Mend, form_of
from explorer.model.claim import Board, ClaimRow, Observation
from explorer.model.divergence import Divergence
from explorer.model.failures import Failure
from explorer.model.findings import ReportFinding
from explorer.model.graph import GradGraph, Node, Output, Phase
from explorer.model.known import Reference
from explorer.model.measurement import Measured
from explorer.model.mended import Mended
from explorer.model.message import Text
from explorer.model.report import CaseReport, LeftOut, NotFiniteAlike, Report
from explorer.model.results import Estimate, Leaf, Obstacle, OracleResult, Result
from explorer.model.state import StateGroup, StateRow
from explorer.model.study import Chart, StudyRecord, Table
from explorer.model.training_comparison import TrainingComparison
from explorer.report.diff import absence_lines, case_of
from explorer.report.json import Document, array_document, to_builtins
from explorer.sweep.records import Change, Sweep
from explorer.text.clean import clean
from explorer.text.failures import message
from explorer.text.language import ENGLISH, _, said_in
from explorer.text.numbers import plain
from explorer.words import answers
from explorer.words.cases import reason
from explorer.words.causes import attempts_text, in_short, mend_texts
from explorer.words.causes import sentence as cause_sentence
from explorer.words.claims import advice_text, evidence_text, what_text
from explorer.words.coverage import not_compared, not_of_the_call
from explorer.words.divergences import Engines, every, going_on
from explorer.words.findings import sentence
from explorer.words.graphs import note as graph_note
from explorer.words.graphs import why_missing, why_no_graph
from explorer.words.known import title
from explorer.words.messages import study_text, text
from explorer.words.proofs import ProofCounts, last_stages, proofs
from explorer.words.readings import readings
from explorer.words.training import headline
from explorer.words.unpaired import detail

DIALECT = "https://json-schema.org/draft/2020-12/schema"

NUMBER = {"anyOf": [{"type": "number"}, {"enum": ["NaN", "Infinity", "-Infinity"]}]}
"""A number as documents have it: JSON lacks those that are not finite."""

Find = Callable[[Any], Any]  # of whichever record the form is of


class Form(msgspec.Struct, frozen=True):
    """What a document has of a record.

    ``name`` and ``text`` are what the schema says of it. ``keys`` are the keys in their order, apart
    by blanks: a field or property of the record, or a path of them, of which the last is the key;
    without any, all its fields. ``computed`` are the keys with a type and a function of their own.
    """

    name: str
    text: str
    keys: str = ""
    computed: dict[str, tuple[Any, Find]] = {}


class Mending(msgspec.Struct, frozen=True):
    """What to write in one of the nets, as a record and as code."""

    what: Mend
    code: str


class Explaining(msgspec.Struct, frozen=True):
    """The cause of a divergence between the graphs of two engines."""

    what: Cause
    engines: Engines

    @property
    def engine(self) -> str:
        """The engine whose op was computed again."""
        return self.engines[0] if self.what.side == "left" else self.engines[1]

    @property
    def sentence(self) -> str:
        """The cause in a sentence."""
        return cause_sentence(self.what, self.engines)

    @property
    def mends(self) -> list[Mending]:
        """What to write in either net, with its code."""
        codes = [mend.code for mend in mend_texts(self.what, self.engines)]
        return list(map(Mending, self.what.mends, codes))


class TriedChange(msgspec.Struct, frozen=True):
    """Edits of an op that were tried; ``apart`` is None of one that gives the other side's value."""

    edits: Edits
    op: str
    apart: float | None


class Trying(msgspec.Struct, frozen=True):
    """What was tried at a divergence between the graphs of two engines, and the cause if found."""

    what: Attempts
    found: Cause | None
    engines: Engines

    @property
    def engine(self) -> str:
        """The engine whose op was computed again."""
        return self.engines[0] if self.what.side == "left" else self.engines[1]

    @property
    def fitting(self) -> list[TriedChange]:
        """Changes that give the other side's value."""
        return [TriedChange(it.edits, it.op, None) for it in self.what.fitting]

    @property
    def nearest(self) -> list[TriedChange]:
        """The changes that come nearest to the other side's value without giving it."""
        return [TriedChange(it.edits, it.op, it.apart) for it in self.what.nearest]


class Stated(msgspec.Struct, frozen=True):
    """A divergence with its sentence, its cause where one was found, what was tried and what is known."""

    what: Divergence
    sentence: str
    cause: Explaining | None
    attempts: Trying | None = None
    known: tuple[Reference, ...] = ()


class Going(msgspec.Struct, frozen=True):
    """What the graphs of two engines show as if they were mended."""

    what: Mended
    engines: Engines
    behind: list[Stated]

    @property
    def sentence(self) -> str:
        """What was computed again, and what came of it."""
        return going_on(self.what, self.engines)


class Explained(msgspec.Struct, frozen=True):
    """An unpaired node of one of two engines' graphs."""

    what: Unpaired
    engines: Engines


class Judged(msgspec.Struct, frozen=True):
    """The oracle's estimates for a case, with what they say of it."""

    case: CaseReport


class Compared(msgspec.Struct, frozen=True):
    """A sweep, and what has changed since a recorded one."""

    sweep: Sweep
    changes: list[Change] | None


class ObservationDocument(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of evidence: what was measured, the value that was found, and of which parties."""

    what: str
    value: str = ""
    who: tuple[str, ...] = ()
    expected: bool | None = None


class ClaimDocument(ClaimRow, frozen=True, kw_only=True, omit_defaults=True):
    """A claim with its evidence in one line, and its advice."""

    advice: str
    evidence: str
    observations: tuple[ObservationDocument, ...] = ()  # type: ignore[assignment]  # with text alone
    not_run: dict[str, str] = field(default_factory=dict)  # type: ignore[assignment]  # evidence says it


def _claims(board: Board) -> list[ClaimDocument]:
    documents = []
    for row in board.rows:
        fields = msgspec.structs.asdict(row)
        fields.update(observations=tuple(map(_observation, row.observations)), not_run={})
        fields.update(evidence=evidence_text(row), advice=advice_text(row))
        documents.append(ClaimDocument(**fields))
    return documents


def _observation(observation: Observation) -> ObservationDocument:
    # Who gave it stays the very tuple that it was: msgspec leaves out the default itself alone.
    return ObservationDocument(
        what=what_text(observation),
        value=text(observation.value),
        who=observation.who,
        expected=observation.expected,
    )


def _stated(alignment: Alignment, *, as_if_mended: bool = False) -> list[Stated]:
    engines = alignment.left, alignment.right
    return [
        Stated(
            one.divergence,
            sentence,
            Explaining(one.cause, engines) if one.cause else None,
            Trying(one.attempts, one.cause, engines) if one.attempts else None,
            one.known,
        )
        for one, sentence in every(alignment)
        if (one.run > 0) == as_if_mended
    ]


def _going(alignment: Alignment) -> Going | None:
    behind = _stated(alignment, as_if_mended=True)
    mended = alignment.mended
    return Going(mended, (alignment.left, alignment.right), behind) if mended else None


def _explained(alignment: Alignment) -> list[Explained]:
    engines = alignment.left, alignment.right
    return [Explained(node, engines) for node in alignment.unpaired]


def _tag(stated: Stated) -> str:
    return str(type(stated.what).__struct_config__.tag)


def _ends(slot: int, name: str) -> Find:
    """What one side of a divergence has."""
    return lambda stated: getattr(stated.what.ends[slot], name)


def _reading(slot: int) -> Find:
    def read(stated: Stated) -> str:
        left, right = stated.what.ends
        return readings((left.value, right.value))[slot]

    return read


def _nodes(graph: GradGraph) -> Iterator[Document]:
    for node in graph.nodes:
        # Without its outputs, whose raw bytes JSON has no place for; the key keeps its own.
        document = to_builtins(msgspec.structs.replace(node, outputs=()))
        if node.missing:
            missing = node.missing.items()
            document["missing"] = {what: why_missing(absence) for what, absence in missing}
        document["outputs"] = document_of(node.outputs)
        yield document


def _elements(output: Output) -> Any:
    """All elements of a small tensor."""
    return None if output.whole is None else unpack(output.whole).tolist()


def _if_ok(name: str) -> Find:
    """A field of a result with outcome "ok"; null for others, and not "".

    A bare tensor's structure is a name, and could be any.
    """
    return lambda result: getattr(result, name) if result.outcome == "ok" else None


def _by_name(field: str) -> tuple[Any, Find]:
    """Leaves by their names."""
    return dict[str, Any], lambda report: {leaf.name: leaf for leaf in getattr(report, field)}


def _error(measured: Measured) -> Any:
    """The error without its line."""
    error = measured.error
    return {"type": error.type, "message": message(error)} if error else None


def _ungraphed(report: Report) -> dict[str, str]:
    return {engine: why_no_graph(why) for engine, why in report.ungraphed.items()}


def _proofs(report: Report) -> dict[str, ProofCounts]:
    return {graph.engine: proofs(graph) for graph in last_stages(report.graphs)}


def _form(name: str, text: str, keys: str = "", **computed: tuple[Any, Find]) -> Form:
    return Form(name, text, keys, computed)


FORMS: dict[type, Form] = {
    Report: _form(
        "ReportDocument",
        "Everything that was found out about one scenario.",
        "schema scenario title notes versions environments devices inputs parameters findings cases left_out"
        " graphs ungraphed proofs alignments state",
        inputs=_by_name("inputs"),
        parameters=_by_name("parameters"),
        proofs=(dict[str, ProofCounts], _proofs),
        ungraphed=(dict[str, str], _ungraphed),
    ),
    StateRow: _form(
        "State",
        "A buffer, a counter or another tensor that is not trained, and that the call of ``graphs``"
        " changes.\n\n``before`` are its values when the call begins.",
        "name before groups absent differs",
        before=(Any, attrgetter("before")),
        differs=(bool, attrgetter("differs")),
    ),
    StateGroup: _form(
        "StateGroup",
        "Engines that leave the same values in a tensor, and these values after the whole call.",
        "engines after",
        after=(Any, attrgetter("after")),
    ),
    CaseReport: _form(
        "Case",
        "One way to ask for gradients, every engine's answer, and the verdict on them.",
        "case.api case.grad_position case.weights case.has_aux case.order case.get_all"
        " case.get_by_list case.sens_param case.label case.short results oracle verdict expected"
        " reason greatest groups drawn in_torch_table in_mindspore_table",
        # A list distinguishes (0,) from 0.
        grad_position=(int | list[int] | None, attrgetter("case.grad_position")),
        oracle=(Judged, Judged),
        reason=(str, reason),
    ),
    Result: _form(
        "Answer",
        "An engine's answer to a case; ``values`` nest as ``structure`` says.",
        "outcome structure values natural ids error code note",
        structure=(str | None, _if_ok("written")),
        values=(Any, _if_ok("nested")),
        natural=(str | None, _if_ok("natural")),
        note=(str, answers.note),
    ),
    Failure: _form(
        "Failure",
        "Why an engine could not answer: the exception's type, message and, if known, the user's line.",
        "type message source",
        message=(str, message),
    ),
    Judged: _form(
        "Oracle",
        "What central differences in float64 of a net say of a case.\n\n"
        "``stops``: what the net cuts off from differentiation was held. ``has_two_nets``: the outputs"
        " of the\ntwo nets differ, so that MindSpore's engines are not judged. ``not_finite_alike``:"
        " elements that\nare the same nan or infinity in every engine, and are not judged."
        " ``framework``: whose net it is.\n``beside``: the same of the nets of other frameworks, each"
        " of which judges the engines of its own.",
        "case.oracle.outcome agrees case.oracle.estimates case.oracle.stops case.has_two_nets"
        " case.not_finite_alike case.oracle.error case.oracle.framework case.oracle.beside",
        agrees=(bool | None, attrgetter("case.oracle_agrees")),
    ),
    OracleResult: _form(
        "OracleOfNet",
        "What central differences in float64 of one framework's net say of a case.",
        "framework outcome estimates stops error",
    ),
    Estimate: _form(
        "Estimate",
        "Central differences of one leaf or of several together, along the axes or along"
        " directions.\n\n``at_kinks`` counts those of its values where there is no derivative, and"
        " ``not_finite`` those\nthat are no estimate. ``obstacles`` say of which elements there is none,"
        " and why.",
        "leaf together directions values at_kinks not_finite obstacles",
        leaf=(str, attrgetter("name")),
        values=(Any, attrgetter("value")),
    ),
    Obstacle: _form(
        "Obstacle",
        "Why central differences estimate nothing of ``count`` elements, of which the first has"
        " ``index``.",
        "kind count index",
    ),
    NotFiniteAlike: _form(
        "NotFiniteAlike",
        "Elements that are the same nan or infinity in every engine: their number, and the first with"
        "\nthe engines' value and the estimate; at a kink there is no derivative.",
        "leaf index count value estimate at_kink",
    ),
    ReportFinding: _form(
        "Finding",
        "Something about the nets that comes before the gradients; ``sentence`` says it in English.",
        "kind sentence names expected reason",
        sentence=(str, sentence),
    ),
    LeftOut: _form(
        "LeftOut",
        "Cases that were not asked, by their labels, and why.",
        "cause reason cases",
        reason=(str, answers.why_left_out),
        cases=(list[str], lambda left_out: [case.label for case in left_out.cases]),
    ),
    GradGraph: _form(
        "Graph",
        "One engine's gradient graph of one case, at one stage.",
        nodes=(list[Node], _nodes),
        notes=(list[str], lambda graph: list(map(graph_note, graph.notes))),
    ),
    Output: _form(
        "Output",
        "One tensor that a node yields; ``values`` nest as its shape does, null where it is large.",
        "shape dtype statistics values noise",
        statistics=(Summary | None, attrgetter("values")),
        values=(Any, _elements),
    ),
    Summary: _form(
        "Statistics",
        "Figures over the finite elements of a tensor; ``quantiles`` from least to greatest.",
        "minimum maximum mean norm zeros nonfinite quantiles",
    ),
    Alignment: _form(
        "AlignedGraphs",
        "Two engines' graphs of one case, side by side; ``same`` where nothing tells them apart.",
        "left right case pairs unpaired divergence differing left_coverage right_coverage further"
        " expected drawn altered mended same",
        unpaired=(list[Explained], _explained),
        divergence=(Stated | None, lambda alignment: next(iter(_stated(alignment)), None)),
        further=(list[Stated], lambda alignment: _stated(alignment)[1:]),
        mended=(Going | None, _going),
        same=(bool, attrgetter("is_same")),
    ),
    Going: _form(
        "AsIfMended",
        "What the graphs show once ``engine`` goes on with the other one's values where they"
        " differ.\n\n``behind`` are the divergences that were seen so, ``differing`` names the results"
        " that differ even then.\n``runs`` counts how often it was computed again, ``values`` the values"
        " that were put in at last;\n``not_put_in`` are the divergences at which there was none, and"
        ' ``end`` says what ended it, "" where\nnothing was left to do.',
        "what.engine what.runs what.values behind what.differing what.not_put_in what.end sentence",
    ),
    Stated: _form(
        "Divergence",
        "The earliest place whose inputs are equal on both sides and whose value is not.\n\n"
        "``left`` and ``right`` are node ids, null where a side has no counterpart. ``kind`` says"
        " what\nthe two have there, ``sentence`` says it in English. ``left_value`` and"
        " ``right_value`` read the\nelement that differs most, or the shapes where these differ."
        " ``greatest`` is the difference of\nthat element, ``ratio`` times the ``noise``; it ``is_least``"
        " where the elements are not known, and may\ndiffer by more. ``cause`` explains it, where"
        " something that was\ntried does; ``attempts`` say what was tried, and ``known`` are"
        " the\nclaims and surprises that are about it.",
        "left right phase kind sentence left_source right_source left_value right_value greatest"
        " is_least noise ratio cause attempts known",
        left=(str | None, _ends(0, "node")),
        right=(str | None, _ends(1, "node")),
        phase=(Phase, attrgetter("what.phase")),
        kind=(str, _tag),
        left_source=(str, _ends(0, "source")),
        right_source=(str, _ends(1, "source")),
        left_value=(str, _reading(0)),
        right_value=(str, _reading(1)),
        greatest=(float | None, attrgetter("what.gap.greatest")),
        is_least=(bool, attrgetter("what.gap.is_least")),
        noise=(float | None, attrgetter("what.gap.noise")),
        ratio=(float | None, attrgetter("what.gap.ratio")),
        cause=(Explaining | None, attrgetter("cause")),
        attempts=(Trying | None, attrgetter("attempts")),
        known=(list[Reference], attrgetter("known")),
    ),
    Reference: _form(
        "Known",
        "A claim, whose ``name`` is its number, or a surprise, whose ``name`` is that of its program in"
        " docs/surprises;\n``title`` is what the claim states, or the heading of the surprise.",
        "kind name title",
        title=(str, title),
    ),
    Mending: _form(
        "Mend",
        "What to write in the net of one side so that it does there what the other one does.",
        "what.side what.call arguments code",
        arguments=(dict[str, Any], attrgetter("what.arguments")),
    ),
    Trying: _form(
        "Attempts",
        "What was tried at a divergence, first of all with the op of ``engine``.\n\n``tried`` counts all"
        " changes, ``not_computed`` those with which the op raises. ``fitting`` are a few\nthat give the"
        " other side's value, ``nearest`` a few that do not. Not ``is_repeated``: computed again\nas it was,"
        " the op does not give its own value, and nothing follows.",
        "engine what.node what.op what.tried what.not_computed fitting nearest what.is_repeated"
        " sentence",
        sentence=(str, lambda made: attempts_text(made.what, made.found)),
    ),
    TriedChange: _form(
        "TriedChange",
        "Edits that were tried, and how far ``apart`` they leave the two values; null where they give"
        " the other\nside's value.",
        "kind edits apart sentence",
        kind=(str, lambda trial: form_of(trial.edits)),
        edits=(list[Any], lambda trial: to_builtins(trial.edits)),
        sentence=(str, lambda trial: in_short(trial.edits, trial.op)),
    ),
    Explaining: _form(
        "Cause",
        "What explains a divergence: with the ``edits`` the op of ``engine`` gives the other side's"
        " value. The two\nthen differ by ``greatest`` at most; ``kind`` says what they are together,"
        " ``proven`` how it is known, ``tried``\ncounts all that was tried, and ``sentence`` says it in"
        " English.",
        "engine node op kind edits proven greatest noise tried mends sentence",
        engine=(str, attrgetter("engine")),
        node=(str, attrgetter("what.node")),
        op=(str, attrgetter("what.op")),
        kind=(str, attrgetter("what.form")),
        edits=(list[Any], lambda stated: to_builtins(stated.what.edits)),
        proven=(str, attrgetter("what.proven")),
        greatest=(float, attrgetter("what.greatest")),
        noise=(float | None, attrgetter("what.noise")),
        tried=(int, attrgetter("what.tried")),
        mends=(list[Mending], attrgetter("mends")),
        sentence=(str, attrgetter("sentence")),
    ),
    Explained: _form(
        "Unpaired",
        "A node without a partner for its main value, and why; ``detail`` says it in English.",
        "what.side what.node what.reason detail",
        detail=(str, lambda node: detail(node.what, node.engines)),
    ),
    Measured: _form(
        "Measured",
        "The outcome of one measurement, and the code that ran.",
        "outcome figures timings graphs error code",
        error=(Any, _error),
    ),
    StudyRecord: _form(
        "StudyDocument",
        "One run of a study: what was measured, by name, and what it tells.",
        findings=(tuple[str, ...], attrgetter("findings")),
        tables=(tuple[Table[str], ...], attrgetter("tables")),
        charts=(tuple[Chart[str], ...], attrgetter("charts")),
    ),
    Board: _form(
        "BoardDocument",
        "Verdicts on the guides' statements, and what was measured for them.",
        rows=(list[ClaimDocument], _claims),
    ),
    Compared: _form(
        "SweepDocument",
        "What came of many jobs, and what has changed since a recorded sweep, null where none was"
        " given.",
        "sweep.schema sweep.date sweep.seconds sweep.versions sweep.rows sweep.unfinished"
        " sweep.warnings sweep.environments changes",
    ),
    TrainingComparison: Form(
        "TrainingComparison",
        "Two trainings beside each other: how each question was answered, and the first difference.",
        computed={"sentence": (str, headline)},
    ),
}
"""What documents have of records; records without a form are there with all their fields."""

DOCUMENTS: dict[str, tuple[type, type[msgspec.Struct]]] = {
    "report": (Report, Report),
    "study": (StudyRecord, StudyRecord),
    "board": (Board, Board),
    "sweep": (Compared, Sweep),
    "trainings": (TrainingComparison, TrainingComparison),
}
"""The kinds of documents: the record of each, and the one that has the version of its form."""


class Key(NamedTuple):
    """A key of a document: its type, and what finds its value in the record."""

    hint: Any
    find: Find


@lru_cache
def _keys(record: type) -> dict[str, Key]:
    form = FORMS[record]
    paths = form.keys.split() or [*record.__struct_fields__]  # type: ignore[attr-defined]  # a Struct
    keys = {}
    for path in paths:
        name = path.rpartition(".")[2]
        if name not in form.computed:
            keys[name] = Key(_hint(record, path), attrgetter(path))
        else:
            keys[name] = Key(*form.computed[name])
    for name, (hint, find) in form.computed.items():
        keys.setdefault(name, Key(hint, find))
    return keys


def _hint(record: Any, path: str) -> Any:
    """The type of a field or property, at the end of a path of them."""
    for name in path.split("."):
        hints = get_type_hints(record)
        found = hints.get(name)
        record = found or get_type_hints(getattr(record, name).fget)["return"]
    return record


def document_of(value: Any) -> Any:
    """A record, or records, as plain data; arrays are numbers or statistics."""
    record: type = type(value)
    if record in FORMS:
        return {name: document_of(key.find(value)) for name, key in _keys(record).items()}
    if isinstance(value, Leaf):
        return array_document(value.value)
    if isinstance(value, Array):
        return array_document(value)
    if isinstance(value, msgspec.Struct):
        return plain(to_builtins(value))
    if isinstance(value, dict):
        return {str(key): document_of(item) for key, item in value.items()}
    if isinstance(value, list | tuple | Iterator):
        return list(map(document_of, value))
    return plain(value)


@said_in(ENGLISH)
def report_document(report: Report) -> Document:
    """The report as plain data.

    ``values`` of a result nest like its ``structure``. A ``grad_position`` is null, an int, or a
    list of ints: ``0`` is the int, ``[0]`` the 1-tuple.
    """
    return dict(document_of(report))


@said_in(ENGLISH)
def graph_document(graph: GradGraph) -> Document:
    """A gradient graph as plain data.

    The values of a node's output are statistics, with all elements under "values" when small.
    """
    return dict(document_of(graph))


@said_in(ENGLISH)
def study_document(record: StudyRecord[Text]) -> Document:
    """The record of a study as plain data."""
    return dict(document_of(study_text(record)))


@said_in(ENGLISH)
def board_document(board: Board) -> Document:
    """The board as plain data, with every figure and the code that found it."""
    return dict(document_of(board))


def sweep_document(sweep: Sweep, changes: Iterable[Change] | None = None) -> Document:
    """A sweep as plain data, which ``explorer sweep --against`` reads.

    "changes" is null where it was not compared with a recorded one.
    """
    return dict(document_of(Compared(sweep, None if changes is None else list(changes))))


@said_in(ENGLISH)
def trainings_document(comparison: TrainingComparison) -> Document:
    """The comparison of two trainings as plain data; "sentence" says the first difference."""
    return dict(document_of(comparison))


@said_in(ENGLISH)
def diff_document(report: Report, alignment: Alignment) -> Document:
    """An alignment as plain data, under the scenario that it was made on.

    "verdict" is that on the results of the calls, null for traces. "remark" says in words, in English,
    what was not compared, and "ungraphed" why an engine gave no graph.
    """
    case = case_of(report, alignment)
    head = {
        "schema": report.schema,
        "scenario": report.scenario,
        "verdict": case.verdict if case else None,
        "findings": document_of(report.findings),
        "remark": not_compared(alignment) or not_of_the_call(alignment),
        "ungraphed": {},
    }
    if alignment.missing:
        engines = alignment.left, alignment.right
        head["remark"] = clean(_("; ").join(absence_lines(report, engines)))
        head["ungraphed"] = {name: _ungraphed(report).get(name, "") for name in alignment.missing}
    return {**head, **document_of(alignment)}


def schema(kind: str) -> Document:
    """The schema of a kind of document; its ``$id`` names the kind and the version."""
    record, versioned = DOCUMENTS[kind]
    version = msgspec.structs.fields(versioned)[0].default
    made = msgspec.json.schema(_described(record))
    # What a node yields is in documents another record than the one that a worker sends.
    parts = {**made["$defs"], **msgspec.json.schema(_described(Output))["$defs"]}
    for name in ("Summary", "Array"):
        parts.pop(name, None)
    if "Absence" in parts:
        parts["Absence"] = {"type": "string", "description": "Why something of a node is missing."}
    return {
        "$schema": DIALECT,
        "$id": f"urn:autodiff-explorer:{kind}:{version}",
        "$ref": f"#/$defs/{FORMS[record].name}",
        "$defs": {part: _as_in_json(content) for part, content in parts.items()},
    }


def _described(hint: Any) -> Any:
    """A type as documents have it, with forms in place of their records."""
    if hint in FORMS:
        return _typed_dict(hint)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (list, tuple):
        return list[_described(arguments[0])]  # type: ignore[misc]  # made as it runs
    if origin is dict:
        return dict[str, _described(arguments[1])]  # type: ignore[misc]  # made as it runs
    if origin in (Union, types.UnionType):
        return reduce(or_, map(_described, arguments))
    return hint


@lru_cache
def _typed_dict(record: type) -> Any:
    form = FORMS[record]
    hints = {name: _described(key.hint) for name, key in _keys(record).items()}
    made = TypedDict(form.name, hints)  # type: ignore[misc]  # made as it runs
    made.__doc__ = form.text
    return made


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
