"""Findings about gradients between the backward pass and the update: clipping and accumulation."""

from collections.abc import Iterator

from explorer.model.study import Cell, Table
from explorer.topics.evidence import Evidence
from explorer.topics.question import PARTIES
from explorer.topics.training.differences import accumulation_difference, list_difference
from explorer.topics.training.questions import (
    ACCUMULATION,
    ACCUMULATION_BATCH_NORM,
    CLIPPING,
    TOPIC,
)

MODES_OF_BATCH_NORM = {
    ACCUMULATION: "batch norm in inference",
    ACCUMULATION_BATCH_NORM: "batch norm in training",
}
"""In which mode batch norm is while gradients accumulate."""


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
                f"Four micro-batches in {PARTIES[party].label}, {mode}:"
                f" with a mean as the loss their added gradients are off by {mean_added:.1e},"
                f" and by {mean_divided:.1e} divided by 4; with a sum by {sum_added:.1e}."
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
