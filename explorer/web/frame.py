"""What stands around every page: the question in the sidebar, the run with its progress, and errors
as one message.
"""

from collections.abc import Callable

import streamlit as st

from explorer.cli.asking import MAX_ORDER
from explorer.model.errors import ExplorerError, WorkerFaultError
from explorer.model.report import Report
from explorer.report.markdown import escape
from explorer.scenario.devices import FORMS, parse
from explorer.text.clean import clean
from explorer.web.configured import digest, offered, scenario
from explorer.web.running import Explorations, Question, explorations, watch

FIRST = "dense_mse"
CALM = "<style>.stMainBlockContainer { padding: 4.5rem 2.5rem 3rem; }</style>"
"""Streamlit leaves a hand's breadth around every page, which tables and graphs need more."""

DEVICES = ("cpu", "auto", "cuda", "npu", "mps")
"""Offered for choice; another form, such as "cuda:1", can be typed."""

Show = Callable[[Question, Report], None]


def framed(show: Show) -> Callable[[], None]:
    """A page that shows a report: asks, runs, shows; whatever is meant for a person becomes one
    message.
    """

    def page() -> None:
        try:
            question = st.session_state.get("question")
            report = question and _report(question)
            if question and report:
                show(question, report)
        except ExplorerError as error:
            say(str(error))
        except WorkerFaultError as error:
            say(
                "a fault of the explorer itself, in a worker: "
                + str(error).strip().rpartition("\n")[2]
            )

    page.__name__ = show.__name__
    return page


def say(message: str) -> None:
    """One error message; what a scenario or a framework put into it shows as it is."""
    st.error(escape(clean(message, keep="\n")))


def sidebar() -> None:
    """Ask for scenario, device and order; the question is kept in the session under "question"."""
    paths = offered()
    with st.sidebar:
        name = st.selectbox(
            "Scenario",
            list(paths),
            index=list(paths).index(FIRST) if FIRST in paths else 0,
            key="scenario",
        )
        device = st.selectbox(
            "Device", DEVICES, key="device", accept_new_options=True, help=", ".join(FORMS)
        )
        order = st.number_input(
            "Order", 1, MAX_ORDER, key="order", help="nested gradients up to this order"
        )
        run = st.button("Run", type="primary", width="stretch")
    st.html(CALM)
    st.session_state["question"] = None
    if name is None:
        say("there is no scenario in the configured folders")
        return
    try:
        parse(device or "cpu")
        st.session_state["question"] = Question(
            paths[name], digest(paths[name]), device or "cpu", int(order)
        )
        about = scenario(paths[name])
        if about.notes:
            st.sidebar.expander("About this scenario").markdown(about.notes)
        st.subheader(escape(clean(about.title)), anchor=False)
        if run:
            explorations().ask(st.session_state["question"])
    except ExplorerError as error:
        say(str(error))
        st.session_state["question"] = None


def _report(question: Question) -> Report | None:
    job = explorations().find(question)
    if job is None:
        st.info(
            "Press **Run** to ask every case of all four engines. It takes some seconds; the report is kept."
        )
        return None
    return watch(job)


def graphs_of(question: Question, case: str) -> Report:
    """The report on the graphs of one more case, made when it is first asked for."""
    jobs: Explorations = explorations()
    return watch(
        jobs.ask(Question(question.path, question.digest, question.device, question.order, case))
    )
