"""Widgets of several pages: bars, the choice of a device, the size of tables."""

from typing import Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from explorer.scenario.devices import FORMS
from explorer.text.language import _

BAR_PREFIX = "bar-"

BAR_STYLE = f"""<style>
@media (max-width: 640px) {{
  [class*="st-key-{BAR_PREFIX}"] > div {{ flex: 1 1 calc(50% - 1rem) !important; width: auto !important;
    min-width: 7rem !important; }}
  [class*="st-key-{BAR_PREFIX}"] > div > div {{ width: 100% !important; }}
}}
</style>"""
"""On a phone the widgets are in two columns; widths of their own would leave ragged rows."""


def new_bar(name: str, width: Literal["stretch", "content"] = "stretch") -> DeltaGenerator:
    """A new bar, under a name that no other bar of the page has."""
    st.html(BAR_STYLE)
    return st.container(horizontal=True, key=f"{BAR_PREFIX}{name}", width=width)


DEVICES = ("cpu", "auto", "cuda", "npu", "mps")
"""Offered for choice; another form, such as "cuda:1", can be typed."""

FIRST_DEVICE = DEVICES[0]


def device_box(first: str) -> str:
    """The device that is chosen; ``first`` until another one is."""
    devices = list(dict.fromkeys((*DEVICES, first)))
    chosen = st.selectbox(
        _("Device"),
        devices,
        index=devices.index(first),
        key="device",
        accept_new_options=True,
        help=", ".join(FORMS),
    )
    return chosen or FIRST_DEVICE


ROW_HEIGHT, HEAD_HEIGHT = 35, 38
"""Pixels of a row of a table, and of its head."""


def table_height(rows: int, most: int) -> int:
    """The pixels in which a table shows all its rows, or ``most`` of them where there are more."""
    return HEAD_HEIGHT + ROW_HEIGHT * min(rows, most)
