"""Messages for whoever looks at the page."""

import streamlit as st

from explorer.report.markdown import escape
from explorer.text.clean import clean


def say_error(message: str) -> None:
    """One error message; what a scenario or a framework put into it shows as it is."""
    st.error(escape(clean(message, keep="\n")))
