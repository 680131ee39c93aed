"""What two ranks' figures tell: mean against sum, and weights that started differently."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from explorer.model.measurement import Figures
from explorer.model.study import Cell, Chart, Series, Table
from explorer.text.numbers import digits
from explorer.topics.attempts import raised, said
from explorer.topics.data_parallel.questions import TOPIC, TWO_PROCESSES
from explorer.topics.evidence import Evidence, grouped
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


MEAN, OWN, OTHER = "the mean", "its own gradient", "something else"
"""What a rank can step along."""


def is_mean(ranks: list[Figures]) -> bool:
    """Whether every rank's "mean" is the mean of the local gradients."""
    # Exactly: the samples are small whole numbers, which float32 adds and halves without rounding.
    return all(np.array_equal(rank["mean"], _mean_of_local(ranks)) for rank in ranks)


def _mean_of_local(ranks: list[Figures]) -> Any:
    return np.mean([rank["local"] for rank in ranks], axis=0)


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


# Ways to take a step


def steps_by_way(ranks: list[Figures]) -> dict[str, dict[str, list[Any]]]:
    """What each way to take a step took from the weight, a figure a rank, by way and style.

    Empty for a framework whose ranks took no steps by several ways.
    """
    by_way: dict[str, dict[str, list[Any]]] = {}
    for style, ways in ranks[0].get("routes", {}).items():
        for way in ways:
            by_way.setdefault(way, {})[style] = [rank["routes"][style][way] for rank in ranks]
    return by_way


def ways_by_steps(ranks: list[Figures]) -> list[tuple[list[str], list[Any]]]:
    """The ways that took the same from the weight, with what they took; "cell in tape style"."""
    taken = {}
    for way, by_style in steps_by_way(ranks).items():
        for agreeing, steps in grouped(by_style):
            everywhere = len(agreeing) == len(by_style)
            suffix = "" if everywhere else f" in {' and '.join(agreeing)} style"
            taken[f"{way}{suffix}"] = steps
    return grouped(taken)


def along(ranks: list[Figures], steps: list[Any]) -> str:
    """What the ranks stepped along: MEAN, OWN, OTHER, or what the first of them raised."""
    refused = [said(step) for step in steps if raised(step)]
    if refused:
        return refused[0]
    if all(np.array_equal(step, _mean_of_local(ranks)) for step in steps):
        return MEAN
    local = [rank["local"] for rank in ranks]
    return OWN if steps == local else OTHER


CONSEQUENCES = {
    MEAN: "each rank steps along the mean of the gradients",
    OWN: "each rank steps along its own gradient, without a message, and their weights drift apart",
    OTHER: "the ranks step neither along the mean nor each along its own gradient",
}
"""What follows from what the ranks step along."""


@TOPIC.finding()
def ways_to_take_a_step(evidence: Evidence) -> Iterator[str]:
    """Which ways to take a step average the gradients, and which leave each rank its own."""
    for framework, figures in evidence[TWO_PROCESSES].items():
        ranks = figures["ranks"]
        for ways, steps in ways_by_steps(ranks):
            direction = along(ranks, steps)
            words = CONSEQUENCES.get(direction, f"no rank gets on: {direction}")
            shown = "" if any(map(raised, steps)) else f": {' and '.join(map(digits, steps))}"
            yield f"With {', '.join(ways)} {words} ({PARTIES[framework].label}{shown})."


@TOPIC.table()
def ways_side_by_side(evidence: Evidence) -> Iterator[Table]:
    """What each way to take a step takes from the weight of both ranks, in both styles."""
    for framework, figures in evidence[TWO_PROCESSES].items():
        ranks = figures["ranks"]
        rows: list[tuple[Cell, ...]] = []
        for way, by_style in steps_by_way(ranks).items():
            for style, steps in by_style.items():
                numbers = [said(step) if raised(step) else digits(step) for step in steps]
                rows.append((way, style, *numbers, along(ranks, steps)))
        if rows:
            names = [f"rank {rank['rank']}" for rank in ranks]
            yield Table(
                title=f"{framework}: what each way to take a step takes from the weight, divided by"
                " the learning rate",
                columns=("way", "style", *names, "along"),
                rows=tuple(rows),
            )


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
