"""The page of devices and versions: where each engine of this report ran, and with what."""

import streamlit as st

from explorer.model.report import Report
from explorer.report.reading import read
from explorer.text.clean import clean
from explorer.web.running import Question


def machine(question: Question, report: Report) -> None:
    """Engines with their devices, then every version that was used."""
    st.markdown("Where each engine ran, and how it differentiates.")
    where = read(report).where
    columns = ("engine", "how", "version", "device")
    st.dataframe(
        {name: [getattr(row, name) for row in where] for name in columns},
        hide_index=True,
        width="content",
    )
    st.markdown("Versions of what took part.")
    names = sorted(report.versions)
    versions = [clean(report.versions[name]) for name in names]
    st.dataframe({"package": names, "version": versions}, hide_index=True, width="content")
    st.caption(f"Asked for: device {clean(question.device)}, order {question.order}.")
