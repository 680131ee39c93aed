"""The sidebar, in which a visitor says which report to make."""

from pathlib import Path

import streamlit as st

from explorer.model.errors import ExplorerError
from explorer.report.markdown import escape
from explorer.scenario.devices import FORMS, parse
from explorer.scenario.matrix import MAX_ORDER
from explorer.text.clean import clean
from explorer.web.explorations import ReportKey, explorations
from explorer.web.messages import say_error
from explorer.web.offered_scenarios import digest_of_file, offered, scenario

FIRST_SCENARIO = "dense_mse"

DEVICES = ("cpu", "auto", "cuda", "npu", "mps")
"""Offered for choice; another form, such as "cuda:1", can be typed."""

PAGE_STYLE = "<style>.stMainBlockContainer { padding: 4.5rem 2.5rem 3rem; }</style>"
"""Narrower margins than Streamlit's own: tables and graphs need the width."""

CHOSEN = "report key"
"""The key under which the session keeps the visitor's choice."""


def chosen_report() -> ReportKey | None:
    """The report chosen in the sidebar; None where it cannot be made."""
    key: ReportKey | None = st.session_state.get(CHOSEN)
    return key


def sidebar() -> None:
    """Ask for scenario, device and order; run the exploration when the button is pressed."""
    paths = offered()
    with st.sidebar:
        name = _scenario_box(list(paths))
        device = st.selectbox(
            "Device", DEVICES, key="device", accept_new_options=True, help=", ".join(FORMS)
        )
        order = st.number_input(
            "Order", 1, MAX_ORDER, key="order", help="nested gradients up to this order"
        )
        is_pressed = st.button("Run", type="primary", width="stretch")
    st.html(PAGE_STYLE)
    # Whatever goes wrong below, the page must not show the report chosen before.
    st.session_state[CHOSEN] = None
    if name is None:
        say_error("there is no scenario in the configured folders")
        return

    path = paths[name]
    try:
        parse(device or "cpu")
        _introduce(path)
    except ExplorerError as error:
        say_error(str(error))
        return
    key = ReportKey(path, digest_of_file(path), device or "cpu", int(order))
    st.session_state[CHOSEN] = key
    if is_pressed:
        explorations().ask(key)


def _scenario_box(names: list[str]) -> str | None:
    index = names.index(FIRST_SCENARIO) if FIRST_SCENARIO in names else 0
    return st.selectbox("Scenario", names, index=index, key="scenario")


def _introduce(path: Path) -> None:
    """The scenario's title above the page, and its notes; raises ScenarioError."""
    about = scenario(path)
    if about.notes:
        # Notes are Markdown by contract; Streamlit shows the HTML in it as text.
        st.sidebar.expander("About this scenario").markdown(about.notes)
    st.subheader(escape(clean(about.title)), anchor=False)
