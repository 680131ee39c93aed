"""The verdict with its size, and who it is that the oracle differs from."""

import msgspec
import pytest

from explorer.model.report import AnswerGroup, CaseReport
from explorer.text.language import said_in
from explorer.words.cases import oracle_sentence, sized
from tests.support.sample_report import report


@pytest.mark.parametrize(
    ("verdict", "size", "text"),
    [
        ("differs", "3", "differs by 3"),
        ("differs", "1.2e-05, 3,800 × the noise", "differs by 1.2e-05, 3,800 × the noise"),
        ("differs", "structure", "differs in structure"),
        ("close", "2e-08", "close 2e-08"),
    ],
)
def test_a_size_is_no_count(verdict: str, size: str, text: str) -> None:
    assert sized(verdict, size) == text


def refuted(*engines: str) -> CaseReport:
    """A case in which the oracle refutes some engines."""
    case = next(case for case in report().cases if case.oracle.estimates)
    others = tuple(name for name in case.results if name not in engines)
    groups = (AnswerGroup(engines, False), AnswerGroup(others, True))
    return msgspec.structs.replace(case, oracle_agrees=False, groups=groups)


def test_the_oracle_says_from_whom_it_differs() -> None:
    case = refuted("torch-tape", "mindspore-tape")
    assert oracle_sentence(case) == "oracle differs from both tape engines"
    with said_in("zh"):
        text = oracle_sentence(case)
    assert text.startswith("参照与")
    assert " " not in text


def test_where_it_agrees_it_says_no_more() -> None:
    agreeing = next(case for case in report().cases if case.oracle_agrees)
    assert oracle_sentence(agreeing) == "oracle agrees"


def test_an_engine_without_an_answer_is_no_exception_to_what_the_oracle_says() -> None:
    case = next(case for case in report().cases if case.oracle.estimates)
    *answering, silent = case.results
    # The oracle judges answers: of an engine that raised, it says nothing.
    groups = (AnswerGroup(tuple(answering), False), AnswerGroup((silent,), None))
    refuting = msgspec.structs.replace(case, oracle_agrees=False, groups=groups)
    assert oracle_sentence(refuting) == "oracle differs from all engines"
