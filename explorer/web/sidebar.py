"""The sidebar, in which a visitor chooses a scenario, and how it is asked; the address says it too."""

from pathlib import Path

import streamlit as st

from explorer.scenario.devices import parse
from explorer.scenario.matrix import MAX_ORDER
from explorer.text.clean import clean
from explorer.text.language import _
from explorer.web.device_box import FIRST_DEVICE, device_box
from explorer.web.explorations import ReportKey
from explorer.web.file_changes import follow_file
from explorer.web.links import CHOICE, follow, page_called, remember
from explorer.web.messages import say_error, told_errors
from explorer.web.offered_scenarios import digest_of_file, first_scenario, offered, scenario
from explorer.web.plain_text import plain, without_pictures
from explorer.web.refusals import refusal
from explorer.web.studies_page import studies_of_a_scenario
from explorer.words.scenarios import said, said_notes

PLACE = CHOICE
"""The pages that share one choice."""


def sidebar() -> ReportKey | None:
    """Ask for scenario, device and order; None where the choice cannot be asked, which is said."""
    paths = offered()
    if not paths:
        say_error(_("There is no scenario in the configured folders."))
        return None
    wanted = follow(PLACE, ("scenario", "device", "order"))
    refused = _refused(wanted, list(paths))
    with st.sidebar:
        name = _scenario_box(list(paths), wanted.get("scenario", first_scenario()))
        device = device_box(wanted.get("device", FIRST_DEVICE))
        order = _order_box(wanted.get("order", "1"))
    if refused:
        # The boxes are there to choose something else; until then nothing is asked.
        say_error(refused)
        home = page_called("")
        if home:
            st.page_link(home, label=_("All scenarios"), icon=":material/home:")
        return None
    with told_errors():
        remember(PLACE, _address(name, device, order))
        key = ReportKey(paths[name], digest_of_file(paths[name]), device, order)
        follow_file(key.path, key.digest)
        parse(device)
        _introduce(paths[name])
        _link_studies(name)
        return key
    return None


def _address(name: str, device: str, order: int) -> dict[str, str]:
    """The choice in an address, in which what a page opens with is left out."""
    # With it, a page would push an address of its own over the one that it was opened with, and the
    # browser's way back would lead to the same page again and again.
    return {
        "scenario": name if name != first_scenario() else "",
        "device": device if device != FIRST_DEVICE else "",
        "order": str(order) if order > 1 else "",
    }


def _refused(wanted: dict[str, str], names: list[str]) -> str:
    """Why what an address asks for cannot be asked; empty where it can."""
    name, order = wanted.get("scenario"), wanted.get("order", "1")
    if name is not None and name not in names:
        return refusal(_("unknown scenario {name}").format(name=repr(name)), name, names)
    if not _is_order(order):
        text = _("order {order} is out of range; allowed: 1 to {most}")
        return text.format(order=repr(order), most=MAX_ORDER)
    return ""


def _is_order(text: str) -> bool:
    return text.isdecimal() and 1 <= int(text) <= MAX_ORDER


def _scenario_box(names: list[str], first: str) -> str:
    index = names.index(first) if first in names else 0
    return st.selectbox(_("Scenario"), names, index=index, key="scenario") or names[index]


def _order_box(first: str) -> int:
    value = int(first) if _is_order(first) else 1
    chosen = st.number_input(
        _("Order"),
        1,
        MAX_ORDER,
        value,
        key="order",
        help=_("nested gradients up to this order"),
    )
    return int(chosen)


def _link_studies(name: str) -> None:
    """The studies that can be run on the scenario in sight."""
    page = page_called("studies")
    if page is None:
        return
    with st.sidebar.expander(_("Studies of this scenario"), expanded=True):
        for study in studies_of_a_scenario():
            st.page_link(page, label=study, query_params={"study": study, "on": name})


def _introduce(path: Path) -> None:
    """The scenario's title above the page, and its notes; raises ScenarioError."""
    about = scenario(path)
    if about.notes:
        # Notes are Markdown by contract; Streamlit shows the HTML in it as text.
        notes = without_pictures(clean(said_notes(about.notes), keep="\n"))
        st.sidebar.expander(_("About this scenario")).markdown(notes)
    st.subheader(plain(said(about.title)), anchor=False)
