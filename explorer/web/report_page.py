"""Pages that show the report on the scenario that is chosen in the sidebar."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import streamlit as st

from explorer.environments.known import engines_in, known
from explorer.exploration.options import Callbacks, Wanted, engines_of
from explorer.exploration.stored import explored, forget_partial, lack_of, stored_report
from explorer.model.errors import UsageError
from explorer.model.report import CaseReport, Report
from explorer.report.recorded.fallback import report_in_place
from explorer.scenario.devices import parse
from explorer.scenario.matrix import MAX_ORDER
from explorer.store.store import Store
from explorer.text.clean import clean
from explorer.text.language import _
from explorer.web.links import CHOICE, follow, page_called, place_of, remember, unless
from explorer.web.offered_scenarios import (
    digest_of_file,
    first_scenario,
    is_shipped,
    offered,
    scenario,
)
from explorer.web.progress import RunProgress, awaited, run_again, say_if_recorded
from explorer.web.shared_runs import SharedRun, SharedRuns, shared_runs
from explorer.web.studies_page import studies_of_a_scenario
from explorer.web.widgets import (
    FIRST_DEVICE,
    device_box,
    errors_shown,
    plain,
    refusal,
    show_error,
    show_finding,
    without_pictures,
)
from explorer.words.scenarios import said, said_notes
from explorer.workers.workers import Workers

# Reports


class ReportKey(msgspec.Struct, frozen=True):
    """The key of a report: everything that it depends on.

    ``digest`` is that of the scenario file's text. With the label of a ``case``, only its graphs
    are asked for. Engines run in each of the ``environments`` too.
    """

    path: Path
    digest: str
    device: str = "cpu"
    order: int = 1
    case: str | None = None
    environments: tuple[str, ...] = ()


def wanted_of(key: ReportKey) -> Wanted:
    """The options of a report."""
    return Wanted(
        engines=(*engines_of(scenario(key.path)), *engines_in(key.environments)),
        device=key.device,
        order=key.order,
        graph_case=key.case,
        # As in the shell: what one has run, the other has at once.
        selection="main" if key.case else None,
    )


def report_run(key: ReportKey, runs: SharedRuns) -> SharedRun[Report]:
    """The run for a report."""
    wanted = wanted_of(key)

    def make(workers: Workers, run: SharedRun[Report]) -> Report:
        def row(case: CaseReport) -> None:
            # The graphs are there from the first part on.
            if run.partial:
                cases = (*run.partial.cases, case)
                run.set_partial(msgspec.structs.replace(run.partial, cases=cases))

        callbacks = Callbacks(run.step, first=run.set_partial, complete=row)
        return explored(scenario(key.path), wanted, workers, Store(), callbacks)

    def stored() -> Report | None:
        about = scenario(key.path)
        known = stored_report(about, wanted, Store())
        return known or report_in_place(about, wanted)

    return runs.start(key, stored, make)


# Changed files

LOOK_SECONDS = 1.0
"""The interval at which a page looks at its files."""


def follow_file(path: Path, digest: str) -> None:
    """Run the page again once the file's digest is another; what the address says stays in sight."""
    if not is_shipped(path):
        _look(path, digest)


@st.fragment(run_every=LOOK_SECONDS)
def _look(path: Path, digest: str) -> None:
    if digest_of_file(path) != digest:
        st.rerun()


# The sidebar

PLACE = CHOICE
"""The pages that share one choice."""


def sidebar() -> ReportKey | None:
    """The chosen scenario, device and order; None, with a message, for an unknown one."""
    paths = offered()
    if not paths:
        show_error(_("There is no scenario in the configured folders."))
        return None
    wanted = follow(PLACE, ("scenario", "device", "order", "environments"))
    refused = _refused(wanted, list(paths))
    with st.sidebar:
        name = _scenario_box(list(paths), wanted.get("scenario", first_scenario()))
        device = device_box(wanted.get("device", FIRST_DEVICE))
        order = _order_box(wanted.get("order", "1"))
        environments = _environments_box(_listed(wanted))
    if refused:
        # The boxes are there to choose something else; until then nothing is run.
        show_error(refused)
        home = page_called("")
        if home:
            st.page_link(home, label=_("All scenarios"), icon=":material/home:")
        return None
    with errors_shown():
        remember(PLACE, _address(name, device, order, environments))
        digest = digest_of_file(paths[name])
        key = ReportKey(paths[name], digest, device, order, environments=environments)
        follow_file(key.path, key.digest)
        parse(device)
        _introduce(paths[name])
        _link_studies(name)
        return key
    return None


def _address(name: str, device: str, order: int, environments: tuple[str, ...]) -> dict[str, str]:
    """The choice in an address, in which what a page opens with is left out."""
    # With it, a page would push an address of its own over the one that it was opened with, and the
    # browser's way back would lead to the same page again and again.
    return {
        "scenario": unless(name, first_scenario()),
        "device": unless(device, FIRST_DEVICE),
        "order": unless(str(order), "1"),
        "environments": ",".join(environments),
    }


def _listed(wanted: dict[str, str]) -> list[str]:
    """The environments in an address."""
    names = wanted.get("environments", "").split(",")
    return [name for name in dict.fromkeys(names) if name]


def _known() -> list[str]:
    """The environments that can be chosen; a list that cannot be read is the doctor's to report."""
    try:
        return list(known())
    except UsageError:
        return []


def _refused(wanted: dict[str, str], names: list[str]) -> str:
    """What is wrong with the names in an address; empty where nothing is."""
    name, order = wanted.get("scenario"), wanted.get("order", "1")
    if name is not None and name not in names:
        return refusal(_("unknown scenario {name}").format(name=repr(name)), name, names)
    if not _is_order(order):
        text = _("order {order} is out of range; allowed: 1 to {most}")
        return text.format(order=repr(order), most=MAX_ORDER)
    for environment in _listed(wanted):
        # Names alone: the path of a Python, which the shell takes, is nothing for an address to run.
        if environment not in _known():
            fact = _("unknown environment {name}").format(name=repr(environment))
            return refusal(fact, environment, _known())
    return ""


def _is_order(text: str) -> bool:
    return text.isdecimal() and 1 <= int(text) <= MAX_ORDER


def _scenario_box(names: list[str], first: str) -> str:
    index = place_of(first, names)
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


def _environments_box(first: list[str]) -> tuple[str, ...]:
    """The environments whose engines are shown beside the others; no box where none is known."""
    names = _known()
    if not names:
        return ()
    chosen = st.multiselect(
        _("Environments"),
        names,
        [name for name in first if name in names],
        key="environments",
        help=_("engines of these environments are run too"),
    )
    return tuple(sorted(chosen))


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


# Pages

ShowReport = Callable[[ReportKey, Report], None]


def report_page(show: ShowReport, *, by_row: bool = False) -> Callable[[], None]:
    """A page that shows the chosen report, run as soon as the page is opened.

    It shows what is known as soon as there is anything, and ``by_row`` also each row that comes.
    """

    def page() -> None:
        """Show the report, or what kept it from being made."""
        key = sidebar()
        if key is None:
            return
        with errors_shown():
            run = report_run(key, shared_runs())
            shown = run.parts if by_row else None
            waiting = RunProgress(run, lambda: digest_of_file(key.path) != key.digest)
            report = waiting.part()
            # It may become whole while the page shows a part of it.
            is_all = report is run.value
            if is_all and lack_of(report):
                _say_lost(key, run)
            say_if_recorded()
            for finding in report.findings:
                show_finding(finding)
            show(key, report)
            if not is_all:
                waiting.stay(shown)

    page.__name__ = show.__name__  # Streamlit tells pages apart by it
    return page


def _say_lost(key: ReportKey, run: SharedRun[Report]) -> None:
    """Say that results were lost, and offer to run again."""
    st.warning(
        _("Answers are missing: a worker process died or ran out of time. A new one stands ready.")
    )
    run_again(_forget, key, run)


def _forget(key: ReportKey, run: SharedRun[Report]) -> None:
    forget_partial(scenario(key.path), wanted_of(key), Store())
    shared_runs().forget(run)


def graphs_of(key: ReportKey, case: str) -> Report:
    """The report on the graphs of one more case, made when it is first needed."""
    return awaited(report_run(msgspec.structs.replace(key, case=case), shared_runs()))
