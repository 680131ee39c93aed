"""What two ranks' figures say: mean against sum, and weights that started differently."""

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np

from explorer.model.measurement import Figures
from explorer.model.message import Message, Text
from explorer.model.study import Cell, Chart, Series, Table
from explorer.text.numbers import digits
from explorer.topics.attempts import raised, said
from explorer.topics.data_parallel.processes import BY_HAND
from explorer.topics.data_parallel.questions import TOPIC, TWO_PROCESSES
from explorer.topics.evidence import Evidence, grouped
from explorer.topics.messages import Messages, style_name
from explorer.topics.observations import outcome
from explorer.topics.question import PARTIES

say = Messages("data_parallel")

ROUTES = {
    "mindspore": say("route", api="DistributedGradReducer", backend="mccl"),
    "torch": say("route", api="DistributedDataParallel", backend="gloo"),
}
"""The API that reduces each framework's gradients, and the backend that it does so over."""

ROWS = (
    "local",
    "mean",
    "sum",
    "after_step",
    "first_weights_one_seed",
    "first_weights_own_seed",
    "after_step_own_seed",
)
"""The figures that each rank reports; messages have the same names."""

Direction = Literal["along_mean", "along_own", "along_other"]
"""What the ranks can step along: the mean, each its own gradient, or something else."""


def of_ranks(ranks: list[Figures], *keys: str) -> list[Any]:
    """One figure of each rank, by the keys that lead to it."""
    figures: list[Any] = list(ranks)
    for key in keys:
        figures = [figure[key] for figure in figures]
    return figures


def is_mean(ranks: list[Figures]) -> bool:
    """Whether every rank's "mean" is the mean of the local gradients."""
    return _are_mean(ranks, of_ranks(ranks, "mean"))


def _are_mean(ranks: list[Figures], figures: list[Any]) -> bool:
    """Whether each figure is the mean of the local gradients."""
    mean = np.mean(of_ranks(ranks, "local"), axis=0)
    # Exactly: the samples are small whole numbers, which float32 adds and halves without rounding.
    return all(np.array_equal(figure, mean) for figure in figures)


def agree(ranks: list[Figures], *keys: str) -> bool:
    """Whether all ranks report the same figure."""
    first, *others = of_ranks(ranks, *keys)
    return all(other == first for other in others)


@TOPIC.finding()
def mean_against_sum(evidence: Evidence) -> Iterator[Text]:
    """Whether what each rank gets is the mean, how it differs from the sum, and what seeds do."""
    for framework, figures in evidence[TWO_PROCESSES].items():
        ranks, route = figures["ranks"], ROUTES[framework]
        yield say(
            "is_the_mean" if is_mean(ranks) else "is_not_the_mean",
            local=tuple(map(digits, of_ranks(ranks, "local"))),
            mean=digits(ranks[0]["mean"]),
            sum=digits(ranks[0]["sum"]),
            ranks=len(ranks),
            route=route,
        )
        # Weights that agree from the start say nothing about what the first step does to them.
        if agree(ranks, "first_weights_own_seed"):
            seeds = "seeds_without_effect"
        elif agree(ranks, "after_step_own_seed"):
            seeds = "seeds_made_equal"
        else:
            seeds = "seeds_left_different"
        yield say(seeds, route=route)


# Ways to take a step


def way_name(way: str) -> Text:
    """A way to take a step, as a reader has it."""
    return say("by_hand") if way == BY_HAND else way


def steps_by_way(ranks: list[Figures]) -> dict[str, dict[str, list[Any]]]:
    """What each way to take a step took from the weight, a figure a rank, by way and style.

    Empty for a framework whose ranks took no steps by several ways.
    """
    by_way: dict[str, dict[str, list[Any]]] = {}
    for style, ways in ranks[0].get("routes", {}).items():
        for way in ways:
            by_way.setdefault(way, {})[style] = of_ranks(ranks, "routes", style, way)
    return by_way


def ways_by_steps(ranks: list[Figures]) -> list[tuple[tuple[Text, ...], list[Any]]]:
    """The ways that took the same from the weight, with what they took; "cell in tape style"."""
    groups: list[tuple[list[Text], list[Any]]] = []
    for way, by_style in steps_by_way(ranks).items():
        for styles, steps in grouped(by_style):
            name = way_name(way)
            if len(styles) < len(by_style):
                name = say("way_in_style", way=name, styles=tuple(map(style_name, styles)))
            for names, known_steps in groups:
                if known_steps == steps:
                    names.append(name)
                    break
            else:
                groups.append(([name], steps))
    return [(tuple(names), steps) for names, steps in groups]


def along(ranks: list[Figures], steps: list[Any]) -> Direction | None:
    """What the ranks stepped along; None where one of them raised."""
    if any(map(raised, steps)):
        return None
    if _are_mean(ranks, steps):
        return "along_mean"
    return "along_own" if steps == of_ranks(ranks, "local") else "along_other"


def first_error(steps: list[Any]) -> str:
    """What the first rank that raised said."""
    return next(said(step) for step in steps if raised(step))


@TOPIC.finding()
def ways_to_take_a_step(evidence: Evidence) -> Iterator[Text]:
    """Which ways to take a step average the gradients, and which leave each rank its own."""
    for framework, figures in evidence[TWO_PROCESSES].items():
        ranks = figures["ranks"]
        label = PARTIES[framework].label
        for ways, steps in ways_by_steps(ranks):
            direction = along(ranks, steps)
            if direction is None:
                error = first_error(steps)
                yield say("ways_refused", ways=ways, framework=label, error=error)
            else:
                shown = tuple(map(digits, steps))
                yield say(f"ways_{direction}", ways=ways, framework=label, steps=shown)


def rank_columns(ranks: list[Figures]) -> list[Message]:
    """The columns of the ranks."""
    return [say("rank", rank=rank["rank"]) for rank in ranks]


@TOPIC.table()
def ways_side_by_side(evidence: Evidence) -> Iterator[Table[Text]]:
    """What each way to take a step takes from the weight of both ranks, in both styles."""
    for framework, figures in evidence[TWO_PROCESSES].items():
        ranks = figures["ranks"]
        rows: list[tuple[Cell | Text, ...]] = []
        for way, by_style in steps_by_way(ranks).items():
            for style, steps in by_style.items():
                numbers = [outcome(step, digits) for step in steps]
                direction = along(ranks, steps)
                last = say(direction) if direction else first_error(steps)
                rows.append((way_name(way), style_name(style), *numbers, last))
        if rows:
            yield Table(
                title=say("ways_title", framework=framework),
                columns=(*say.row("way", "style"), *rank_columns(ranks), say("along")),
                rows=tuple(rows),
            )


@TOPIC.table()
def ranks_side_by_side(evidence: Evidence) -> Iterator[Table[Text]]:
    """The figures of both ranks, a table a framework."""
    for framework, figures in evidence[TWO_PROCESSES].items():
        ranks = figures["ranks"]
        rows: list[tuple[Cell | Text, ...]] = []
        for key in ROWS:
            numbers = map(digits, of_ranks(ranks, key))
            rows.append((say(key), *numbers, agree(ranks, key)))
        yield Table(
            title=say("ranks_title", framework=framework, reducer=ROUTES[framework]),
            columns=(say("what"), *rank_columns(ranks), say("the_same")),
            rows=tuple(rows),
        )


@TOPIC.chart()
def gradients_of_the_first_weight(evidence: Evidence) -> Iterator[Chart[Text]]:
    """Bars of one weight's gradient: each rank's own, the mean, the sum."""
    series: list[Series[Text]] = []
    for framework, figures in evidence[TWO_PROCESSES].items():
        ranks = figures["ranks"]
        names: list[Text] = [say("rank_local", rank=rank["rank"]) for rank in ranks]
        heights = list(map(_first, of_ranks(ranks, "local")))
        # What is reduced is on every rank, so the first one's will do.
        for key in ("mean", "sum"):
            names.append(say(f"bar_{key}"))
            heights.append(_first(ranks[0][key]))
        series.append(Series(PARTIES[framework].label, tuple(names), tuple(heights)))
    if series:
        yield Chart(
            name="data-parallel-gradients",
            title=say("gradients_title"),
            kind="bars",
            x="",
            y=say("gradients_axis"),
            series=tuple(series),
            note=say("gradients_note"),
        )


def _first(gradient: Any) -> float:
    return float(np.ravel(gradient)[0])
