"""Topics record facts: what is read of findings and claims has its text in words/topics."""

import ast
import re
from collections.abc import Iterator
from typing import TypeGuard

import pytest

from explorer.shipped import PACKAGE

TOPICS = (
    "contrasts",
    "gradients",
)
"""The topics whose modules have been looked at."""

DECLARING = ("Topic", "claim", "guide_call")
"""What takes a topic's title and question, and a claim's statement and would."""

FIGURES = ("a tuple of one",)
"""Names of figures that read like English."""

PROGRAMS = re.compile(r"in_(mindspore|torch|keras)")
"""Modules of measuring programs."""

ENGLISH = re.compile(
    r"\b(the|is|are|of|in|and|not|than|has|have|with|which|that|by|on|no)\b (?!in\b)"
)
"""A word that most English sentences have one of, with another one after it."""


def sentences(source: str) -> Iterator[str]:
    """The English texts in a module's source, but for docstrings and declarations."""
    tree = ast.parse(source)
    spared = {id(part) for node in ast.walk(tree) for part in _spared(node)}
    for node in ast.walk(tree):
        if id(node) in spared or not isinstance(node, ast.Constant):
            continue
        if _is_text(node.value) and ENGLISH.search(node.value):
            yield f"{node.lineno}: {node.value}"


def _is_text(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and value not in FIGURES


def _spared(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        yield node.value
    elif isinstance(node, ast.Call) and _called(node.func) in DECLARING:
        yield from ast.walk(node)


def _called(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


@pytest.mark.parametrize("topic", TOPICS)
def test_a_topic_records_facts_and_no_sentence(topic: str) -> None:
    found: dict[str, list[str]] = {}
    for module in sorted((PACKAGE / "topics" / topic).glob("*.py")):
        if not PROGRAMS.match(module.name):
            texts = list(sentences(module.read_text(encoding="utf-8")))
            if texts:
                found[module.name] = texts
    assert found == {}


def test_a_sentence_in_a_finding_is_found() -> None:
    planted = 'def finding(n):\n    """Of the net."""\n    yield f"{n} of the nets differ"\n'
    assert list(sentences(planted)) == ["3:  of the nets differ"]


def test_a_statement_in_a_declaration_is_not() -> None:
    planted = '@TOPIC.claim(1, "It is one of the two.", would="it is so")\ndef judge(): ...\n'
    assert list(sentences(planted)) == []
