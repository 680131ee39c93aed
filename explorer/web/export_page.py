"""The page of exports: pictures, records and the report as files, and what gives or shows the same."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import cast

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from explorer import drawing
from explorer.drawing.formats import FormatName
from explorer.drawing.views import VIEWS, ViewName
from explorer.model.graph import GradGraph
from explorer.model.report import Report
from explorer.pair.alignments import last_by_engine
from explorer.report.json import encode
from explorer.report.scenario.export import (
    DEFAULT_VIEW,
    PictureChoice,
    picture_file,
    report_command,
    snippets,
)
from explorer.report.scenario.files import draw_ladder, report_files
from explorer.report.schemas import report_document
from explorer.scenario.find import SHIPPED
from explorer.scenario.own_nets import code_of
from explorer.text.clean import clean
from explorer.text.language import ENGLISH, _, code, later, named, said_in
from explorer.text.messages import one_line
from explorer.web.cards import in_theme
from explorer.web.cards import picture as image_of
from explorer.web.graph_choices import DEPTHS as GRAPH_DEPTHS
from explorer.web.graph_choices import (
    FIRST_LEFT,
    FIRST_RIGHT,
    GRAPHS,
    depth_labels,
    digest_of_graph,
    show_unknown,
    stage_labels,
    view_labels,
)
from explorer.web.links import follow, last_shown, place_of, remember, unless
from explorer.web.report_page import ReportKey, graphs_of
from explorer.web.widgets import new_bar, plain
from explorer.words.graphs import in_order_of_stages
from explorer.words.scenarios import said

PLACE = "export"

NAMES = ("case", "left", "right", "stage", "view", "depth", "format")

ALONE = "alone"
"""In the place of a second engine: the first one's picture alone."""

DEPTHS: dict[str, drawing.Depth] = {**GRAPH_DEPTHS, "0": 0}

SEEN_IN_GRAPHS = "graphs-when-exported"

NOT_CARRIED = {
    "right_case": later("the other case on the right"),
    "left_stage": later("the stage on the left"),
    "right_stage": later("the stage on the right"),
    "opened": later("the modules opened one by one"),
    "folded": later("the modules folded one by one"),
    "step": later("the step of the execution"),
    "only": later("the filter"),
    "node": later("the chosen node"),
}
"""What a picture of two graphs lacks of the page of graphs, by its name in that page's address."""

MIME = {
    "svg": "image/svg+xml",
    "png": "image/png",
    "dot": "text/vnd.graphviz",
    "mermaid": "text/plain",
    "json": "application/json",
    "html": "text/html",
    "markdown": "text/markdown",
}

ALWAYS_ENGLISH = ("json", "png")
"""The formats of files that are English in every language."""

REPORT_FORMATS = {
    "html": later("One HTML page"),
    "json": later("JSON"),
    "markdown": later("Markdown"),
}

STYLE = """<style>
.preview img { width: 100%; max-height: 28rem; object-fit: contain; border: 1px solid rgba(128, 136, 146, .4);
  border-radius: .5rem; }
@media (max-width: 640px) {
  .preview { overflow-x: auto; }
  .preview img { width: auto; max-width: none; height: 17rem; }
}
</style>"""


def export(key: ReportKey, report: Report) -> None:
    """A picture with its snippets and its command, then the whole report."""
    st.html(STYLE)
    st.markdown(f"#### {_('A picture')}")
    wanted = _wanted()
    bar = new_bar("export")
    graphs_report, case = _report_on_case(bar, key, report, wanted)
    last_stages = last_by_engine(graphs_report.graphs)
    if last_stages:
        _picture(bar, key, graphs_report, case, last_stages, wanted)
    else:
        st.caption(_("No engine has a graph of this case."))
    st.markdown(f"#### {_('The whole report')}")
    _report_downloads(key, report)


def _wanted() -> dict[str, str]:
    """What the address asks for, else what the page of graphs has shown since this one was left."""
    shown = last_shown(GRAPHS)
    is_news = shown != st.session_state.get(SEEN_IN_GRAPHS, {})
    st.session_state[SEEN_IN_GRAPHS] = shown
    is_asked = any(name in st.query_params for name in NAMES)
    wanted = follow(PLACE, NAMES)
    if is_news and not is_asked:
        return in_one_picture(shown)
    return wanted


def in_one_picture(shown: Mapping[str, str]) -> dict[str, str]:
    """What the page of graphs shows, by its address, as the address of the picture nearest to it."""
    left, right = shown.get("left", FIRST_LEFT), shown.get("right", FIRST_RIGHT)
    picture = {name: shown[name] for name in ("case", "view", "depth") if name in shown}
    if left != right:
        return {**picture, "left": left, "right": right}
    # Two stages of one engine: the left one is pictured alone.
    return {**picture, "left": left, "right": ALONE, "stage": shown.get("left_stage", "")}


def _say_what_is_not_carried() -> None:
    shown = last_shown(GRAPHS)
    lacking = [_(text) for name, text in NOT_CARRIED.items() if name in shown]
    if lacking:
        text = _("Of what the graphs show now, a picture does not have: {lacking}.")
        st.caption(text.format(lacking=named(lacking)))


def _report_on_case(
    bar: DeltaGenerator, key: ReportKey, report: Report, wanted: Mapping[str, str]
) -> tuple[Report, str]:
    """The report with the graphs of the chosen case, and the case's short name, "" for the first."""
    labels = {case.case.short: case.case.label for case in report.cases}
    captured = ""
    if report.graphs:
        captured = report.graphs[0].case
    names = sorted(labels, key=lambda name: labels[name] != captured)
    index = place_of(wanted.get("case", ""), names)
    name = bar.selectbox(_("Case"), names, index=index, key="case", width=200) or names[0]
    if labels[name] == captured:
        return report, ""
    return graphs_of(key, labels[name]), name


def _picture(
    bar: DeltaGenerator,
    key: ReportKey,
    report: Report,
    case: str,
    graphs: Mapping[str, GradGraph],
    wanted: Mapping[str, str],
) -> None:
    engines = list(graphs)
    _refuse_unknown(engines, wanted)
    left = _one(bar, _("Left"), "left", engines, wanted, FIRST_LEFT)
    others = [ALONE, *(name for name in engines if name != left)]
    right = _one(bar, _("Right"), "right", others, wanted, FIRST_RIGHT)
    shown: tuple[str, ...] = (left, right)
    formats = list(drawing.PAIR_FORMATS)
    if right == ALONE:
        shown = (left,)
        formats = list(drawing.FORMATS)
    pictured, stage = _stage(bar, [graphs[engine] for engine in shown], report, wanted)
    view = _one(bar, _("View"), "view", list(VIEWS), wanted, DEFAULT_VIEW)
    depth = _one(bar, _("Detail"), "depth", list(DEPTHS), wanted, "fit")
    file_format = _one(bar, _("Format"), "format", formats, wanted, "svg")
    remember(
        PLACE,
        {
            "case": case,
            "left": unless(left, FIRST_LEFT),
            "right": unless(right, FIRST_RIGHT),
            "stage": stage,
            "view": unless(view, DEFAULT_VIEW),
            "depth": unless(depth, "fit"),
            "format": unless(file_format, "svg"),
        },
    )
    choice = PictureChoice(
        scenario=name_in_shell(key),
        engines=shown,
        file_format=cast(FormatName, file_format),
        case=case,
        stage=stage,
        view=cast(ViewName, view),
        depth=DEPTHS[depth],
        device=key.device,
    )
    _show(choice, pictured, report)


def _refuse_unknown(engines: Sequence[str], wanted: Mapping[str, str]) -> None:
    """Say which side the address asks of an engine that gave no graph."""
    for side in ("left", "right"):
        asked = wanted.get(side, ALONE)
        if side in st.query_params and asked not in (*engines, ALONE):
            show_unknown(side, asked, engines)


def _stage(
    bar: DeltaGenerator, graphs: list[GradGraph], report: Report, wanted: Mapping[str, str]
) -> tuple[list[GradGraph], str]:
    """The graphs at the stage that is chosen, and its name; "" for the last one.

    One engine alone may be shown at each of its stages; two stand beside each other as they are run.
    """
    of_engine = [graph for graph in report.graphs if graph.engine == graphs[0].engine]
    stages = {graph.stage: graph for graph in in_order_of_stages(of_engine)}
    if len(graphs) > 1 or len(stages) == 1:
        return graphs, ""
    last = graphs[0].stage
    stage = _one(bar, _("Stage"), "stage", list(stages), wanted, last)
    return [stages[stage]], unless(stage, last)


def option_labels() -> dict[str, str]:
    """What options are called whose names in the address are English."""
    return {
        **view_labels(),
        **depth_labels(),
        **stage_labels(),
        "0": _("the net as one"),
        ALONE: _("alone"),
    }


def _one(
    bar: DeltaGenerator,
    label: str,
    name: str,
    options: Sequence[str],
    wanted: Mapping[str, str],
    first: str,
) -> str:
    asked = wanted.get(name) or first
    if asked not in options and first in options:
        asked = first
    index = place_of(asked, options)
    width = 115
    if name in ("left", "right", "stage"):
        width = 175
    labels = option_labels()
    chosen = bar.selectbox(
        label,
        options,
        index=index,
        key=name,
        width=width,
        format_func=lambda option: labels.get(option, option),
    )
    return chosen or options[index]


def _show(choice: PictureChoice, graphs: list[GradGraph], report: Report) -> None:
    engines = _(" and ").join(choice.engines)
    title = one_line(said(report.title))
    description = _("{what}: {values}").format(what=title, values=engines)
    with st.spinner(_("Drawing …"), show_time=True):
        svg = _file(choice_as_svg(choice), graphs, report, code())
    image = image_of(in_theme(svg.decode()), description)
    st.html(f'<div class="preview" tabindex="0">{image}</div>')
    _say_what_is_not_carried()
    st.download_button(
        _("Download {file}").format(file=choice.file_name),
        partial(_file, choice, graphs, report, code()),
        file_name=choice.file_name,
        mime=MIME[choice.file_format],
        icon=":material/download:",
        on_click="ignore",
    )
    st.markdown(_("The command that writes the same file"))
    command = in_language(choice.command(), choice.file_format)
    st.code(command, language=None, wrap_lines=True)
    if choice.file_format in ("svg", "png"):
        tabs = snippets(choice.file_name, clean(description))
        for tab, text in zip(st.tabs(list(tabs)), tabs.values(), strict=True):
            tab.code(text, language=None, wrap_lines=True)


def in_language(command: str, file_format: str) -> str:
    """The command that writes a file in the reader's language."""
    if code() == ENGLISH or file_format in ALWAYS_ENGLISH:
        return command
    return f"{command} --lang {code()}"


def choice_as_svg(choice: PictureChoice) -> PictureChoice:
    """The same picture as the SVG that the page shows of it."""
    return PictureChoice(
        scenario=choice.scenario,
        engines=choice.engines,
        file_format="svg",
        stage=choice.stage,
        view=choice.view,
        depth=choice.depth,
    )


def _file(choice: PictureChoice, graphs: list[GradGraph], report: Report, language: str) -> bytes:
    digests = tuple(map(digest_of_graph, graphs))
    return _drawn(choice.command(), digests, language, choice, graphs, report)


@st.cache_data(show_spinner=False, max_entries=32)
def _drawn(
    command: str,
    digests: tuple[str, ...],
    language: str,
    _choice: PictureChoice,
    _graphs: list[GradGraph],
    _report: Report,
) -> bytes:
    # Streamlit leaves arguments that begin with an underscore out of the key: the command and the
    # digests of the graphs stand for them.
    with said_in(language):
        return picture_file(_graphs, _report.alignments, _choice)


def name_in_shell(key: ReportKey) -> str:
    """What the command line calls a scenario: a shipped one by its name, another by its file."""
    # Where the file lies is the owner's affair, and not shown to visitors.
    if key.path.parent in SHIPPED:
        return key.path.stem
    return key.path.name


def _report_downloads(key: ReportKey, report: Report) -> None:
    columns = st.columns(len(REPORT_FORMATS))
    for column, (file_format, label) in zip(columns, REPORT_FORMATS.items(), strict=True):
        with column:
            suffix = file_format.replace("markdown", "md")
            name = f"{key.path.stem}.{suffix}"
            st.download_button(
                _(label),
                partial(report_bytes, report, file_format, code(), code_of(key.path)),
                file_name=name,
                mime=MIME[file_format],
                icon=":material/download:",
                on_click="ignore",
                key=f"report as {file_format}",
            )
            command = report_command(name_in_shell(key), file_format, key.device, key.order)
            st.code(in_language(command, file_format), language=None, wrap_lines=True)
    text = _("{title}: cases, graphs and where they differ.")
    st.caption(text.format(title=plain(said(report.title))))


def report_bytes(
    report: Report, file_format: str, language: str, code: tuple[Path, ...] = ()
) -> bytes:
    """The report as one file in a language; ``code`` is the scenario's folder."""
    if file_format == "json":
        return encode(report_document(report))
    # The file is made when it is downloaded, which is no run of a page with a visitor's language.
    with said_in(language):
        ((_name, make),) = report_files(report, (file_format,), draw_ladder, code)
        return make()
