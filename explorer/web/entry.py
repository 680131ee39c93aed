"""The script that Streamlit runs: the list of the app's pages."""

import streamlit as st

from explorer.text.language import _
from explorer.web.cases_page import cases
from explorer.web.claims_page import claims
from explorer.web.code_page import code
from explorer.web.doctor_page import doctor
from explorer.web.export_page import export
from explorer.web.graphs_page import graphs
from explorer.web.home_page import Pages, home
from explorer.web.language import language_box, settle_language
from explorer.web.links import offer, turn_to
from explorer.web.recordings_page import recordings
from explorer.web.report_page import report_page
from explorer.web.studies_page import studies

# Narrower margins than Streamlit's own: tables and graphs need the width. (A string on its own in this
# file would be shown on the page.)
PAGE_STYLE = "<style>.stMainBlockContainer { padding: 4.5rem 2.5rem 3rem; }</style>"


def main() -> None:
    """Set the page up, and show the one that was chosen."""
    settle_language()
    st.set_page_config(page_title="Autodiff semantics explorer", page_icon="∂", layout="wide")
    of_cases = st.Page(report_page(cases, by_row=True), title=_("Semantics"), url_path="semantics")
    of_graphs = st.Page(report_page(graphs), title=_("Graphs"), url_path="graphs")
    of_claims = st.Page(claims, title=_("Claims"), url_path="claims")
    of_studies = st.Page(studies, title=_("Studies"), url_path="studies")

    def first() -> None:
        """The page that a visitor without a link meets."""
        home(Pages(of_cases, of_graphs, of_studies, of_claims))

    pages = [
        st.Page(first, title=_("Home"), url_path="home", default=True),
        of_cases,
        of_graphs,
        st.Page(report_page(code(of_graphs)), title=_("Code"), url_path="code"),
        st.Page(report_page(export), title=_("Export"), url_path="export"),
        of_studies,
        of_claims,
        st.Page(recordings, title=_("Recorded"), url_path="recordings"),
        st.Page(doctor, title=_("Doctor"), url_path="doctor"),
    ]
    st.html(PAGE_STYLE)
    for page in pages:
        offer(page)
    page = st.navigation(pages, position="top")
    turn_to(page.url_path)
    page.run()
    language_box()


# A child that multiprocessing spawns runs this file again under another name: nothing may happen.
if __name__ == "__main__":
    main()
