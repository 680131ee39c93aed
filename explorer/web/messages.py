"""Messages for whoever looks at the page."""

import streamlit as st

from explorer.model.findings import ReportFinding
from explorer.report.markdown import escape
from explorer.text.clean import clean


def say_error(message: str) -> None:
    """One error message; what a scenario or a framework put into it shows as it is."""
    st.error(escape(clean(message, keep="\n")))


def say_finding(finding: ReportFinding) -> None:
    """What was found out about the nets themselves; an alarm or not."""
    if finding.is_remark:
        st.info(escape(clean(finding.sentence)))
    elif finding.expected:
        st.info(escape(clean(f"{finding.sentence} ({finding.reason})")))
    else:
        st.warning(escape(clean(finding.sentence)))
