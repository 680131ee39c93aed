"""Findings about one training step: its gradients, the weights it moves, its operators and time."""

from collections.abc import Iterator, Mapping

from explorer.model.study import Cell, Chart, Series, Table
from explorer.text.numbers import counted
from explorer.topics.attempts import raised, said_briefly
from explorer.topics.evidence import Evidence, grouped
from explorer.topics.question import PARTIES
from explorer.topics.training.differences import accumulation_difference, list_difference
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

MODES_OF_BATCH_NORM = {
    ACCUMULATION: "batch norm in inference",
    ACCUMULATION_BATCH_NORM: "batch norm in training",
}
"""In which mode batch norm is while gradients accumulate."""


# Gradients between the backward pass and the update


def clipping_difference(evidence: Evidence) -> float:
    """The greatest difference of the frameworks' clipped gradients over all norms."""
    answers = evidence[CLIPPING]
    by_norm, torch_by_norm = answers["mindspore"]["by norm"], answers["torch"]["by norm"]
    return max(
        list_difference(gradients, torch_by_norm[norm]["gradients"])
        for norm, gradients in by_norm.items()
    )


@TOPIC.finding(CLIPPING)
def clipping_by_norm(evidence: Evidence) -> Iterator[str]:
    """Whether both frameworks clip alike, and to which norm by default."""
    defaults = {party: figures["default"] for party, figures in evidence[CLIPPING].items()}
    yield (
        f"clip_by_global_norm (default {defaults['mindspore']})"
        f" and clip_grad_norm_ (default {defaults['torch']})"
        f" are at most {clipping_difference(evidence):.1e} apart."
    )


@TOPIC.finding()
def accumulated_gradients(evidence: Evidence) -> Iterator[str]:
    """How far gradients accumulated over micro-batches are from the whole batch's."""
    for question, mode in MODES_OF_BATCH_NORM.items():
        for party, figures in evidence[question].items():
            mean_added = accumulation_difference(figures, "mean", "added")
            mean_divided = accumulation_difference(figures, "mean", "divided")
            sum_added = accumulation_difference(figures, "sum", "added")
            yield (
                f"Gradients added over four micro-batches are {mean_added:.2g} off the whole"
                f" batch's where the loss is a mean, and {mean_divided:.2g} once divided by 4;"
                f" where it is a sum, {sum_added:.2g} ({PARTIES[party].label}, {mode})."
            )


@TOPIC.table(CLIPPING)
def clipped_gradients(evidence: Evidence) -> Iterator[Table]:
    """Clipped gradients side by side."""
    mindspore, torch = evidence[CLIPPING]["mindspore"], evidence[CLIPPING]["torch"]
    rows: list[tuple[Cell, ...]] = []
    rows.append(
        ("by norm, default", str(mindspore["by default"]), f"default: {torch['default']}", None)
    )
    for norm, gradients in mindspore["by norm"].items():
        torch_gradients = torch["by norm"][norm]["gradients"]
        difference = list_difference(gradients, torch_gradients)
        rows.append((f"by norm {norm}", str(gradients), str(torch_gradients), difference))
    by_value, torch_by_value = mindspore["by value"], torch["by value"]
    difference = list_difference(by_value, torch_by_value)
    rows.append(("by value", str(by_value), str(torch_by_value), difference))
    yield Table(
        title="Clipping gradients [3, 4] and [12], whose norm is 13",
        columns=("how", "MindSpore", "PyTorch", "difference"),
        rows=tuple(rows),
    )


@TOPIC.table()
def micro_batches(evidence: Evidence) -> Iterator[Table]:
    """Four micro-batches against the whole batch."""
    rows: list[tuple[Cell, ...]] = []
    for question, mode in MODES_OF_BATCH_NORM.items():
        for party, figures in evidence[question].items():
            # One of the two columns is the right one: which, depends on the loss.
            for reduction in figures:
                added = accumulation_difference(figures, reduction, "added")
                divided = accumulation_difference(figures, reduction, "divided")
                rows.append((mode, PARTIES[party].label, reduction, added, divided))
    if rows:
        yield Table(
            title="Four micro-batches against one batch: how far the gradients are off",
            columns=("net", "framework", "loss", "sum of gradients", "sum divided by 4"),
            rows=tuple(rows),
        )


# The step itself


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
    outcomes: dict[str, str] = {}
    for style, figure in evidence[SCALED_STEP]["mindspore"].items():
        outcomes[style] = f"runs, with the loss {figure}"
        if raised(figure):
            outcomes[style] = f"does not run here ({said_briefly(figure)})"
    for styles, outcome in grouped(outcomes):
        yield f"TrainOneStepWithLossScaleCell {outcome}, in {' and '.join(styles)} style."


@TOPIC.finding()
def dispatched_operators(evidence: Evidence) -> Iterator[str]:
    """How many operators forward, backward and update dispatch in tape style."""
    for party, figures in evidence[DISPATCHES].items():
        counts = ", ".join(f"{part} {len(operators)}" for part, operators in figures.items())
        total = sum(map(len, figures.values()))
        yield f"A step on {PARTIES[party].label}'s tape dispatches {total} operators ({counts})."


@TOPIC.finding(GRAPHS)
def compiled_graphs(evidence: Evidence) -> Iterator[str]:
    """How many graphs MindSpore compiles for a step, and what each holds."""
    for way, graphs in evidence[GRAPHS]["mindspore"].items():
        contents = [
            f"{' + '.join(parts_of(counts))} in {sum(counts.values())} nodes" for counts in graphs
        ]
        yield (
            f"For a step MindSpore compiles {counted(len(graphs), 'graph')} ({way}):"
            f" {'; '.join(contents)}."
        )


@TOPIC.finding()
def graph_breaks(evidence: Evidence) -> Iterator[str]:
    """How many graphs torch.compile makes of a step, and how often it breaks."""
    for route in COMPILED_ROUTES:
        figures = route.figures(evidence)
        if figures:
            breaks = sum(figures["breaks"].values())
            yield (
                f"{route.label}, breaks a step {breaks} times and makes"
                f" {counted(figures['graphs'], 'graph')} of it."
            )


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
