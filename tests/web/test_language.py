"""The app's language: from the address, from the visitor's choice, and English where nobody asks."""

import pytest

from explorer.text.language import LANGUAGES
from explorer.web.language import NAME
from tests.support.pages import address, opened
from tests.support.sample_pages import PAGES

pytestmark = pytest.mark.slow


def page() -> None:
    import streamlit as st

    from explorer.text.language import _
    from explorer.web.language import language_box, settle_language

    settle_language()
    st.title(_("Graphs"))
    language_box()


@pytest.mark.parametrize(("code", "title"), [("en", "Graphs"), ("zh", "计算图"), ("xx", "Graphs")])
def test_the_address_names_the_language(code: str, title: str) -> None:
    app = opened(page, lang=code)
    assert not app.exception
    assert app.title[0].value == title


def test_a_language_stays_when_a_page_is_opened_by_an_address_without_one() -> None:
    app = opened(page, lang="zh")
    del app.query_params["lang"]
    assert app.run().title[0].value == "计算图"
    app.query_params["lang"] = "en"
    assert app.run().title[0].value == "Graphs"


def test_the_visitor_s_choice_changes_texts_and_address() -> None:
    app = opened(page)
    (box,) = app.button_group
    assert list(LANGUAGES) == ["en", "zh"]
    box.set_value("zh").run()
    assert app.title[0].value == "计算图"
    assert address(app)["lang"] == "zh"
    assert not app.exception


@pytest.mark.whole
def test_two_panes_speak_the_language_that_was_chosen_last() -> None:
    shown_words = []
    for code in ("en", "zh", "en"):
        (component,) = opened(PAGES["graphs"], {"label": "net"}, **{NAME: code}).get(
            "bidi_component"
        )
        shown_words.append(component.proto.bytes.decode())
    english, chinese, again = shown_words
    assert "First divergence" in english
    assert "First divergence" not in chinese
    assert "首个分歧点" in chinese
    # The drawings are cached by the server for all visitors, in each language apart.
    assert "为反向保存的值" in chinese
    assert "value kept for backward" in again
    assert "为反向保存的值" not in again
