"""The box in which a visitor chooses a device."""

import streamlit as st

from explorer.scenario.devices import FORMS
from explorer.text.language import _

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
