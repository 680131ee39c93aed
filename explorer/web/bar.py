"""A bar of widgets beside each other, as every page of the app has one above what it shows."""

from typing import Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

PREFIX = "bar-"

STYLE = f"""<style>
@media (max-width: 640px) {{
  [class*="st-key-{PREFIX}"] > div {{ flex: 1 1 calc(50% - 1rem) !important; width: auto !important;
    min-width: 7rem !important; }}
  [class*="st-key-{PREFIX}"] > div > div {{ width: 100% !important; }}
}}
</style>"""
"""On a phone the widgets stand in two columns; widths of their own would leave ragged rows."""


def new_bar(name: str, width: Literal["stretch", "content"] = "stretch") -> DeltaGenerator:
    """A new bar, under a name that no other bar of the page has."""
    st.html(STYLE)
    return st.container(horizontal=True, key=f"{PREFIX}{name}", width=width)
