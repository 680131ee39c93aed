"""What is chosen for the two graphs of a page, and their alignment."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import msgspec
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from explorer.drawing.shown import Depth
from explorer.drawing.views import ViewName
from explorer.model.alignment import Alignment
from explorer.model.graph import GradGraph
from explorer.model.passes import BEFORE
from explorer.model.report import Report
from explorer.pair.alignments import aligned, can_be_paired, reported
from explorer.text.language import _
from explorer.text.messages import one_line
from explorer.web.widgets import plain, refusal, show_error
from explorer.words.graphs import STAGES, in_order_of_stages, why_no_graph

# Alignments


def alignment_of(left: GradGraph, right: GradGraph, report: Report) -> Alignment | None:
    """The alignment of two of a report's graphs; None for graphs that cannot be paired.

    Two engines' last stages are aligned in the report, perhaps the other way round. Other stages
    are aligned here, each pair once a server.
    """
    if not can_be_paired(left, right):
        return None
    alignment = reported(left, right, report.graphs, report.alignments)
    if alignment:
        return alignment
    with st.spinner(_("Pairing the nodes …"), show_time=True):
        return _aligned(digest_of_graph(left), digest_of_graph(right), left, right)


def digest_of_graph(graph: GradGraph) -> str:
    """The digest of a graph, as a key under which the server caches its drawings and alignments."""
    return hashlib.sha256(msgspec.msgpack.encode(graph)).hexdigest()


@st.cache_data(show_spinner=False, max_entries=64)
def _aligned(left_digest: str, right_digest: str, _left: GradGraph, _right: GradGraph) -> Alignment:
    # Streamlit leaves arguments that begin with an underscore out of the key.
    return aligned(_left, _right)


# Choices

FIRST_LEFT, FIRST_RIGHT = "torch-tape", "mindspore-graph"
"""The contrast shown first: what most readers take for PyTorch against MindSpore."""

VIEWS: dict[str, ViewName] = {"ladder": "ladder", "flow": "flow"}

DEPTHS: dict[str, Depth] = {"fit": "fit", "all": "all", "1": 1, "2": 2, "3": 3}
"""How much is shown, by what the address calls it; the first shows every op of a small net."""

GRAPHS = "graphs"
"""The place under which the page of graphs keeps its address."""

SAME_CASE = ""

NAMES = ("case", "right_case", "left", "right", "left_stage", "right_stage", "view", "depth")
"""The names in the address of what is chosen above the graphs."""

Choice = TypeVar("Choice", bound=str)


class Chosen(msgspec.Struct):
    """The bar of boxes, what the address wants of them, and what was chosen other than the first.

    Boxes that are rarely used are in ``more``, which is folded.
    """

    bar: DeltaGenerator
    more: DeltaGenerator
    wanted: Mapping[str, str]
    address: dict[str, str] = {}

    def one_of(
        self,
        name: str,
        title: str,
        options: Sequence[str],
        first: str,
        label: Callable[[str], str] = str,
        width: int = 180,
        is_rare: bool = False,
    ) -> str:
        """One option, from the address or ``first``; an unknown name is reported."""
        wanted = self._wanted(name, options, first)
        place = self.bar
        if is_rare:
            place = self.more
        chosen = place.selectbox(
            title,
            options,
            index=list(options).index(wanted),
            format_func=label,
            key=name,
            width=width,
        )
        chosen = chosen or first
        self._remember(name, chosen, first)
        return chosen

    def step_of(self, name: str, title: str, options: Sequence[str], first: str) -> str:
        """One option on a slider."""
        wanted = self._wanted(name, options, first)
        chosen = self.bar.select_slider(
            title,
            options,
            value=wanted,
            format_func=lambda stage: _(STAGES.get(stage) or stage),
            key=name,
            width=180,
        )
        self._remember(name, chosen, first)
        return chosen

    def _wanted(self, name: str, options: Sequence[str], first: str) -> str:
        wanted = self.wanted.get(name, first)
        if wanted not in options:
            show_unknown(name, wanted, options)
            return first
        return wanted

    def _remember(self, name: str, chosen: str, first: str) -> None:
        # What a link says stays in the address, also where it is what opens anyway: an address of
        # its own would be pushed over the link's, and the way back would lead here again.
        self.address[name] = ""
        if chosen != first or self.wanted.get(name) == first:
            self.address[name] = chosen


def show_ungraphed(report: Report) -> None:
    """Say which engines gave no graph, and why."""
    for name, why in report.ungraphed.items():
        message = _("No graph from {engine}: {reason}")
        reason = plain(one_line(why_no_graph(why)))
        st.warning(message.format(engine=plain(name), reason=reason))


def show_unknown(name: str, wanted: str, options: Sequence[str]) -> None:
    """Say that the address asks, under a name, for what is no option here."""
    fact = _("{name} {wanted} is unknown here").format(name=name, wanted=repr(wanted))
    show_error(refusal(fact, wanted, options))


def chosen_engine(chosen: Chosen, side: str, title: str, engines: Sequence[str], taken: str) -> str:
    """The engine of a side: by default the contrast shown first, or one that is not ``taken``."""
    first = FIRST_LEFT if side == "left" else FIRST_RIGHT
    # Where only one engine gave a graph, it is on both sides.
    free = [engine for engine in engines if engine != taken] or engines
    if first not in free:
        first = free[0]
    return chosen.one_of(side, title, engines, first, width=160)


def chosen_stage(
    chosen: Chosen, side: str, title: str, graphs: Sequence[GradGraph]
) -> tuple[GradGraph, GradGraph | None]:
    """One of an engine's graphs, and that of the stage before; the one that is compared until chosen."""
    if len(graphs) == 1:
        return graphs[0], None
    by_stage = {graph.stage: graph for graph in in_order_of_stages(graphs)}
    stage = chosen.step_of(f"{side}_stage", title, list(by_stage), graphs[-1].stage)
    return by_stage[stage], by_stage.get(BEFORE.get(stage, ""))


def chosen_view(chosen: Chosen) -> ViewName:
    """How the graphs are laid out."""
    labels = view_labels()
    names = list(VIEWS)
    name = chosen.one_of("view", _("View"), names, "ladder", labels.__getitem__, is_rare=True)
    return VIEWS[name]


def view_labels() -> dict[str, str]:
    """What the views are called."""
    return {"ladder": _("ladder"), "flow": _("flow")}


def stage_labels() -> dict[str, str]:
    """What the stages of compilers are called."""
    return {stage: _(label) for stage, label in STAGES.items()}


def chosen_depth(chosen: Chosen) -> Depth:
    """How far modules are merged."""
    labels = depth_labels()
    names = list(DEPTHS)
    name = chosen.one_of("depth", _("Detail"), names, "fit", labels.__getitem__, is_rare=True)
    return DEPTHS[name]


def depth_labels() -> dict[str, str]:
    """What the degrees of detail are called."""
    return {
        "fit": _("as fits"),
        "all": _("every op"),
        "1": _("modules"),
        "2": _("modules in modules"),
        "3": _("three levels of modules"),
    }
