"""Messages: facts whose texts are in words/topics, in English and in Chinese."""

import re

import msgspec
import pytest

from explorer.model.claim import ClaimRow
from explorer.model.message import Text, message
from explorer.report.recorded.results import recorded_study
from explorer.text.language import said_in
from explorer.topics import study_topic
from explorer.topics.studies import target
from explorer.words import topics
from explorer.words.claims import ANY_ADVICE, advice_text
from explorer.words.lists import listed
from explorer.words.messages import DOMAIN, as_text, study_text, text
from tests.support.catalogues import entries
from tests.support.sample_board import HOLDS

PLANTED: dict[str, topics.Template] = {
    "rain.fell": "{who} saw {mm:.2f} mm in {places}",
    "rain.days": ("{n} day", "{n} days"),
    "rain.whole": "rain: {what}",
}


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("explorer.words.messages.texts", lambda: PLANTED)


@pytest.mark.usefixtures("planted")
def test_a_message_is_its_template_with_its_values() -> None:
    fell = message("rain.fell", who="A", mm=1.239, places=("x", "y", "z"))
    assert text(fell) == "A saw 1.24 mm in x, y and z"
    assert text(message("rain.whole", what=message("rain.days", n=1))) == "rain: 1 day"
    assert text(message("rain.days", n=0)) == "0 days"
    assert text("a name") == "a name"
    # In a record, however deep, it becomes text.
    record = {"rows": [(message("rain.days", n=2), 3, None)]}
    assert as_text(record) == {"rows": [("2 days", 3, None)]}


@pytest.mark.usefixtures("planted")
@pytest.mark.parametrize(
    ("kept", "shown"), [("NaN", "nan"), ("Infinity", "inf"), ("-Infinity", "-inf")]
)
def test_a_number_that_is_not_finite_is_formatted_as_one(kept: str, shown: str) -> None:
    assert (
        text(message("rain.fell", who=kept, mm=kept, places=("x",)))
        == f"{kept} saw {shown} mm in x"
    )


@pytest.mark.usefixtures("planted")
def test_a_message_that_nobody_worded_or_that_lacks_a_value_is_refused() -> None:
    for wrong in (message("rain.snow"), message("rain.whole")):
        with pytest.raises(KeyError):
            text(wrong)


@pytest.mark.parametrize(
    ("how", "line"), [("", "a, b and c"), ("or", "a, b or c"), (",", "a, b, c"), (";", "a; b; c")]
)
def test_lists_end_in_a_word(how: str, line: str) -> None:
    assert listed(["a", "b", "c"], how) == line
    with said_in("zh"):
        assert listed(["a", "b", "c"]) == "a、b 和 c"
        assert listed(["a", "b"], "or") == "a 或 b"


def test_a_word_may_have_another_translation_in_one_topic(monkeypatch: pytest.MonkeyPatch) -> None:
    worded = {"operators.word": "moved", "rain.word": "moved"}
    monkeypatch.setattr("explorer.words.messages.texts", lambda: worded)
    with said_in("zh"):
        assert text(message("operators.word")) == "更新"
        assert text(message("rain.word")) != "更新"


def row(advice: Text) -> ClaimRow:
    return msgspec.structs.replace(HOLDS, id=10**6, advice=advice)


def test_a_verdict_without_advice_of_its_own_has_a_general_one() -> None:
    assert advice_text(row("")) == ANY_ADVICE["holds"]
    with said_in("zh"):
        assert advice_text(row("")) != ANY_ADVICE["holds"]


def test_advice_is_found_by_the_name_that_a_judge_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topics, "advice", lambda: {(10**6, "in float32"): "Use float32."})
    assert advice_text(row("in float32")) == "Use float32."


def test_a_study_is_in_chinese_with_the_figures_that_were_measured() -> None:
    topic = study_topic("schedules")
    record = recorded_study(topic, target(topic, None, "cpu"))
    assert record is not None
    with said_in("zh"):
        chinese = study_text(record)
    texts = [chinese.title, chinese.question, *chinese.findings]
    texts += [table.title for table in chinese.tables]
    texts += [chart.title for chart in chinese.charts]
    assert [line for line in texts if not re.search("[一-鿿]", line)] == []
    assert chinese.measured == record.measured


def test_every_text_of_a_topic_is_in_chinese() -> None:
    templates: list[str] = list(topics.advice().values())
    for template in topics.texts().values():
        templates.extend([template] if isinstance(template, str) else template)
    known = {english for entry in entries(DOMAIN) for english in entry.english if entry.chinese}
    assert [english for english in templates if english not in known] == []
