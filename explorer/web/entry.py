"""The script that Streamlit runs: the list of the app's pages."""

import streamlit as st

from explorer.web.cases_page import cases
from explorer.web.graphs_page import graphs
from explorer.web.machine_page import machine
from explorer.web.report_page import report_page
from explorer.web.sidebar import sidebar


def main() -> None:
    """Set the page up, ask in the sidebar, show the page chosen."""
    st.set_page_config(page_title="Autodiff semantics explorer", page_icon="∂", layout="wide")
    pages = [
        st.Page(report_page(cases), title="Cases", url_path="cases", default=True),
        st.Page(report_page(graphs), title="Graphs", url_path="graphs"),
        st.Page(report_page(machine), title="Devices and versions", url_path="machine"),
    ]
    page = st.navigation(pages, position="top")
    sidebar()
    page.run()


# A child that multiprocessing spawns runs this file again under another name: nothing may happen.
if __name__ == "__main__":
    main()
