"""What tables and notes of several topics have in them, and that every message has a text."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from explorer.model.message import message
from explorer.shipped import PACKAGE
from explorer.text.language import said_in
from explorer.topics import cells
from explorer.topics.messages import Messages, style_name
from explorer.topics.question import PARTIES
from explorer.words.messages import text
from explorer.words.topics import texts


def test_engines_have_names_for_cells_and_for_lists_and_libraries_are_called_as_they_are() -> None:
    for name, party in PARTIES.items():
        assert text(cells.party(name)) == party.label
        assert text(cells.listed_party(name)) == party.label.replace(",", "")


def test_sentences_follow_each_other_and_empty_ones_are_left_out() -> None:
    assert cells.sentences("", "") == ""
    assert cells.sentences("", "One.") == "One."
    assert text(cells.sentences("One.", "", "Two.", cells.NONE)) == "One. Two. none"


def test_a_name_is_a_message_where_it_is_known() -> None:
    assert text(cells.named("cells", "yes", {"yes"})) == "yes"
    assert cells.named("cells", "torch.jit", {"yes"}) == "torch.jit"


def test_what_is_no_number_has_no_height() -> None:
    assert cells.heights([1, 2.5, None, "raised"]) == (1.0, 2.5, None, None)


def names_of_messages(module: Path) -> Iterator[str]:
    """The names that a module gives to its messages, as patterns: values in them may be anything."""
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call) or ast.unparse(node.func) != "message" or not node.args:
            continue
        name = node.args[0]
        if isinstance(name, ast.Constant):
            yield re.escape(str(name.value))
        if isinstance(name, ast.JoinedStr):
            fixed = [isinstance(part, ast.Constant) and str(part.value) for part in name.values]
            yield "".join(re.escape(part) if part else ".+" for part in fixed)


@pytest.mark.slow
def test_every_message_has_a_text() -> None:
    known = list(texts())
    patterns: set[str] = set()
    for module in (PACKAGE / "topics").rglob("*.py"):
        patterns.update(names_of_messages(module))
    assert patterns
    without = [name for name in patterns if not any(re.fullmatch(name, text) for text in known)]
    assert without == []


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
