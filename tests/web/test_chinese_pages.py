"""Each page in 中文: every label is from the catalogue, and there is no English sentence."""

import gettext
import re

import pytest

from explorer.scenario.devices import FORMS
from explorer.text import language
from explorer.web.language import NAME
from tests.support.page_labels import labels, texts
from tests.support.pages import opened
from tests.support.sample_pages import PAGES
from tests.support.samples import some

pytestmark = pytest.mark.slow

SENTENCE = re.compile(r"[A-Za-z][\w'’-]* [a-z][a-z'’-]+")
"""Two English words with a blank between: lists of names have commas."""

WORD = re.compile(r"[A-Za-z]{3,}")

CHINESE = re.compile("[\u4e00-\u9fff]")

SAME_EVERYWHERE = {"has_aux", "MB", "Sphinx", "MkDocs", "Markdown", ", ".join(FORMS)}
"""Labels that are the same in every language: names of code, of programs, of units."""

CATALOGUES = language._catalogue


class Marked(gettext.NullTranslations):
    """A catalogue whose texts are in brackets."""

    def __init__(self, catalogue: gettext.NullTranslations) -> None:
        super().__init__()
        self.whole = catalogue

    def gettext(self, message: str) -> str:
        return f"⟦{self.whole.gettext(message)}⟧"

    def pgettext(self, context: str, message: str) -> str:
        in_context = self.whole.pgettext(context, message)
        return message if in_context == message else f"⟦{in_context}⟧"

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return f"⟦{self.whole.ngettext(msgid1, msgid2, n)}⟧"


@pytest.mark.parametrize("name", some(PAGES, "semantics", "claims", "address"))
def test_a_page_is_chinese_and_what_boxes_and_columns_are_called_is_in_the_catalogue(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        language, "_catalogue", lambda code, domain: Marked(CATALOGUES(code, domain))
    )
    page = opened(PAGES[name], {"label": "«»"}, **{NAME: "zh"})
    assert not page.exception
    shown = list(texts(page))
    assert any(CHINESE.search(text) for text in shown)
    assert [text for text in shown if SENTENCE.search(text)] == []
    called = list(labels(page))
    assert called
    for label in called:
        ours = re.sub(r"⟦[^⟧]*⟧|«»|:material/\w+:", "", label)
        assert ours.strip() in SAME_EVERYWHERE or not WORD.search(ours), label


def test_an_english_sentence_is_found() -> None:
    page = opened(PAGES["doctor"], {"label": "«»"}, **{NAME: "en"})
    assert any(SENTENCE.search(text) for text in texts(page))
