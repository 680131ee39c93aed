"""The page of studies: one of them on a scenario, with its findings, tables and charts."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import streamlit as st

from explorer.drawing.chart import in_dark, specification
from explorer.model.errors import UsageError
from explorer.model.message import Text
from explorer.model.study import Chart, StudyRecord, Table
from explorer.report.recorded.fallback import study_in_place
from explorer.report.recorded.results import recorded_study
from explorer.report.study import NO_ROWS, cell_text, not_measured
from explorer.report.wording import measured_with
from explorer.scenario.devices import parse
from explorer.store.store import Store
from explorer.text.clean import clean
from explorer.text.language import _
from explorer.topics import STUDIES, study_topic
from explorer.topics.question import Target
from explorer.topics.studies import stored_study, study, target
from explorer.topics.topic import Topic
from explorer.web.links import CHOICE, follow, last_shown, page_called, remember, unless
from explorer.web.offered_scenarios import FIRST, digest_of_file, first_scenario, offered
from explorer.web.progress import recorded_with, show_or_await
from explorer.web.shared_runs import SharedRun, SharedRuns, shared_runs
from explorer.web.widgets import FIRST_DEVICE, device_box, errors_shown, new_bar, plain, refusal
from explorer.words.messages import study_text
from explorer.workers.workers import Workers

FIRST_STUDY = "devices"
"""The study that a page opens with: of all it takes the least time."""

PLACE = "studies"

BEFORE = "scenario that studies began with"

FIRST_FINDINGS = 8
"""The number of findings that are in sight at once."""


def study_run(topic: Topic, on: Target, runs: SharedRuns) -> SharedRun[StudyRecord[Text]]:
    """The run for a topic's study of a target."""

    def make(workers: Workers, run: SharedRun[StudyRecord[Text]]) -> StudyRecord[Text]:
        return study(topic, on, workers.limited(topic.seconds), run.step, Store())

    def stored() -> StudyRecord[Text] | None:
        return stored_study(topic, on, Store()) or study_in_place(topic, on)

    digest = digest_of_file(Path(on.scenario)) if on.scenario else ""
    return runs.start((PLACE, topic.name, on, digest), stored, make, "long")


def studies() -> None:
    """The choice of a study and of its scenario, then what it tells."""
    wanted = follow(PLACE, ("study", "on", "device"))
    with errors_shown():
        bar = new_bar("studies")
        with bar:
            name = _study_box(wanted.get("study", FIRST_STUDY))
            topic = study_topic(name)
            scenario = None
            if topic.default_scenario is not None:
                scenario = _scenario_box(_first_scenario(topic, wanted.get("on", "")))
            device = device_box(wanted.get("device", FIRST_DEVICE))
        remember(
            PLACE,
            {
                "study": unless(name, FIRST_STUDY),
                "on": unless(scenario or "", topic.default_scenario or ""),
                "device": unless(device, FIRST_DEVICE),
            },
        )
        parse(device)
        _link_scenario(scenario)
        st.subheader(plain(_(topic.title)), anchor=False)
        st.markdown(plain(_(topic.question)))
        file = str(offered()[scenario]) if scenario else None
        on = target(topic, file, device)
        show_or_await(
            study_run(topic, on, shared_runs()), lambda: recorded_study(topic, on), show_record
        )


def scenario_in_sight(topic: Topic) -> str:
    """The scenario that a visitor has looked at, so that its studies are a tab beside its pages."""
    first = first_scenario()
    # A file that the owner has named is in sight from the start.
    unseen = topic.default_scenario or "" if first == FIRST else first
    return last_shown(CHOICE).get("scenario", unseen)


def _first_scenario(topic: Topic, wanted: str) -> str:
    """The scenario that the box begins with: ``wanted``, until another one comes in sight."""
    in_sight = scenario_in_sight(topic)
    before = st.session_state.get(BEFORE, in_sight)
    st.session_state[BEFORE] = in_sight
    if in_sight != before and "on" not in st.query_params:
        return in_sight
    return wanted or in_sight


def _link_scenario(name: str | None) -> None:
    """The way to the pages of the scenario."""
    page = page_called("semantics")
    if name and page:
        label = _("All about {name}").format(name=plain(name))
        st.page_link(
            page, label=label, icon=":material/arrow_back:", query_params={"scenario": name}
        )


def studies_of_a_scenario() -> list[str]:
    """The names of the studies that take a scenario."""
    return [name for name in STUDIES if study_topic(name).default_scenario is not None]


def _study_box(first: str) -> str:
    if first not in STUDIES:
        fact = _("unknown study {name}").format(name=repr(first))
        raise UsageError(refusal(fact, first, list(STUDIES)))
    chosen = st.selectbox(_("Study"), STUDIES, index=STUDIES.index(first), key="study")
    return chosen or first


def _scenario_box(first: str) -> str:
    names = list(offered())
    if first not in names:
        fact = _("unknown scenario {name}").format(name=repr(first))
        raise UsageError(refusal(fact, first, names))
    chosen = st.selectbox(_("On the scenario"), names, index=names.index(first), key="on")
    return chosen or first


def show_record(facts: StudyRecord[Text], is_recorded: bool = False) -> None:
    """When it was measured, the findings, the charts and the tables of a study."""
    record = study_text(facts)
    measured = measured_with(record.date, record.versions)
    st.caption(plain(recorded_with() if is_recorded else measured))
    _findings(record.findings)
    for chart in record.charts:
        alt = chart.note or _("{y} by {x}").format(y=chart.y, x=chart.x)
        drawn = specification(readable(chart))
        if st.context.theme.type == "dark":
            drawn = in_dark(drawn)
        st.vega_lite_chart(drawn, theme=None, alt=clean(f"{chart.title}. {alt}"))
    for table in record.tables:
        _table(table)
    missing = not_measured(record)
    if missing:
        with st.expander(_("Not measured ({n})").format(n=len(missing))):
            for names, reason in missing.items():
                text = _("{what}: {values}").format(what=plain(names), values=plain(reason))
                st.markdown(f"- {text}")


def readable(chart: Chart) -> Chart:
    """A chart whose texts end in no expression: Vega-Lite 5 writes them into its code for tooltips."""
    series = []
    for line in chart.series:
        x = tuple(map(_readable_value, line.x))
        series.append(msgspec.structs.replace(line, name=_one_text(line.name), x=x))
    return msgspec.structs.replace(
        chart,
        title=_one_text(chart.title),
        x=_one_text(chart.x),
        y=_one_text(chart.y),
        note=_one_text(chart.note),
        series=tuple(series),
    )


def _readable_value(value: float | str) -> float | str:
    return _one_text(value) if isinstance(value, str) else value


def _one_text(text: str) -> str:
    return clean(" ".join(text.split())).replace("\\", "⧵").replace('"', "”")


def _findings(findings: Sequence[str]) -> None:
    """The first findings, which say most; the others are a click away."""
    st.markdown(_listed(findings[:FIRST_FINDINGS]))
    further = findings[FIRST_FINDINGS:]
    if further:
        text = _("1 more finding") if len(further) == 1 else _("{n} more findings")
        with st.expander(text.format(n=len(further))):
            st.markdown(_listed(further))


def _listed(findings: Sequence[str]) -> str:
    return "\n".join(f"- {plain(finding)}" for finding in findings)


def _table(table: Table) -> None:
    st.markdown(f"#### {plain(table.title)}")
    if table.rows:
        columns: dict[str, list[str]] = {}
        for place, name in enumerate(table.columns):
            columns[clean(name)] = [clean(cell_text(row[place])) for row in table.rows]
        st.dataframe(columns, hide_index=True)
    else:
        st.caption(_(NO_ROWS))
    if table.note:
        st.caption(plain(table.note))
