"""Topics make facts of figures; their sentences are in words/topics."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from explorer.shipped import PACKAGE
from explorer.words import topics

PROSE = re.compile(r"[A-Za-z]{2,},? [a-z]{2,}")
"""Two words in a row."""

DECLARING = ("claim", "Topic", "TypeVar")
"""Functions whose arguments are declarations: what a guide states, and what a study asks."""

RUN_BY_WORKERS = ("in_", "processes", "rank")
"""How the names of modules begin whose errors a framework's worker raises."""

TOPICS = [
    "data_parallel",
    "loss_scale",
    "networks",
]


def reporting(topic: str) -> list[Path]:
    """The modules of a topic that run in no worker."""
    modules = sorted((PACKAGE / "topics" / topic).glob("*.py"))
    return [module for module in modules if not module.stem.startswith(RUN_BY_WORKERS)]


def names() -> set[str]:
    """What is no text, though it may read like one: names of messages and of advice.

    A figure that is named in words has a message of the same name.
    """
    messages = {name.partition(".")[2] for name in topics.texts()}
    return messages | {name for _, name in topics.advice()}


def sentences(source: str, spared_texts: set[str]) -> Iterator[str]:
    """Texts in a module that read like prose; declarations, and names of figures, are none."""
    tree = ast.parse(source)
    spared: set[int] = set()
    names_of_figures: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            names_of_figures.add(str(node.slice.value))
        elif is_no_text(node):
            spared.update(id(part) for part in ast.walk(node))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            continue
        text = node.value
        is_spared = id(node) in spared or text in names_of_figures or text in spared_texts
        if not is_spared and PROSE.search(text):
            yield text


def is_no_text(node: ast.AST) -> bool:
    """Whether a node is a docstring, an error of the program's own, a declaration or a heading."""
    match node:
        case ast.Expr(value=ast.Constant()) | ast.Raise() | ast.Assert():
            return True
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name in ("HEADING", "AUTHORING")
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
            return name in DECLARING
    return False


@pytest.mark.parametrize("topic", TOPICS)
def test_a_topic_reports_facts_and_no_sentence(topic: str) -> None:
    found = []
    for module in reporting(topic):
        source = module.read_text(encoding="utf-8")
        found += [f"{module.name}: {text}" for text in sentences(source, names())]
    assert found == []


@pytest.mark.parametrize(
    "planted",
    [
        'def f(n):\n    yield f"{n} of the weights differ"',
        'TOPIC.table()\nTable(title="what is found", columns=())',
        'say("life", who="both frameworks")',
    ],
)
def test_a_sentence_in_a_topic_is_found(planted: str) -> None:
    assert list(sentences(planted, set()))


def test_what_a_guide_states_is_a_declaration() -> None:
    assert not list(sentences('TOPIC.claim(1, "The loss is 4.", heading="loss scaling")', set()))
