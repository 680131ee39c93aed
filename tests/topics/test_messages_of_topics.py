"""The messages of a topic: by name, in a row of columns, and for figures that are named in words."""

import pytest

from explorer.model.message import message
from explorer.text.language import said_in
from explorer.topics.messages import Messages, style_name
from explorer.words.messages import text

say = Messages("rain", in_words=frozenset({"light rain"}))


def test_a_message_has_the_topic_in_its_name() -> None:
    assert say("fell", mm=2) == message("rain.fell", mm=2)
    assert say.row("where", "when") == (message("rain.where"), message("rain.when"))


def test_a_figure_named_in_words_is_a_message_and_code_is_as_it_is() -> None:
    assert say.named("light rain") == message("rain.light rain")
    assert say.named("rain()") == "rain()"


@pytest.mark.parametrize(("style", "chinese"), [("graph", "静态图"), ("tape", "动态图")])
def test_styles_have_names_in_both_languages(style: str, chinese: str) -> None:
    assert text(style_name(style)) == style
    with said_in("zh"):
        assert text(style_name(style)) == chinese
