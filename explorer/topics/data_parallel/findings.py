"""What two ranks' figures say: mean against sum, and weights that started differently."""

from collections.abc import Iterable, Iterator
from typing import Any, Literal

import msgspec
import numpy as np

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


class Rank(msgspec.Struct, frozen=True):
    """What one rank reports: its number, gradients, and weights before and after one step.

    ``routes`` is what each way to take a step took from the weight, by style, or what it raised;
    ``printed`` is what became of the guide's code as it is printed. Each is of one framework alone.
    """

    rank: int
    local: Any
    mean: Any
    sum: Any
    after_step: Any
    first_weights_one_seed: Any
    first_weights_own_seed: Any
    after_step_own_seed: Any
    routes: dict[str, dict[str, Any]] = {}
    printed: Any = None


Ranks = tuple[Rank, ...]


class TwoRanks(msgspec.Struct, frozen=True):
    """The figures of one framework's processes."""

    ranks: Ranks


def ranks_of(evidence: Evidence) -> dict[str, Ranks]:
    """What the ranks of each framework report."""
    answers = evidence.records(TWO_PROCESSES, TwoRanks)
    return {framework: figures.ranks for framework, figures in answers.items()}


def local_gradients(ranks: Ranks) -> list[Any]:
    """The gradient of each rank's own sample."""
    return [rank.local for rank in ranks]


def steps_by(ranks: Ranks, style: str, way: str) -> list[Any]:
    """What a way to take a step took from the weight of each rank."""
    return [rank.routes[style][way] for rank in ranks]


def is_mean(ranks: Ranks) -> bool:
    """Whether every rank's "mean" is the mean of the local gradients."""
    return _are_mean(ranks, [rank.mean for rank in ranks])


def _are_mean(ranks: Ranks, figures: list[Any]) -> bool:
    """Whether each figure is the mean of the local gradients."""
    mean = np.mean(local_gradients(ranks), axis=0)
    # Exactly: the samples are small whole numbers, which float32 adds and halves without rounding.
    return all(np.array_equal(figure, mean) for figure in figures)


def agree(figures: Iterable[Any]) -> bool:
    """Whether all ranks report the same figure."""
    first, *others = figures
    return all(other == first for other in others)


def start_alike(ranks: Ranks) -> bool:
    """Whether the ranks' first weights are the same, each with a seed of its own."""
    return agree(rank.first_weights_own_seed for rank in ranks)


def end_alike(ranks: Ranks) -> bool:
    """Whether their weights are the same after one step, each with a seed of its own."""
    return agree(rank.after_step_own_seed for rank in ranks)


@TOPIC.finding()
def mean_against_sum(evidence: Evidence) -> Iterator[Text]:
    """Whether what each rank gets is the mean, how it differs from the sum, and what seeds do."""
    for framework, ranks in ranks_of(evidence).items():
        route = ROUTES[framework]
        yield say(
            "is_the_mean" if is_mean(ranks) else "is_not_the_mean",
            local=tuple(map(digits, local_gradients(ranks))),
            mean=digits(ranks[0].mean),
            sum=digits(ranks[0].sum),
            ranks=len(ranks),
            route=route,
        )
        # Weights that agree from the start say nothing about what the first step does to them.
        if start_alike(ranks):
            seeds = "seeds_without_effect"
        elif end_alike(ranks):
            seeds = "seeds_made_equal"
        else:
            seeds = "seeds_left_different"
        yield say(seeds, route=route)


# Ways to take a step


def way_name(way: str) -> Text:
    """A way to take a step, as a reader has it."""
    return say("by_hand") if way == BY_HAND else way


def steps_by_way(ranks: Ranks) -> dict[str, dict[str, list[Any]]]:
    """What each way to take a step took from the weight, a figure a rank, by way and style.

    Empty for a framework whose ranks took no steps by several ways.
    """
    by_way: dict[str, dict[str, list[Any]]] = {}
    for style, ways in ranks[0].routes.items():
        for way in ways:
            by_way.setdefault(way, {})[style] = steps_by(ranks, style, way)
    return by_way


def ways_by_steps(ranks: Ranks) -> list[tuple[tuple[Text, ...], list[Any]]]:
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


def along(ranks: Ranks, steps: list[Any]) -> Direction | None:
    """What the ranks stepped along; None where one of them raised."""
    if any(map(raised, steps)):
        return None
    if _are_mean(ranks, steps):
        return "along_mean"
    return "along_own" if steps == local_gradients(ranks) else "along_other"


def first_error(steps: list[Any]) -> str:
    """What the first rank that raised said."""
    return next(said(step) for step in steps if raised(step))


@TOPIC.finding()
def ways_to_take_a_step(evidence: Evidence) -> Iterator[Text]:
    """Which ways to take a step average the gradients, and which leave each rank its own."""
    for framework, ranks in ranks_of(evidence).items():
        label = PARTIES[framework].label
        for ways, steps in ways_by_steps(ranks):
            direction = along(ranks, steps)
            if direction is None:
                error = first_error(steps)
                yield say("ways_refused", ways=ways, framework=label, error=error)
            else:
                shown = tuple(map(digits, steps))
                yield say(f"ways_{direction}", ways=ways, framework=label, steps=shown)


def rank_columns(ranks: Ranks) -> list[Message]:
    """The columns of the ranks."""
    return [say("rank", rank=rank.rank) for rank in ranks]


@TOPIC.table()
def ways_side_by_side(evidence: Evidence) -> Iterator[Table[Text]]:
    """What each way to take a step takes from the weight of both ranks, in both styles."""
    for framework, ranks in ranks_of(evidence).items():
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
    for framework, ranks in ranks_of(evidence).items():
        rows: list[tuple[Cell | Text, ...]] = []
        for key in ROWS:
            figures = [getattr(rank, key) for rank in ranks]
            rows.append((say(key), *map(digits, figures), agree(figures)))
        yield Table(
            title=say("ranks_title", framework=framework, reducer=ROUTES[framework]),
            columns=(say("what"), *rank_columns(ranks), say("the_same")),
            rows=tuple(rows),
        )


@TOPIC.chart()
def gradients_of_the_first_weight(evidence: Evidence) -> Iterator[Chart[Text]]:
    """Bars of one weight's gradient: each rank's own, the mean, the sum."""
    series: list[Series[Text]] = []
    for framework, ranks in ranks_of(evidence).items():
        names: list[Text] = [say("rank_local", rank=rank.rank) for rank in ranks]
        # What is reduced is on every rank, so the first one's will do.
        names += [say("bar_mean"), say("bar_sum")]
        gradients = [*local_gradients(ranks), ranks[0].mean, ranks[0].sum]
        heights = tuple(map(_first, gradients))
        series.append(Series(PARTIES[framework].label, tuple(names), heights))
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
