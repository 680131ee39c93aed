"""The visitor's language: the one in the address, the one chosen before, or the browser's."""

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from explorer.text.language import ENGLISH, LANGUAGES, _, chosen_by

NAME = "lang"
"""The language's name in the address."""

CHOSEN = "language of the app"
ASKED = "language in the address"


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
        st.caption(_("Framework messages stay as they are."))


def _choose() -> None:
    code = st.session_state.get(f"{NAME} from {language()}")
    if code in LANGUAGES:
        st.session_state[CHOSEN] = code
        st.session_state[ASKED] = code
        st.query_params[NAME] = code


chosen_by(language)
