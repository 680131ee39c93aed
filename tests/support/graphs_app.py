"""The page of graphs alone, on a made net: no scenario is run, and no framework is needed.

The variables NET_BLOCKS and NET_SPOILED say how deep the net is, and which op has a wrong value,
NET_FOLDER where its file net.py is, NET_EXPLAINED whether the divergence has a cause ("yes") or was tried
in vain ("no"), NET_MENDED the same of one that is seen as if that one were mended, and NET_KNOWN whether
something is known of it.
"""

import os
from functools import cache
from pathlib import Path

import streamlit as st

from explorer.model.report import Report
from explorer.web.graphs_page import side_by_side
from tests.support.deep_nets import deep_report
from tests.support.explained import explained_report, known_report, mended_report

BLOCKS, SPOILED, FOLDER = "NET_BLOCKS", "NET_SPOILED", "NET_FOLDER"
EXPLAINED, MENDED, KNOWN = "NET_EXPLAINED", "NET_MENDED", "NET_KNOWN"


@cache
def net_report(
    blocks: int, spoiled: str, is_explained: str = "", is_mended: str = "", is_known: str = ""
) -> Report:
    """The report on a net, made once a server."""
    report = deep_report(blocks, spoiled)
    if is_known:
        report = known_report(report)
    if is_mended:
        report = mended_report(report, has_cause=is_mended == "yes")
    return explained_report(report, has_cause=is_explained == "yes") if is_explained else report


def page() -> None:
    """The graphs of the one case that there is."""
    report = net_report(
        int(os.environ.get(BLOCKS, "2")),
        *(os.environ.get(name, "") for name in (SPOILED, EXPLAINED, MENDED, KNOWN)),
    )
    labels = {case.case.label: case.case.short for case in report.cases}
    folder = Path(os.environ.get(FOLDER, "."))
    side_by_side(labels, report.graphs[0].case, lambda _: report, (folder,))


if __name__ == "__main__":
    st.set_page_config(layout="wide")
    page()
