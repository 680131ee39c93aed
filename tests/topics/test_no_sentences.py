"""Topics record facts: the texts of findings, tables, charts, evidence and advice are in words/."""

import ast
import re
from functools import cache

import pytest

from explorer.report.recorded.results import measurements
from explorer.shipped import PACKAGE
from explorer.topics import TOPICS
from tests.support.app_texts import outside

ENGLISH_WORDS = re.compile(r"\b(the|is|are|of|in|and|not|than|has|have|with|which|that|for|by)\b")
"""Words that every English sentence has one of."""

PROGRAMS = re.compile(r"in_(mindspore|torch|keras)|programs|inputs|processes|rank")
"""The modules that measure: what they name is a figure of the record."""

DECLARING = ("Topic", "TOPIC.claim", "TOPIC.ask", "guide_call")
"""The calls whose arguments are declarations: statements and titles, in the catalogue as they are."""


def undeclared(source: str) -> str:
    """A module without the arguments of its declarations."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in DECLARING:
            node.args, node.keywords = [], []
        if isinstance(node, ast.Raise):
            # An error of a declaration that is wrong is for its author.
            node.exc = None
    return ast.unparse(tree)


@cache
def names_of_figures() -> set[str]:
    """All keys in recorded figures, and what they and measurements' names are made of: several words."""
    names: set[str] = set()
    left: list[object] = [measured.figures for measured in measurements().values()]
    for name, _ in measurements():
        names.update(*(part.split(", ") for part in name.split(".")))
    while left:
        figure = left.pop()
        if isinstance(figure, dict):
            names.update(figure, *(key.split(", ") for key in figure))
            left += figure.values()
        elif isinstance(figure, list):
            left += figure
    return names


@pytest.mark.slow
@pytest.mark.parametrize("topic", TOPICS)
def test_what_a_topic_finds_is_facts_and_no_sentence(topic: str) -> None:
    folder, names = PACKAGE / "topics" / TOPICS[topic].rpartition(".")[2], names_of_figures()
    for module in sorted(folder.glob("*.py")):
        if PROGRAMS.match(module.name):
            continue
        for found in outside(module.name, undeclared(module.read_text(encoding="utf-8"))):
            is_name = found.text in names or set(found.text.split(", ")) <= names
            assert is_name or not ENGLISH_WORDS.search(found.text), f"{module.name}: {found.text}"


def test_a_sentence_is_found_and_a_declaration_is_spared() -> None:
    planted = '@TOPIC.claim(1, "It is not so.")\ndef f(n):\n    return f"{n} of the nodes differ"'
    (text,) = outside("planted.py", undeclared(planted))
    assert text.text == " of the nodes differ"
