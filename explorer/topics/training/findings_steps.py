"""Findings about one training step: its gradients, the weights it moves, its operators and time."""

from collections.abc import Iterator, Mapping

import msgspec

from explorer.model.message import Text
from explorer.model.study import Cell, Chart, Series, Table
from explorer.topics import cells
from explorer.topics.attempts import raised, said_briefly
from explorer.topics.evidence import Evidence, grouped
from explorer.topics.messages import style_name
from explorer.topics.question import PARTIES
from explorer.topics.training.figures import (
    ClippingInMindSpore,
    ClippingInTorch,
    Filtered,
    listed,
    say,
    some,
    sum_of,
)
from explorer.topics.training.findings_routes import COMPILED_ROUTES
from explorer.topics.training.questions import (
    ACCUMULATION,
    ACCUMULATION_BATCH_NORM,
    CLIPPING,
    DISPATCHES,
    FILTERED,
    GRAPHS,
    SCALED_STEP,
    SPEED,
    TOPIC,
)
from explorer.topics.training.update_rules import (
    accumulation_difference,
    list_difference,
)

MODES_OF_BATCH_NORM = {
    ACCUMULATION: say("norm_in_inference"),
    ACCUMULATION_BATCH_NORM: say("norm_in_training"),
}
"""In which mode batch norm is while gradients accumulate."""


# Gradients between the backward pass and the update


def clipping_difference(evidence: Evidence) -> float:
    """The greatest difference of the frameworks' clipped gradients over all norms."""
    mindspore, torch = clipping_of(evidence)
    return max(
        list_difference(gradients, torch.by_norm[norm].gradients)
        for norm, gradients in mindspore.by_norm.items()
    )


def clipping_of(evidence: Evidence) -> tuple[ClippingInMindSpore, ClippingInTorch]:
    """What each framework gives for the same gradients."""
    answers = evidence[CLIPPING]
    mindspore = msgspec.convert(answers["mindspore"], ClippingInMindSpore)
    return mindspore, msgspec.convert(answers["torch"], ClippingInTorch)


@TOPIC.finding(CLIPPING)
def clipping_by_norm(evidence: Evidence) -> Iterator[Text]:
    """Whether both frameworks clip alike, and to which norm by default."""
    mindspore, torch = clipping_of(evidence)
    yield say(
        "clipping",
        mindspore=mindspore.default,
        torch=torch.default,
        difference=clipping_difference(evidence),
    )


@TOPIC.finding()
def accumulated_gradients(evidence: Evidence) -> Iterator[Text]:
    """How far gradients accumulated over micro-batches are from the whole batch's."""
    for question, mode in MODES_OF_BATCH_NORM.items():
        for party, figures in evidence[question].items():
            yield say(
                "accumulated",
                mean=accumulation_difference(figures, "mean", "added"),
                divided=accumulation_difference(figures, "mean", "divided"),
                sum=accumulation_difference(figures, "sum", "added"),
                framework=PARTIES[party].label,
                mode=mode,
            )


@TOPIC.table(CLIPPING)
def clipped_gradients(evidence: Evidence) -> Iterator[Table[Text]]:
    """Clipped gradients side by side."""
    mindspore, torch = clipping_of(evidence)
    rows: list[tuple[Cell | Text, ...]] = []
    default = say("default", default=torch.default)
    rows.append((say("norm_default"), str(mindspore.by_default), default, None))
    for norm, gradients in mindspore.by_norm.items():
        torch_gradients = torch.by_norm[norm].gradients
        difference = list_difference(gradients, torch_gradients)
        rows.append((say("by_norm", norm=norm), str(gradients), str(torch_gradients), difference))
    by_value, torch_by_value = mindspore.by_value, torch.by_value
    difference = list_difference(by_value, torch_by_value)
    rows.append((say("by_value"), str(by_value), str(torch_by_value), difference))
    yield Table(
        title=say("clipping_title"),
        columns=(say("how"), "MindSpore", "PyTorch", say("difference")),
        rows=tuple(rows),
    )


@TOPIC.table()
def micro_batches(evidence: Evidence) -> Iterator[Table[Text]]:
    """Four micro-batches against the whole batch."""
    rows: list[tuple[Cell | Text, ...]] = []
    for question, mode in MODES_OF_BATCH_NORM.items():
        for party, figures in evidence[question].items():
            # One of the two columns is the right one: which, depends on the loss.
            for reduction in figures:
                added = accumulation_difference(figures, reduction, "added")
                divided = accumulation_difference(figures, reduction, "divided")
                rows.append((mode, PARTIES[party].label, reduction, added, divided))
    if rows:
        yield Table(
            title=say("micro_title"),
            columns=say.row("net", "framework", "loss", "sum_of_gradients", "sum_divided"),
            rows=tuple(rows),
        )


# The step itself


PARTS = ("forward", "backward", "update")
"""What a step consists of; a graph has nodes of some of them, and plumbing."""

TIMED = {"mindspore": cells.party("mindspore-tape"), "torch": cells.party("torch")}
"""What the times of each framework's steps are listed under."""

TAPES = {"mindspore": cells.party("mindspore-tape"), "torch": cells.party("torch-tape")}
"""Where the operators of each framework's step are dispatched."""


def parts_of(counts: Mapping[str, int]) -> list[str]:
    """Which of PARTS a graph has nodes of; ``counts`` gives the number of nodes by part."""
    return [part for part in PARTS if counts[part]]


@TOPIC.finding(FILTERED)
def chosen_parameters(evidence: Evidence) -> Iterator[Text]:
    """What parameters are handed out as, and which an optimizer of some of them moves."""
    answers = evidence.records(FILTERED, Filtered)
    mindspore, torch = answers["mindspore"], answers["torch"]
    yield say(
        "chosen",
        type=mindspore.type,
        torch_type=torch.type,
        chosen=mindspore.chosen,
        moved=mindspore.moved,
        torch_moved=torch.moved,
    )


@TOPIC.finding(SCALED_STEP)
def scaled_step(evidence: Evidence) -> Iterator[Text]:
    """Whether the Cell that scales the loss within its step runs here."""
    for styles, figure in grouped(evidence[SCALED_STEP]["mindspore"]):
        names = tuple(map(style_name, styles))
        if raised(figure):
            yield say("scaled_fails", error=said_briefly(figure), styles=names)
        else:
            yield say("scaled_runs", loss=figure, styles=names)


@TOPIC.finding()
def dispatched_operators(evidence: Evidence) -> Iterator[Text]:
    """How many operators forward, backward and update dispatch in tape style."""
    for party, figures in evidence[DISPATCHES].items():
        counts = []
        for part, operators in figures.items():
            counts.append(say("part_count", part=say.named(part), count=len(operators)))
        yield say(
            "dispatched",
            framework=PARTIES[party].label,
            operators=sum(map(len, figures.values())),
            counts=tuple(counts),
        )


def way_of(way: str) -> Text:
    """A way to compile a step: a style, or ms.jit."""
    return way if way == "ms.jit" else style_name(way)


@TOPIC.finding(GRAPHS)
def compiled_graphs(evidence: Evidence) -> Iterator[Text]:
    """How many graphs MindSpore compiles for a step, and what each holds."""
    for way, graphs in evidence[GRAPHS]["mindspore"].items():
        contents = []
        for counts in graphs:
            parts = sum_of(parts_of(counts))
            contents.append(say("parts_in_nodes", parts=parts, nodes=sum(counts.values())))
        yield say("compiled", n=len(graphs), way=way_of(way), graphs=tuple(contents))


@TOPIC.finding()
def graph_breaks(evidence: Evidence) -> Iterator[Text]:
    """How many graphs torch.compile makes of a step, and how often it breaks."""
    for route in COMPILED_ROUTES:
        trained = route.trained(evidence)
        if trained:
            breaks = sum(trained.breaks.values())
            yield say("breaks", route=route.label, breaks=breaks, n=trained.graphs)


@TOPIC.table()
def operators_and_graphs(evidence: Evidence) -> Iterator[Table[Text]]:
    """How many operators or graphs a step is."""
    rows = [
        *_operator_rows(evidence),
        *_mindspore_graph_rows(evidence),
        *_torch_graph_rows(evidence),
    ]
    if rows:
        yield Table(
            title=say("step_title"),
            columns=say.row("where", "what", "count", "which"),
            rows=tuple(rows),
        )


def _operator_rows(evidence: Evidence) -> Iterator[tuple[Cell | Text, ...]]:
    for party, figures in evidence[DISPATCHES].items():
        for part, operators in figures.items():
            # Each operator once, in the order in which it is first dispatched.
            kinds = dict.fromkeys(operator.removeprefix("aten.") for operator in operators)
            what = say("operators_of", part=say.named(part))
            yield TAPES[party], what, len(operators), listed(kinds)


def _mindspore_graph_rows(evidence: Evidence) -> Iterator[tuple[Cell | Text, ...]]:
    for way, graphs in evidence[GRAPHS].get("mindspore", {}).items():
        where = say("on_ms_jit") if way == "ms.jit" else cells.party(f"mindspore-{way}")
        for number, counts in enumerate(graphs, 1):
            shares = []
            for part, count in counts.items():
                if count:
                    shares.append(say("count_part", count=count, part=say.named(part)))
            what = say("nodes_of", number=number, graphs=len(graphs))
            yield where, what, sum(counts.values()), say("names", names=tuple(shares))


def _torch_graph_rows(evidence: Evidence) -> Iterator[tuple[Cell | Text, ...]]:
    for route in COMPILED_ROUTES:
        trained = route.trained(evidence)
        if trained:
            reasons = []
            for reason, count in trained.breaks.items():
                reasons.append(say("times_reason", count=count, reason=reason))
            breaks = say("breaks_by_reason", reasons=some(reasons))
            yield route.label, say("graphs"), trained.graphs, breaks


def _timed_way(way: str) -> Text:
    """A way to take a step, by itself or compiled; "…, first call" may compile."""
    name, is_first_call, _ = way.partition(", first call")
    return say("first_call", way=say.named(name)) if is_first_call else say.named(name)


@TOPIC.table()
def step_times(evidence: Evidence) -> Iterator[Table[Text]]:
    """First calls and repeated steps, in milliseconds."""
    rows: list[tuple[Cell | Text, ...]] = []
    for party, timings in evidence.timings(SPEED).items():
        for way, seconds in timings.items():
            rows.append((TIMED[party], _timed_way(way), round(seconds * 1000, 3)))
    if rows:
        yield Table(
            title=say("times_title"),
            columns=say.row("where", "way", "milliseconds"),
            rows=tuple(rows),
            note=say("times_note"),
            timing=True,
        )


@TOPIC.chart()
def step_times_chart(evidence: Evidence) -> Iterator[Chart[Text]]:
    """The milliseconds of a repeated step; a first call, which may compile, would dwarf them."""
    names: list[Text] = []
    heights: list[float] = []
    for party, timings in evidence.timings(SPEED).items():
        for way, seconds in timings.items():
            if "first call" not in way:
                names.append(say("timed", where=TIMED[party], way=_timed_way(way)))
                heights.append(seconds * 1000)
    if names:
        yield Chart(
            name="training-times",
            title=say("times_chart"),
            kind="points",
            x="",
            y=say("times_axis"),
            log=("y",),
            series=(Series(say("a_step"), tuple(names), tuple(heights)),),
            timing=True,
        )
