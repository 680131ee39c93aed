"""What documents look like is what their schemas say, and what is otherwise is refused."""

import copy
from collections.abc import Callable
from functools import cache
from typing import Any

import jsonschema
import msgspec
import pytest

from explorer.model.findings import LoneStart, ReportFinding
from explorer.model.report import Report
from explorer.report.json import Document, encode
from explorer.report.schemas import board_document, report_document, schema, study_document
from tests.report.test_scenario_json import with_groups
from tests.support.deep_nets import SPOILED, deep_report, with_arguments
from tests.support.explained import explained_report
from tests.support.sample_board import BOARD
from tests.support.sample_report import report
from tests.support.sample_study import RECORD


def validator(kind: str) -> Any:
    return jsonschema.Draft202012Validator(schema(kind))


def written(document: Document) -> Document:
    decoded: Document = msgspec.json.decode(encode(document))
    return decoded


def differing() -> Report:
    """A report with divergences, nodes without a partner and a finding."""
    whole = deep_report(2, SPOILED)
    (alignment,) = whole.alignments
    assert alignment.divergence
    assert alignment.unpaired
    further = msgspec.structs.replace(alignment, seen=alignment.seen * 2)
    finding = ReportFinding(fact=LoneStart("w", "torch"), names=("w",))
    return msgspec.structs.replace(whole, alignments=(further,), findings=(finding,))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "make"),
    [
        ("report", lambda: report_document(report())),
        ("report", lambda: report_document(with_groups())),
        ("report", lambda: report_document(explained_report(differing()))),
        ("report", lambda: report_document(explained_report(differing(), has_cause=False))),
        ("report", lambda: report_document(with_arguments(deep_report(2)))),
        ("board", lambda: board_document(BOARD)),
        ("study", lambda: study_document(RECORD)),
    ],
)
def test_documents_are_as_their_schemas_say(kind: str, make: Callable[[], Document]) -> None:
    validator(kind).validate(written(make()))


def test_a_number_that_is_not_finite_is_a_text_and_no_other_is() -> None:
    document = written(report_document(report()))
    for part in (document["cases"], document["graphs"], document["graphs"][0]["nodes"]):
        del part[1:]
    figures = document["graphs"][0]["nodes"][0]["outputs"][0]["statistics"]
    figures["norm"] = "Infinity"
    validator("report").validate(document)
    figures["norm"] = "large"
    with pytest.raises(jsonschema.ValidationError):
        validator("report").validate(document)


def test_an_infinite_setting_and_arguments_are_in_the_document() -> None:
    graph = written(report_document(with_arguments(deep_report(2))))["graphs"][0]
    settings = graph["layers"]["blocks.0.fc"]["settings"]
    assert settings == {"eps": 1e-5, "stride": [2, 2], "pad": "-Infinity"}
    products = [node for node in graph["nodes"] if node["op"] == "aten.mm"]
    assert all(node["arguments"] == {"eps": 1e-5, "dim": [0, 1]} for node in products)


@cache
def valid() -> Document:
    """A document with all parts, which is as its schema says."""
    whole = msgspec.structs.replace(differing(), cases=with_groups().cases)
    document = written(report_document(whole))
    validator("report").validate(document)
    return document


@pytest.mark.parametrize(
    "place",
    [
        ("cases",),
        ("graphs",),
        ("versions",),
        ("schema",),
        ("cases", 0, "groups"),
        ("cases", 0, "verdict"),
        ("cases", 0, "greatest"),
        ("alignments", 0, "divergence", "kind"),
        ("alignments", 0, "divergence", "sentence"),
        ("alignments", 0, "further", 0, "left_value"),
        ("alignments", 0, "unpaired", 0, "detail"),
        ("findings", 0, "sentence"),
    ],
    ids=lambda place: " ".join(map(str, place)),
)
def test_what_is_missing_is_refused(place: tuple[Any, ...]) -> None:
    document = copy.deepcopy(valid())
    *path, key = place
    part: Any = document
    for step in path:
        part = part[step]
    del part[key]
    with pytest.raises(jsonschema.ValidationError):
        validator("report").validate(document)


def test_a_document_has_the_cause_with_its_code_and_what_was_tried() -> None:
    whole = written(report_document(explained_report(differing())))
    divergence = whole["alignments"][0]["divergence"]
    cause, attempts = divergence["cause"], divergence["attempts"]
    assert (cause["kind"], cause["proven"], cause["tried"]) == ("arguments", "computed_again", 61)
    assert [mend["code"] for mend in cause["mends"]] == [
        "nn.BatchNorm2d(eps=0.01)",
        "nn.BatchNorm2d(eps=1e-05)",
    ]
    assert (attempts["engine"], attempts["tried"], attempts["not_computed"]) == (
        "torch-tape",
        61,
        3,
    )
    assert [trial["apart"] for trial in attempts["nearest"]] == [0.25, 0.5]
    assert [trial["apart"] for trial in attempts["fitting"]] == [None]
