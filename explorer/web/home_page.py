"""The first page: what this is, and every scenario, study and the board one click away."""

from pathlib import Path

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from explorer.exploration.stored import Wanted, stored_report
from explorer.model.errors import ExplorerError
from explorer.model.report import Report
from explorer.report.claims.wording import counts
from explorer.report.markdown import escape
from explorer.report.scenario.overview import overview
from explorer.store.store import Store
from explorer.text.clean import clean
from explorer.topics import STUDIES, study_topic
from explorer.topics import claims as every_claim
from explorer.topics.judging import stored_board
from explorer.web.offered_scenarios import digest_of_file, offered, scenario

ABOUT = (
    "One small net runs in MindSpore and in PyTorch, each recorded on a tape and compiled to a graph: four"
    " gradients of one thing. Both gradient graphs are shown with the values in them, paired node by node"
    " where they hold the same quantity. Where they part, a sentence says where, and why."
)

COLUMNS = 3


def home(cases: StreamlitPage, claims: StreamlitPage, studies: StreamlitPage) -> None:
    """Three sentences, the board in a line, the studies, and the scenarios as cards."""
    st.title("What does this gradient mean?", anchor=False)
    st.markdown(ABOUT)
    st.subheader("What the migration guides say", anchor=False)
    st.page_link(claims, label=_board_line(), icon=":material/fact_check:")

    st.subheader("Studies", anchor=False)
    cards = st.columns(COLUMNS)
    for place, name in enumerate(STUDIES):
        with cards[place % COLUMNS].container(border=True):
            st.page_link(studies, label=f"**{name}**", query_params={"study": name})
            st.caption(escape(study_topic(name).question))

    st.subheader("Scenarios", anchor=False)
    words = st.text_input("Search", key="words of scenarios", placeholder="dropout, lstm, second …")
    cards = st.columns(COLUMNS)
    place = 0
    for name, path in offered().items():
        title, verdict = _card(str(path), digest_of_file(path))
        text = f"{name} {title}".casefold()
        if all(word in text for word in words.casefold().split()):
            with cards[place % COLUMNS].container(border=True):
                st.page_link(cases, label=f"**{name}**", query_params={"scenario": name})
                st.caption(f"{title}  \n{verdict}" if verdict else title)
            place += 1


@st.cache_data(ttl=30, show_spinner=False)
def _board_line() -> str:
    """The counts of the board where it is stored; how many claims there are elsewhere."""
    claims = every_claim()
    known = stored_board(claims.values(), Store())
    return counts(known) if known else f"{len(claims)} claims, checked when they are opened"


@st.cache_data(ttl=30, show_spinner=False)
def _card(path: str, digest: str) -> tuple[str, str]:
    """A scenario's title and the verdict on it, as Markdown; no verdict before it is stored."""
    try:
        about = scenario(Path(path))
        report: Report | None = stored_report(about, Wanted(), Store())
    except ExplorerError as error:
        return escape(clean(str(error))), ""
    verdict = escape(clean(overview(report).summary)) if report else ""
    return escape(clean(about.title)), verdict
