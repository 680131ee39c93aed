"""What is known of a divergence, in text: titles are those of the documentation's pages."""

import re
from pathlib import Path

import pytest

from explorer.model.known import Reference
from explorer.shipped import PACKAGE
from explorer.text.language import said_in
from explorer.topics import claims
from explorer.words.known import SURPRISES, known_line, reference_text, title

DOCS = PACKAGE.parent / "docs"

PAGES = {"en": DOCS / "surprises.md", "zh": DOCS / "zh" / "surprises.md"}


def headings(page: Path) -> dict[str, str]:
    """The heading of each surprise on a page, by the name of its reproducer."""
    found = {}
    for section in page.read_text(encoding="utf-8").split("\n## ")[1:]:
        (program,) = set(re.findall(r"docs/surprises/(\w+)\.py", section))
        found[program] = section.partition("\n")[0]
    return found


@pytest.mark.parametrize("language", PAGES)
@pytest.mark.parametrize("name", SURPRISES)
def test_the_title_of_a_surprise_is_its_heading(name: str, language: str) -> None:
    with said_in(language):
        assert title(Reference("surprise", name)) == headings(PAGES[language])[name]


def test_a_claim_comes_with_its_statement_and_its_command() -> None:
    text = reference_text(Reference("claim", "43"))
    assert claims()[43].statement.removesuffix(".") in text
    assert text.endswith("claims 43`)")


def test_all_that_is_known_is_one_line() -> None:
    references = Reference("claim", "31"), Reference("surprise", "same_tensor_twice")
    line = known_line(references)
    assert line.startswith("Known: claim 31: ")
    assert "; surprise “The same tensor as two arguments: tape and graph disagree”" in line
    assert known_line(()) == ""
    with said_in("zh"):
        assert known_line(references).startswith("已知：论断 31：")
        assert "PyTorch 批归一化的 momentum" in title(Reference("claim", "43"))
