"""The page of devices and versions: where each engine of this report ran, and with what."""

import streamlit as st

from explorer.model.report import Report
from explorer.report.scenario.overview import cells_of, overview
from explorer.report.scenario.wording import ENGINE_COLUMNS
from explorer.text.clean import clean
from explorer.web.explorations import ReportKey


def machine(key: ReportKey, report: Report) -> None:
    """Engines with their devices, then every version that was used."""
    st.markdown("Where each engine ran, and how it differentiates.")
    rows = overview(report).engines
    engines = [dict(zip(ENGINE_COLUMNS, cells_of(row), strict=True)) for row in rows]
    st.dataframe(engines, hide_index=True, width="content")
    st.markdown("Versions of what took part.")
    packages = sorted(report.versions)
    versions = [clean(report.versions[package]) for package in packages]
    st.dataframe({"package": packages, "version": versions}, hide_index=True, width="content")
    st.caption(f"Asked for: device {clean(key.device)}, order {key.order}.")
