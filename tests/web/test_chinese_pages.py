"""Each page in 中文 has no English sentence, but for what frameworks and records say."""

import re

import pytest

from explorer.web.language import NAME
from tests.support.page_texts import texts
from tests.support.pages import opened
from tests.support.sample_pages import PAGES

SENTENCE = re.compile(r"[A-Za-z][\w'’-]* [a-z][a-z'’-]+")
"""Two English words with a blank between: lists of names have commas."""

CHINESE = re.compile("[\u4e00-\u9fff]")


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_no_english_sentence(name: str) -> None:
    page = opened(PAGES[name], {"label": "«»"}, **{NAME: "zh"})
    assert not page.exception
    shown = list(texts(page))
    assert any(CHINESE.search(text) for text in shown)
    assert [text for text in shown if SENTENCE.search(text)] == []


@pytest.mark.slow
def test_an_english_sentence_is_found() -> None:
    page = opened(PAGES["doctor"], {"label": "«»"}, **{NAME: "en"})
    assert any(SENTENCE.search(text) for text in texts(page))
