"""Messages for whoever looks at the page."""

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from explorer.model.errors import ExplorerError, WorkerFaultError
from explorer.model.findings import ReportFinding
from explorer.web.asking import StoppedError
from explorer.web.plain_text import plain
from explorer.words.findings import sentence as finding_sentence
from explorer.words.scenarios import said


def say_error(message: str) -> None:
    """One error message; what a scenario or a framework put into it shows as it is."""
    st.error(plain(message))


@contextmanager
def told_errors() -> Iterator[None]:
    """What is raised on purpose inside the context becomes one message on the page."""
    try:
        yield
    except StoppedError:
        pass  # the page says so already, with a way to go on
    except ExplorerError as error:
        say_error(str(error))
    except WorkerFaultError as error:
        say_error(error.line)


def say_finding(finding: ReportFinding) -> None:
    """What was found out about the nets themselves; an alarm or not."""
    if finding.is_remark:
        st.info(plain(finding_sentence(finding)))
    elif finding.expected:
        st.info(plain(f"{finding_sentence(finding)} ({said(finding.reason)})"))
    else:
        st.warning(plain(finding_sentence(finding)))
