"""The pages on records made by hand: ``?sample=`` names the page, ``label=hostile`` a hostile label."""

import streamlit as st

from tests.support.hostile_labels import TOGETHER
from tests.support.sample_pages import PAGES

if __name__ == "__main__":
    st.set_page_config(layout="wide")
    st.session_state["label"] = TOGETHER if "hostile" in st.query_params else "label"
    PAGES[st.query_params["sample"]]()
    # A test waits for it: nothing comes after.
    st.html('<span id="all-is-shown"></span>')
