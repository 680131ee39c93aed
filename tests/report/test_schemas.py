"""What documents look like is what their schemas say, and what is otherwise is refused."""

import copy
from typing import Any

import jsonschema
import msgspec
import pytest

from explorer.model.findings import LoneStart, ReportFinding
from explorer.model.report import Report
from explorer.report.json import Document, encode
from explorer.report.schemas import board_document, report_document, schema, study_document
from tests.report.test_scenario_json import with_groups
from tests.report.test_study import RECORD
from tests.support.deep_nets import SPOILED, deep_report, with_arguments
from tests.support.explained import explained_report
from tests.support.sample_board import BOARD
from tests.support.sample_report import report


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
    further = msgspec.structs.replace(alignment, further=(alignment.divergence,))
    finding = ReportFinding(fact=LoneStart("w", "torch"), names=("w",))
    return msgspec.structs.replace(whole, alignments=(further,), findings=(finding,))


@pytest.mark.parametrize(
    ("kind", "document"),
    [
        ("report", report_document(report())),
        ("report", report_document(deep_report(2))),
        ("report", report_document(with_groups())),
        ("report", report_document(differing())),
        ("report", report_document(explained_report(differing()))),
        ("report", report_document(explained_report(differing(), has_cause=False))),
        ("report", report_document(with_arguments(deep_report(2)))),
        ("board", board_document(BOARD)),
        ("study", study_document(RECORD)),
    ],
)
def test_documents_are_as_their_schemas_say(kind: str, document: Document) -> None:
    validator(kind).validate(written(document))


@pytest.mark.parametrize("key", ["groups", "verdict", "greatest"])
def test_a_case_without_one_of_its_keys_is_refused(key: str) -> None:
    document = written(report_document(with_groups()))
    del document["cases"][0][key]
    with pytest.raises(jsonschema.ValidationError):
        validator("report").validate(document)


@pytest.mark.parametrize(
    ("part", "key"),
    [
        ("divergence", "kind"),
        ("divergence", "sentence"),
        ("further", "left_value"),
        ("unpaired", "detail"),
    ],
)
def test_an_alignment_without_one_of_its_keys_is_refused(part: str, key: str) -> None:
    document = written(report_document(differing()))
    found = document["alignments"][0][part]
    del (found[0] if isinstance(found, list) else found)[key]
    with pytest.raises(jsonschema.ValidationError):
        validator("report").validate(document)


def test_a_finding_s_sentence_is_required() -> None:
    document = written(report_document(differing()))
    del document["findings"][0]["sentence"]
    with pytest.raises(jsonschema.ValidationError):
        validator("report").validate(document)


def test_a_number_that_is_not_finite_is_a_text_and_no_other_is() -> None:
    document = written(report_document(deep_report(2)))
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


@pytest.mark.parametrize("key", ["cases", "graphs", "versions", "schema"])
def test_what_is_missing_is_refused(key: str) -> None:
    document = copy.deepcopy(written(report_document(report())))
    del document[key]
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
