"""Findings about one training step: the weights that it moves, the operators and graphs that it is
carried out as, and its time.
"""

from collections.abc import Iterator, Mapping

from explorer.model.study import Cell, Chart, Series, Table
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence
from explorer.topics.question import PARTIES
from explorer.topics.training.questions import (
    DISPATCHES,
    FILTERED,
    GRAPHS,
    SCALED_STEP,
    SPEED,
    TOPIC,
)
from explorer.topics.training.step_routes import COMPILED_ROUTES

PARTS = ("forward", "backward", "update")
"""What a step consists of; a graph has nodes of some of them, and plumbing."""

TIMED = {"mindspore": PARTIES["mindspore-tape"].label, "torch": PARTIES["torch"].label}
"""What the times of each framework's steps are listed under."""


def parts_of(counts: Mapping[str, int]) -> list[str]:
    """Which of PARTS a graph has nodes of; ``counts`` gives the number of nodes by part."""
    return [part for part in PARTS if counts[part]]


@TOPIC.finding(FILTERED)
def chosen_parameters(evidence: Evidence) -> Iterator[str]:
    """What parameters are handed out as, and which an optimizer of some of them moves."""
    mindspore, torch = evidence[FILTERED]["mindspore"], evidence[FILTERED]["torch"]
    yield (
        f"trainable_params() is a {mindspore['type']}, parameters() a {torch['type']};"
        f" given only {', '.join(mindspore['chosen'])},"
        f" MindSpore's step moves {', '.join(mindspore['moved'])}"
        f" and PyTorch's {', '.join(torch['moved'])}."
    )


@TOPIC.finding(SCALED_STEP)
def scaled_step(evidence: Evidence) -> Iterator[str]:
    """Whether the Cell that scales the loss within its step runs here."""
    for style, figure in evidence[SCALED_STEP]["mindspore"].items():
        outcome = said(figure) if raised(figure) else f"loss {figure}"
        yield f"TrainOneStepWithLossScaleCell, {style}: {outcome}"


@TOPIC.finding()
def dispatched_operators(evidence: Evidence) -> Iterator[str]:
    """How many operators forward, backward and update dispatch in tape style."""
    for party, figures in evidence[DISPATCHES].items():
        counts = ", ".join(f"{part} {len(operators)}" for part, operators in figures.items())
        yield f"{PARTIES[party].label}, tape: operators dispatched in a step: {counts}."


@TOPIC.finding(GRAPHS)
def compiled_graphs(evidence: Evidence) -> Iterator[str]:
    """How many graphs MindSpore compiles for a step, and what each holds."""
    for way, graphs in evidence[GRAPHS]["mindspore"].items():
        contents = " and ".join("+".join(parts_of(counts)) for counts in graphs)
        nodes = " + ".join(str(sum(counts.values())) for counts in graphs)
        yield (
            f"MindSpore, {way}: graphs compiled for a step: {len(graphs)} ({contents}; {nodes} nodes)."
        )


@TOPIC.finding()
def graph_breaks(evidence: Evidence) -> Iterator[str]:
    """How many graphs torch.compile makes of a step, and how often it breaks."""
    for route in COMPILED_ROUTES:
        figures = route.figures(evidence)
        if figures:
            breaks = sum(figures["breaks"].values())
            yield f"{route.label}: {figures['graphs']} graphs, {breaks} breaks."


@TOPIC.table()
def operators_and_graphs(evidence: Evidence) -> Iterator[Table]:
    """How many operators or graphs a step is."""
    rows = [
        *_operator_rows(evidence),
        *_mindspore_graph_rows(evidence),
        *_torch_graph_rows(evidence),
    ]
    if rows:
        yield Table(
            title="What one step is carried out as",
            columns=("where", "what", "count", "which"),
            rows=tuple(rows),
        )


def _operator_rows(evidence: Evidence) -> Iterator[tuple[Cell, ...]]:
    for party, figures in evidence[DISPATCHES].items():
        where = f"{PARTIES[party].label}, tape"
        for part, operators in figures.items():
            # Each operator once, in the order in which it is first dispatched.
            kinds = dict.fromkeys(operator.removeprefix("aten.") for operator in operators)
            yield where, f"operators of {part}", len(operators), ", ".join(kinds) or "none"


def _mindspore_graph_rows(evidence: Evidence) -> Iterator[tuple[Cell, ...]]:
    for way, graphs in evidence[GRAPHS].get("mindspore", {}).items():
        for number, counts in enumerate(graphs, 1):
            shares = ", ".join(f"{count} {part}" for part, count in counts.items() if count)
            what = f"nodes of graph {number} of {len(graphs)}"
            yield f"MindSpore, {way}", what, sum(counts.values()), shares


def _torch_graph_rows(evidence: Evidence) -> Iterator[tuple[Cell, ...]]:
    for route in COMPILED_ROUTES:
        figures = route.figures(evidence)
        if figures:
            reasons = [f"{count} × {reason}" for reason, count in figures["breaks"].items()]
            breaks = "; ".join(reasons) or "none"
            yield route.label, "graphs", figures["graphs"], f"breaks: {breaks}"


@TOPIC.table()
def step_times(evidence: Evidence) -> Iterator[Table]:
    """First calls and repeated steps, in milliseconds."""
    rows: list[tuple[Cell, ...]] = []
    for party, timings in evidence.timings(SPEED).items():
        for way, seconds in timings.items():
            rows.append((TIMED[party], way, round(seconds * 1000, 3)))
    if rows:
        yield Table(
            title="Time of a step",
            columns=("where", "way", "milliseconds"),
            rows=tuple(rows),
            note="Repeated steps: the least processor time, taken in turn.",
            timing=True,
        )


@TOPIC.chart()
def step_times_chart(evidence: Evidence) -> Iterator[Chart]:
    """The milliseconds of a repeated step; a first call, which may compile, would dwarf them."""
    bars: dict[str, float] = {}
    for party, timings in evidence.timings(SPEED).items():
        for way, seconds in timings.items():
            if "first call" not in way:
                bars[f"{TIMED[party]}, {way}"] = seconds * 1000
    if bars:
        yield Chart(
            name="training-times",
            title="Time of a step: by itself and compiled whole",
            kind="points",
            x="",
            y="milliseconds of the processor (least)",
            log=("y",),
            series=(Series("a step", tuple(bars), tuple(bars.values())),),
            timing=True,
        )
