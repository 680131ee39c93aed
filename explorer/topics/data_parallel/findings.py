"""What two ranks' figures tell: mean against sum, and weights that started differently."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from explorer.model.measurement import Figures
from explorer.model.study import Cell, Chart, Series, Table
from explorer.text.numbers import digits
from explorer.topics.data_parallel.questions import TOPIC, TWO_PROCESSES
from explorer.topics.evidence import Evidence
from explorer.topics.question import PARTIES

ROUTES = {"mindspore": "DistributedGradReducer, mccl", "torch": "DistributedDataParallel, gloo"}
"""The API that reduces each framework's gradients, and the backend that it does so over."""

ROWS = {
    "local": "gradient of the rank's own sample",
    "mean": "reduced with mean",
    "sum": "reduced with sum",
    "after_step": "weights after one step, one start",
    "first_weights_one_seed": "first random weights, one seed for all",
    "first_weights_own_seed": "first random weights, each rank its own seed",
    "after_step_own_seed": "weights after one step from there",
}
"""The figures that each rank reports, and their names for readers."""


def is_mean(ranks: list[Figures]) -> bool:
    """Whether every rank's "mean" is the mean of the local gradients."""
    # Exactly: the samples are small whole numbers, which float32 adds and halves without rounding.
    expected = np.mean([rank["local"] for rank in ranks], axis=0)
    return all(np.array_equal(rank["mean"], expected) for rank in ranks)


def agree(ranks: list[Figures], key: str) -> bool:
    """Whether all ranks report the same under ``key``, one of ROWS."""
    return all(rank[key] == ranks[0][key] for rank in ranks)


@TOPIC.finding()
def mean_against_sum(evidence: Evidence) -> Iterator[str]:
    """Whether what each rank gets is the mean, how it differs from the sum, and what seeds do."""
    for framework, figures in evidence[TWO_PROCESSES].items():
        ranks, route = figures["ranks"], ROUTES[framework]
        local = " and ".join(digits(rank["local"]) for rank in ranks)
        mean, total = digits(ranks[0]["mean"]), digits(ranks[0]["sum"])
        is_or_not = "is" if is_mean(ranks) else "is not"
        yield (
            f"Each rank gets {mean} from {local}, which {is_or_not} the mean ({route}); summed it is"
            f" {total}, so a learning rate tuned for one is {len(ranks)} times off for the other."
        )
        yield f"{_about_seeds(ranks)} ({route})."


def _about_seeds(ranks: list[Figures]) -> str:
    # Weights that agree from the start say nothing about what the first step does to them.
    if agree(ranks, "first_weights_own_seed"):
        return "Seeds of their own make no difference to the ranks' first weights"
    start = "Ranks with seeds of their own start from different weights"
    if agree(ranks, "after_step_own_seed"):
        return f"{start}, which agree after one step: one rank's start was sent to the others"
    return f"{start}, which still differ after one step: set one seed on every rank"


@TOPIC.table()
def ranks_side_by_side(evidence: Evidence) -> Iterator[Table]:
    """The figures of both ranks, a table a framework."""
    for framework, figures in evidence[TWO_PROCESSES].items():
        ranks = figures["ranks"]
        names = [f"rank {rank['rank']}" for rank in ranks]
        rows: list[tuple[Cell, ...]] = []
        for key, words in ROWS.items():
            numbers = [digits(rank[key]) for rank in ranks]
            rows.append((words, *numbers, agree(ranks, key)))
        yield Table(
            title=f"{framework}: {ROUTES[framework]}",
            columns=("what", *names, "the same"),
            rows=tuple(rows),
        )


@TOPIC.chart()
def gradients_of_the_first_weight(evidence: Evidence) -> Iterator[Chart]:
    """Bars of one weight's gradient: each rank's own, the mean, the sum."""
    series = []
    for framework, figures in evidence[TWO_PROCESSES].items():
        ranks = figures["ranks"]
        bars = {f"rank {rank['rank']}, local": _first(rank["local"]) for rank in ranks}
        # What is reduced is on every rank; the first one's stands for all.
        bars["mean"] = _first(ranks[0]["mean"])
        bars["sum"] = _first(ranks[0]["sum"])
        label = PARTIES[framework].label
        series.append(Series(label, tuple(bars), tuple(bars.values())))
    if series:
        yield Chart(
            name="data-parallel-gradients",
            title="One weight's gradient on two ranks",
            kind="bars",
            x="",
            y="gradient of the first weight",
            series=tuple(series),
            note="Each rank differentiates its own sample; reducing with mean or with sum differs"
            " by the number of ranks.",
        )


def _first(gradient: Any) -> float:
    return float(np.ravel(gradient)[0])
