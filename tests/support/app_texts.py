"""The texts of the app's sources: those that are given to its catalogue, and those that are not."""

import ast
import re
import typing
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from explorer.model.claim import CLAIM_VERDICTS, HEADINGS
from explorer.model.engines import ENGINES
from explorer.model.graph import NodeKind, Phase, Proof
from explorer.model.report import ORACLE, Difference
from explorer.report.claims.wording import (
    ANSWERS,
    COLUMNS,
    COUNT_FORMS,
    NOT_AS_STATED,
    NOT_RUN,
    PAGE_TITLE,
    verdict_name,
)
from explorer.report.study import NO_ROWS
from explorer.text.language import LOCALE
from explorer.topics import STUDIES, study_topic
from explorer.words import answers
from explorer.workers.workers import WorkerState

EXPLORER = LOCALE.parent.parent

SOURCES = (
    "web",
    "drawing",
    "drawing/ladder",
    "pair",
    "words",
    "blocks",
    "report/claims",
    "report/diff.py",
    "report/correspondences.py",
    "report/doctor.py",
    "cli",
    "fuzz/search.py",
    "fuzz/sightings.py",
    "store",
    "sweep",
    "text/choices.py",
    "text/failures.py",
    "text/language.py",
    "text/reasons.py",
    "text/remedies.py",
    "workers",
    "report/files.py",
    "report/losses.py",
    "documents",
    "report/scenario/case_rows.py",
    "report/scenario/graphs.py",
    "report/scenario/page.py",
    "report/study.py",
    "report/sweep.py",
    "report/traces.py",
    "report/training.py",
    "report/wording.py",
    "api/notebook.py",
)
"""The packages and modules whose texts are the catalogue's."""

REFUSING = (
    "environments",
    "api",
    "exploration",
    "mending",
    "recording",
    "scenario",
    "topics",
    "topics/higher_order",
)
"""The packages whose errors are the catalogue's; records that they make are English."""

SAYING = ("_", "later")
"""The functions that a text of the catalogue is given to."""

ERRORS = {
    "MissingFrameworkError",
    "ScenarioError",
    "TimeLimitError",
    "UnreadScenarioError",
    "UsageError",
}
"""The errors that are meant for a person."""

MISSING = ("forward", "noise", "source", "values")
"""What engines say that a node lacks: the keys of ``Node.missing``."""

PROSE = re.compile(r"[A-Za-z]{2,},? [a-z]{2,}|^[A-Z][a-z]+[.:?]?$")
"""Two words in a row, or one with a capital letter: what a visitor would read."""


class Text(NamedTuple):
    """One string in the sources: where it stands, and what it says."""

    place: str
    text: str


def modules(names: Iterable[str] = SOURCES) -> list[Path]:
    """The modules that say something to a visitor."""
    found: list[Path] = []
    for name in names:
        place = EXPLORER / name
        found += place.glob("*.py") if place.is_dir() else [place]
    return sorted(found)


def said(source: str) -> Iterator[str]:
    """The texts in a module's source that are given to the catalogue as they stand there."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and _is_saying(node):
            yield from _literals(node.args)


def terms() -> Iterator[str]:
    """Every fixed word of records, studies and the board that the app shows.

    Their tables stand where the records are made.
    """
    yield from answers.ENGINE_COLUMNS
    yield from typing.get_args(typing.get_type_hints(Difference)["what"])
    yield from map(verdict_name, CLAIM_VERDICTS)
    yield from (NOT_RUN, PAGE_TITLE, NO_ROWS, NOT_AS_STATED)
    for forms in COUNT_FORMS.values():
        yield from forms
    yield from COLUMNS
    yield from filter(None, ANSWERS.values())
    yield from HEADINGS
    yield from typing.get_args(WorkerState)
    yield ORACLE
    yield from (engine.how for engine in ENGINES.values())
    for names in (NodeKind, Phase, Proof):
        yield from filter(None, typing.get_args(names))
    yield from MISSING
    for name in STUDIES:
        topic = study_topic(name)
        yield from (topic.title, topic.question)


def every_key() -> set[str]:
    """All texts that the catalogue must have."""
    keys = set(terms())
    for module in modules((*SOURCES, *REFUSING)):
        keys.update(said(module.read_text(encoding="utf-8")))
    return keys


def outside(name: str, source: str) -> Iterator[Text]:
    """The texts in a module's source that read like prose, and are given to no catalogue."""
    tree = ast.parse(source)
    spared = {id(part) for node in ast.walk(tree) for part in _spared(node)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            continue
        if id(node) not in spared and PROSE.search(_without_markup(node.value)):
            yield Text(f"{name}:{node.lineno}", node.value)


def bare_errors(name: str, source: str) -> Iterator[Text]:
    """The texts of errors for a person that are given to no catalogue."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Raise) or not isinstance(node.exc, ast.Call):
            continue
        error = node.exc.func
        if isinstance(error, ast.Name) and error.id in ERRORS:
            for text in outside(name, ast.unparse(node)):
                yield Text(f"{name}:{node.lineno}", text.text)


def _is_saying(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SAYING


def _literals(nodes: list[ast.expr]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _spared(node: ast.AST) -> Iterator[ast.AST]:
    """What is no text of the app below a node: texts of the catalogue, docstrings, notes on types."""
    if _is_saying(node):
        yield from ast.walk(node)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        yield node.value
    elif isinstance(node, ast.AnnAssign | ast.arg) and node.annotation:
        yield from ast.walk(node.annotation)
    elif isinstance(node, ast.FunctionDef) and node.returns:
        yield from ast.walk(node.returns)
    elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("TypeVar", "ParamSpec"):
        yield from node.args[:1]


def _without_markup(text: str) -> str:
    """A text without tags, style sheets, icons, and the places that are filled in."""
    for markup in (r"(?s)<style>.*?</style>", r"<[^>]*>?", r":material/\w+:", r"\{\w*\}"):
        text = re.sub(markup, " ", text)
    return text.strip()
