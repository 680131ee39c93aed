"""No English sentence of the package is outside the catalogues, but for those listed here with a reason."""

import ast
import functools
import re
from collections.abc import Iterator

import pytest

from explorer.shipped import PACKAGE
from tests.support.app_texts import Text, modules, outside
from tests.support.house import FLOORS

ENGLISH_WORDS = re.compile(
    r"\b(the|is|are|of|in|and|not|than|has|have|with|which|that|was|to|for|no)\b"
)
"""Words that every English sentence has one of."""

PROGRAMS = re.compile(r"in_(mindspore|torch|keras)")
"""How modules begin that measure: what they print is a figure of the record."""

BELOW_WORDS = [part for floor in FLOORS[: FLOORS.index(("words",))] for part in floor]
"""The parts below words/: their records have facts and no sentence."""

INTERNAL = ("model", "numeric", "compare", "engines")
"""The parts whose plain errors are faults of the explorer itself, and are in no catalogue."""

FOLDERS = {
    "engines/mindspore/ir": "what the reader of the IR expects, in the error that it raises",
    "topics": "a test of its own, beside statements that are declared: tests/topics/test_no_sentences.py",
    "words/topics": "names of messages, whose texts the catalogue has",
    "report/recorded": "what `make recorded` prints for those who develop the explorer",
}

NO_SENTENCES = {
    "engines/capture/lint.py": "faults of a capture, which tests and benchmarks print",
    "engines/listing.py": "programs",
    "engines/jax/code.py": "programs",
    "engines/jax/errors.py": "parts of JAX's messages, which are looked for",
    "operators/table.py": "what does not fit in a file of rows, as in engines/capture/lint.py",
    "engines/mindspore/code.py": "programs",
    "engines/mindspore/errors.py": "parts of MindSpore's messages, which are looked for",
    "engines/mindspore/subgraphs.py": "names of subgraphs",
    "engines/torch/code.py": "programs",
    "engines/torch/found_modules.py": "a part of PyTorch's message, which is looked for",
    "engines/torch/ordered_joint.py": "parts of PyTorch's messages, which are looked for",
    "exploration/installed.py": "the name of a key",
    "exploration/options.py": "kinds of names, which choose() says in the reader's language",
    "model/claim.py": "names of headings, which faces translate as terms",
    "model/engines.py": "calls of frameworks, which faces translate as terms",
    "operators/families.py": "names of operators",
    "recording/checks.py": "what does not fit in a broken file, as in engines/capture/lint.py",
    "scenario/layouts.py": "a place in MindSpore's sources",
    "scenario/replies.py": "parts of frameworks' messages, which are looked for",
    "scenario/templates.py": "programs",
    "text/messages.py": "parts of frameworks' messages, which are looked for",
}
"""Modules below words/ with English texts, and why these are no sentences of records."""

MODULES = {
    "__init__.py": "the error of Python's own for an attribute that is not there",
    "mkdocs.py": "the error of a build, which MkDocs prints in English",
    "pytest_plugin.py": "the help of a pytest option",
    "report/junit.py": "JUnit's XML, a document for programs",
    "report/schemas.py": "descriptions in a JSON Schema",
}
"""Modules above with texts that are in no catalogue, and why."""


def part_of(path: str) -> str:
    """The part of the package that a module belongs to: "model", "shipped"."""
    return path.partition("/")[0].removesuffix(".py")


@functools.cache
def found() -> dict[str, list[str]]:
    """The sentences outside the catalogues, by the paths of their modules."""
    texts: dict[str, list[str]] = {}
    # Of those that say something to a visitor every text is looked at in test_language_catalogue.py.
    for module in sorted(set(PACKAGE.rglob("*.py")) - set(modules())):
        path = module.relative_to(PACKAGE).as_posix()
        if PROGRAMS.match(module.name) or any(path.startswith(f"{name}/") for name in FOLDERS):
            continue
        for text in sentences(path, module.read_text(encoding="utf-8")):
            texts.setdefault(path, []).append(text.text)
    return texts


def sentences(path: str, source: str) -> Iterator[Text]:
    """The English texts of a module that no catalogue has."""
    plain_errors: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Raise) and part_of(path) in INTERNAL:
            plain_errors.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    for text in outside(path, source):
        line = int(text.place.rpartition(":")[2])
        if line not in plain_errors and ENGLISH_WORDS.search(text.text):
            yield text


@pytest.mark.slow
def test_no_sentence_is_outside_the_catalogues() -> None:
    listed = {**NO_SENTENCES, **MODULES}
    assert {path: texts for path, texts in found().items() if path not in listed} == {}


@pytest.mark.slow
def test_what_is_listed_still_has_such_texts() -> None:
    assert sorted({*NO_SENTENCES, *MODULES} - set(found())) == []
    assert [path for path in MODULES if part_of(path) in BELOW_WORDS] == []
    assert [name for name in FOLDERS if not (PACKAGE / name).is_dir()] == []


@pytest.mark.parametrize("path", ["model/planted.py", "compare/planted.py", "web/planted.py"])
def test_a_sentence_in_a_module_is_found(path: str) -> None:
    (text,) = sentences(path, 'def f(n):\n    return f"{n} of the nodes differ"')
    assert text.place == f"{path}:2"


def test_a_plain_error_is_a_sentence_where_errors_are_for_a_person() -> None:
    source = 'raise ValueError(\n    "none of the nodes differ"\n)'
    assert list(sentences("engines/planted.py", source)) == []
    assert len(list(sentences("scenario/planted.py", source))) == 1
