"""The Streamlit app's entry point: the list of its pages."""

import streamlit as st

from explorer.web import frame
from explorer.web.cases_page import cases
from explorer.web.graphs_page import graphs
from explorer.web.machine_page import machine


def main() -> None:
    """Set the page up, ask the question, show the page chosen."""
    st.set_page_config(page_title="Autodiff semantics explorer", page_icon="∂", layout="wide")
    pages = [
        st.Page(frame.framed(cases), title="Cases", url_path="cases", default=True),
        st.Page(frame.framed(graphs), title="Graphs", url_path="graphs"),
        st.Page(frame.framed(machine), title="Devices and versions", url_path="machine"),
    ]
    page = st.navigation(pages, position="top")
    frame.sidebar()
    page.run()


if __name__ == "__main__":
    main()
