"""No English sentence of the package is outside the catalogues, but for those listed here with a reason."""

import re

from explorer.shipped import PACKAGE
from tests.support.app_texts import outside

ENGLISH_WORDS = re.compile(
    r"\b(the|is|are|of|in|and|not|than|has|have|with|which|that|was|to|for|no)\b"
)
"""Words that every English sentence has one of."""

PROGRAMS = re.compile(r"in_(mindspore|torch|keras)")
"""How modules begin that measure: what they print is a figure of the record."""

FOLDERS = {
    "compare": "a test of its own: tests/text/test_language.py",
    "engines": "a test of its own: tests/text/test_language.py",
    "topics": "a test of its own, beside statements that are declared: tests/topics/test_no_sentences.py",
    "words/topics": "names of messages, whose texts the catalogue has",
    "report/recorded": "what `make recorded` prints for those who develop the explorer",
}

MODULES = {
    "__init__.py": "the error of Python's own for an attribute that is not there",
    "cli/parsing_errors.py": "parts of Typer's messages, which are looked for",
    "documents/directives.py": "kinds of names, which choose() says in the reader's language",
    "exploration/about.py": "the name of a stage, which the progress line translates",
    "exploration/options.py": "kinds of names, which choose() says in the reader's language",
    "exploration/outcomes.py": "the English message of a failure, as records have it",
    "fuzz/operators.py": "programs",
    "fuzz/sightings.py": "parts of frameworks' messages, which are looked for",
    "mkdocs.py": "the error of a build, which MkDocs prints in English",
    "model/claim.py": "verdicts, headings and guides, which faces translate as terms",
    "model/engines.py": "how an engine differentiates, which faces translate as a term",
    "model/errors.py": "an internal error of the explorer",
    "model/families.py": "names of operators",
    "model/passes.py": "names of a compiler's stages, which faces translate as terms",
    "model/trees.py": "messages of errors that a worker raises and records",
    "pytest_plugin.py": "the help of a pytest option",
    "report/junit.py": "JUnit's XML, a document for programs",
    "report/schemas.py": "descriptions in a JSON Schema",
    "scenario/layouts.py": "a place in MindSpore's sources",
    "scenario/templates.py": "programs",
    "text/messages.py": "parts of frameworks' messages, which are looked for",
    "web/graphs_page.py": "keys of the session",
    "web/language.py": "keys of the session",
    "web/links.py": "keys of the session",
    "web/studies_page.py": "keys of the session",
    "workers/workers.py": "a worker's state, which words/ has a text for",
}


def found() -> dict[str, list[str]]:
    """The sentences outside the catalogues, by the paths of their modules."""
    sentences: dict[str, list[str]] = {}
    for module in sorted(PACKAGE.rglob("*.py")):
        path = module.relative_to(PACKAGE).as_posix()
        if PROGRAMS.match(module.name) or any(path.startswith(f"{name}/") for name in FOLDERS):
            continue
        for text in outside(path, module.read_text(encoding="utf-8")):
            if ENGLISH_WORDS.search(text.text):
                sentences.setdefault(path, []).append(text.text)
    return sentences


def test_no_sentence_is_outside_the_catalogues() -> None:
    assert {path: texts for path, texts in found().items() if path not in MODULES} == {}


def test_what_is_listed_still_has_such_texts() -> None:
    assert sorted(set(MODULES) - set(found())) == []
    assert [name for name in FOLDERS if not (PACKAGE / name).is_dir()] == []
