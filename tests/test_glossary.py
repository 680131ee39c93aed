"""The glossary: one meaning for a word, the same words in English and in 中文, used as it says."""

import re
from typing import NamedTuple

from babel.messages.pofile import read_po

from tests.support.command_line import ROOT

ENGLISH = ROOT / "docs" / "reference" / "glossary.md"
CHINESE = ROOT / "docs" / "zh" / "glossary.md"
CATALOGUE = ROOT / "explorer" / "text" / "locale" / "zh" / "LC_MESSAGES" / "app.po"

MARK = "†"
"""The mark of a Chinese word that is on no page yet."""

HEADS = {
    ENGLISH: "| word | meaning | 中文 | where |",
    CHINESE: "| 词 | English | 含义 | 用在哪里 |",
}


class Entry(NamedTuple):
    """A word in both languages, with its meaning and its place in the language of the page."""

    word: str
    chinese: str
    meaning: str
    where: str


def entries(page: str, head: str) -> list[Entry]:
    """The rows of all tables of words of a page."""
    rows = []
    for table in page.split(head)[1:]:
        lines = table.strip().splitlines()[1:]
        end = next((at for at, line in enumerate(lines) if not line.startswith("|")), len(lines))
        rows += [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[:end]]
    assert all(len(row) == 4 and all(row) for row in rows)
    if head == HEADS[ENGLISH]:
        return [Entry(word, chinese, meaning, where) for word, meaning, chinese, where in rows]
    return [Entry(word, chinese, meaning, where) for chinese, word, meaning, where in rows]


WORDS = {page: entries(page.read_text(encoding="utf-8"), head) for page, head in HEADS.items()}


def test_each_word_is_there_once_and_has_one_sentence() -> None:
    for page, words in WORDS.items():
        assert len(words) > 40
        for names in ([entry.word for entry in words], [entry.chinese for entry in words]):
            assert len(names) == len(set(names)), page
    for entry in WORDS[ENGLISH]:
        assert re.fullmatch(r"[A-Z].*[^.]\.", entry.meaning), entry
        assert ". " not in entry.meaning, entry
    for entry in WORDS[CHINESE]:
        assert entry.meaning.endswith("。"), entry
        assert entry.meaning.count("。") == 1, entry


def test_both_languages_have_the_same_words() -> None:
    pairs = {
        page: [(entry.word, entry.chinese) for entry in words] for page, words in WORDS.items()
    }
    assert pairs[CHINESE] == pairs[ENGLISH]


def test_every_chinese_word_is_used_or_marked() -> None:
    with CATALOGUE.open("rb") as file:
        used = [str(message.string) for message in read_po(file)]
    pages = (page for page in CHINESE.parent.glob("*.md") if page != CHINESE)
    used += [page.read_text(encoding="utf-8") for page in pages]
    unmarked = [entry.chinese for entry in WORDS[CHINESE] if MARK not in entry.chinese]
    assert len(unmarked) > 40
    assert [word for word in unmarked if not any(word in text for text in used)] == []


def test_every_record_that_is_named_is_in_the_code() -> None:
    named = {
        name for entry in WORDS[ENGLISH] for name in re.findall(r"`([A-Z][a-z]\w+)`", entry.where)
    }
    modules = (ROOT / "explorer").rglob("*.py")
    code = "\n".join(module.read_text(encoding="utf-8") for module in modules)
    defined = set(re.findall(r"^(?:class )?([A-Z]\w+)(?:\(|:| = )", code, re.MULTILINE))
    assert len(named) > 25
    assert named - defined == set()
