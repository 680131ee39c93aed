"""The texts that the app itself says, in the visitor's language: English, or a gettext catalogue's."""

import gettext
from functools import lru_cache
from pathlib import Path

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

LOCALE = Path(__file__).parent / "locale"
"""The catalogues: app.po is written, and app.mo, which gettext reads, is compiled from it."""

DOMAIN = "app"

ENGLISH = "en"

LANGUAGES = {ENGLISH: "English", "zh": "中文"}
"""The languages by their codes in the address, each under its own name."""

NAME = "lang"
"""The language's name in the address."""

CHOSEN = "language of the app"
ASKED = "language in the address"


def _(text: str) -> str:
    """A text in the visitor's language; as it is where the catalogue lacks it."""
    # Of an empty text, gettext gives the notes at the head of the catalogue.
    return _catalogue(language()).gettext(text) if text else ""


def later(text: str) -> str:
    """Mark a text of a table as one of the catalogue's; ``_`` says it when the table is shown."""
    return text


def language() -> str:
    """The code of the visitor's language; English outside a run of the app."""
    if get_script_run_ctx(suppress_warning=True) is None:
        return ENGLISH
    chosen = st.session_state.get(CHOSEN) or st.query_params.get(NAME, "")
    return chosen if chosen in LANGUAGES else _of_browser()


def _of_browser() -> str:
    """The language of the browser, "zh-CN" for one, where there is a catalogue of it."""
    code = (st.context.locale or "").replace("_", "-").split("-")[0].lower()
    return code if code in LANGUAGES else ENGLISH


@lru_cache
def _catalogue(code: str) -> gettext.NullTranslations:
    # English is the language of the keys: it needs no catalogue.
    return gettext.translation(DOMAIN, LOCALE, [code], fallback=code == ENGLISH)


def settle_language() -> None:
    """Follow the address in the choice of a language; called at every run, before any text is said."""
    asked = st.query_params.get(NAME)
    # An address without a language leaves the one chosen before: pages are opened by such addresses.
    if asked in LANGUAGES and asked != st.session_state.get(ASKED):
        st.session_state[CHOSEN] = asked
    st.session_state[ASKED] = asked


def language_box() -> None:
    """Offer the languages, at the end of the page; the one chosen goes into the address."""
    # Each in its own name, so that it is found by whoever cannot read the one in sight.
    st.segmented_control(
        "Language / 语言",
        list(LANGUAGES),
        default=language(),
        format_func=LANGUAGES.__getitem__,
        key=f"{NAME} from {language()}",
        on_change=_choose,
        required=True,
    )
    if language() != ENGLISH:
        st.caption(_("What was measured, and what scenarios, studies and claims say, is English."))


def _choose() -> None:
    code = st.session_state.get(f"{NAME} from {language()}")
    if code in LANGUAGES:
        st.session_state[CHOSEN] = code
        st.session_state[ASKED] = code
        st.query_params[NAME] = code
