"""What documents look like is what their schemas say, and what is otherwise is refused."""

import copy
from typing import Any

import jsonschema
import msgspec
import pytest

from explorer.report.claims.json import board_document
from explorer.report.json import Document, encode
from explorer.report.scenario.json import report_document
from explorer.report.schemas import schema
from explorer.report.study.json import study_document
from tests.report.test_scenario_json import with_groups
from tests.report.test_study import RECORD
from tests.support.deep_nets import deep_report
from tests.support.sample_board import BOARD
from tests.support.sample_report import report


def validator(kind: str) -> Any:
    return jsonschema.Draft202012Validator(schema(kind))


def written(document: Document) -> Document:
    decoded: Document = msgspec.json.decode(encode(document))
    return decoded


@pytest.mark.parametrize(
    ("kind", "document"),
    [
        ("report", report_document(report())),
        ("report", report_document(deep_report(2))),
        ("report", report_document(with_groups())),
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


def test_a_number_that_is_not_finite_is_a_text_and_no_other_is() -> None:
    document = written(report_document(deep_report(2)))
    figures = document["graphs"][0]["nodes"][0]["outputs"][0]["statistics"]
    figures["norm"] = "Infinity"
    validator("report").validate(document)
    figures["norm"] = "large"
    with pytest.raises(jsonschema.ValidationError):
        validator("report").validate(document)


@pytest.mark.parametrize("key", ["cases", "graphs", "versions", "schema"])
def test_what_is_missing_is_refused(key: str) -> None:
    document = copy.deepcopy(written(report_document(report())))
    del document[key]
    with pytest.raises(jsonschema.ValidationError):
        validator("report").validate(document)
