"""Findings about nested gradients: how many orders are right, how graphs grow, what calls cost."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.model.measurement import Figures
from explorer.model.study import Cell, Chart, Series, Table
from explorer.numeric.differences import relative_error
from explorer.text.numbers import digits, number
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import EMPTY, Evidence, grouped, why_empty
from explorer.topics.higher_order import wave
from explorer.topics.higher_order.nested import (
    EVERY_ORDER,
    NOT_ASKED,
    TURNS,
    is_not_asked,
    sampled,
    timing_name,
)
from explorer.topics.higher_order.questions import (
    ALL_ENGINES,
    NODES,
    NODES_OF_WAVE,
    ORDERS,
    ORDERS_OF_WAVE,
    REFERENCE,
    REFERENCE_OF_WAVE,
    TOPIC,
    WAVE,
)
from explorer.topics.higher_order.transformations import NEAR
from explorer.topics.question import PARTIES, Question

REFERENCE_LABEL = "PyTorch in float64"

MANY = 6
"""A derivative with more elements than this is shown with its norm."""

FIRST, LAST = EVERY_ORDER[0], EVERY_ORDER[-1]

InputAndOrder = tuple[str, str]
"""The name of an input, and an order as figures spell it: ("x", "2")."""


# The nets


@dataclass(frozen=True)
class NestedNet:
    """A net that is differentiated again and again, and the questions about it."""

    name: str
    orders: Question
    reference: Question
    nodes: Question

    @property
    def is_wave(self) -> bool:
        """Whether this is the net with a closed form."""
        return self.orders == ORDERS_OF_WAVE


THE_WAVE = NestedNet("wave", ORDERS_OF_WAVE, REFERENCE_OF_WAVE, NODES_OF_WAVE)


def nets(evidence: Evidence) -> list[NestedNet]:
    """The scenario looked at, and the wave where that is another one."""
    if evidence.target.scenario in ("", WAVE):
        return [THE_WAVE]
    return [NestedNet(evidence.target.name, ORDERS, REFERENCE, NODES), THE_WAVE]


def truth(evidence: Evidence, net: NestedNet) -> dict[InputAndOrder, dict[str, Any]]:
    """The figures that every engine is held against, by input and order.

    Of the wave its closed form, else those of PyTorch in float64, some of which may have raised.
    """
    if net.is_wave:
        return {
            ("x", str(order)): sampled(np.array(wave.derivative(order))) for order in EVERY_ORDER
        }
    derivatives: dict[InputAndOrder, dict[str, Any]] = {}
    for figures in evidence[net.reference].values():
        for name, by_order in figures["by input"].items():
            for order, figure in by_order.items():
                derivatives[name, order] = figure
    return derivatives


def truth_label(net: NestedNet) -> str:
    """What the truth of a net is called."""
    return "the closed form" if net.is_wave else REFERENCE_LABEL


def labels(net: NestedNet) -> list[str]:
    """Who is held against the truth: the engines, and of the wave PyTorch in float64 too."""
    labels = [PARTIES[engine].label for engine in ALL_ENGINES]
    return [*labels, REFERENCE_LABEL] if net.is_wave else labels


def answers(evidence: Evidence, net: NestedNet) -> dict[str, Figures]:
    """The figures of those of ``labels`` who answered."""
    answers = {}
    for engine, figures in evidence[net.orders].items():
        answers[PARTIES[engine].label] = figures
    if net.is_wave:
        for figures in evidence[net.reference].values():
            answers[REFERENCE_LABEL] = figures
    return answers


def figure_at(figures: Figures | None, place: InputAndOrder) -> Any:
    """The derivative at a place, what was raised there, or None where nobody answered."""
    if figures is None:
        return None
    name, order = place
    return figures["by input"].get(name, {}).get(order)


# Orders 1 to 5 against the truth


@dataclass(frozen=True)
class Standing:
    """How one engine's nested gradients of a net stand against the truth.

    ``near`` are the differences of those that agree, ``far`` those that do not although no message
    came; ``refused`` are the orders by what was raised, ``left_out`` those by why this study did
    not ask.
    """

    near: list[float]
    far: list[tuple[InputAndOrder, float]]
    refused: dict[str, list[int]]
    left_out: dict[str, list[int]]


def standing(figures: Figures, known: dict[InputAndOrder, dict[str, Any]]) -> Standing:
    """How the figures of one engine stand against what is known."""
    stands = Standing([], [], {}, {})
    for place, derivative in known.items():
        figure = figure_at(figures, place)
        order = int(place[1])
        if is_not_asked(figure):
            stands.left_out.setdefault(figure[NOT_ASKED], []).append(order)
        elif raised(figure):
            stands.refused.setdefault(said(figure).rstrip("."), []).append(order)
        elif figure:  # an input or order that this engine was not asked about has none
            difference = relative_error(figure["elements"], derivative["elements"])
            if difference <= NEAR:
                stands.near.append(difference)
            else:
                stands.far.append((place, difference))
    return stands


@TOPIC.finding()
def nested_gradients(evidence: Evidence) -> Iterator[str]:
    """Of each net, who gets its nested gradients right and who does not, and how graphs grow."""
    for net in nets(evidence):
        yield from agreement_by_engine(evidence, net)
        yield from growth(evidence, net)


def agreement_by_engine(evidence: Evidence, net: NestedNet) -> Iterator[str]:
    """Who is wrong or refuses, one by one; then those who are right at every order, together."""
    derivatives = truth(evidence, net)
    known = {place: figure for place, figure in derivatives.items() if not raised(figure)}
    if not known:
        return
    right: list[str] = []
    worst = 0.0
    for label, figures in answers(evidence, net).items():
        stands = standing(figures, known)
        if len(stands.near) == len(known):
            right.append(in_a_list(label))
            worst = max(worst, *stands.near)
        else:
            yield f"{net.name}, {label}: {in_words(stands, len(known))}."
    if right:
        yield (
            f"{net.name}: all {len(known)} nested gradients up to order {LAST} are right in"
            f" {', '.join(right)} (at most {worst:.1g} from {truth_label(net)})."
        )


def in_a_list(label: str) -> str:
    """The name of an engine among others: without its comma."""
    return label.replace(",", "")


def in_words(stands: Standing, total: int) -> str:
    """What is wrong or missing of one engine's nested gradients, the worst first."""
    clauses = []
    if stands.far:
        (name, order), difference = stands.far[0]
        clauses.append(
            f"wrong without a message in {len(stands.far)} of {total} nested gradients, the first"
            f" by {name} at order {order}, off by {difference:.2g}"
        )
    for message, orders in stands.refused.items():
        clauses.append(f"refused in {len(orders)}, from order {min(orders)} on ({message})")
    for why, orders in stands.left_out.items():
        clauses.append(
            f"not asked by this study in {len(orders)}, from order {min(orders)} on, since {why}"
        )
    clauses.append(f"right in {len(stands.near)} of {total}")
    return "; ".join(clauses)


@TOPIC.table()
def derivatives(evidence: Evidence) -> Iterator[Table]:
    """Every nested gradient beside the truth, a table a net."""
    for net in nets(evidence):
        figures_of = answers(evidence, net)
        rows: list[tuple[Cell, ...]] = []
        for place, figure in truth(evidence, net).items():
            name, order = place
            cells = [shown(figure_at(figures_of.get(label), place)) for label in labels(net)]
            rows.append((name, int(order), shown(figure), *cells))

        yield Table(
            title=f"Derivatives of {net.name}, orders 1 to {LAST}",
            columns=("by", "order", truth_label(net), *labels(net)),
            rows=tuple(rows),
            note=why_empty(evidence, net.orders, net.reference, labels={"torch": REFERENCE_LABEL}),
        )


def shown(figure: Any) -> str:
    """A derivative for a table's cell: its elements, or what was raised.

    Where there are many elements, the norm stands with them.
    """
    if figure is None:
        return EMPTY
    if is_not_asked(figure):
        return f"{NOT_ASKED} {figure[NOT_ASKED]}"
    if raised(figure):
        return said(figure)
    elements = [number(element) for element in figure["elements"]]
    if len(elements) == 1:
        return digits(np.array(elements[0]))
    text = digits(np.array(elements))
    return f"{text}, norm {figure['norm']:.5g}" if len(elements) > MANY else text


# How the gradient grows


def node_counts(evidence: Evidence, net: NestedNet) -> dict[str, list[int | str]]:
    """The operators at every order, by engine and stage: "MindSpore, graph (validate)".

    Where something was raised, or the order was not asked, a message stands in place of a count.
    """
    counts: dict[str, list[int | str]] = {}
    for engine, figures in evidence[net.nodes].items():
        by_order = figures["by order"]
        for stage in stages(by_order):
            label = f"{PARTIES[engine].label} ({stage})"
            counts[label] = [count_at(by_order.get(str(order), {}), stage) for order in EVERY_ORDER]
    return counts


def stages(by_order: Figures) -> list[str]:
    """The stages at which an engine's graphs were counted, in order."""
    stages: dict[str, None] = {}
    for figure in by_order.values():
        if not raised(figure) and not is_not_asked(figure):
            stages |= dict.fromkeys(figure)
    return list(stages)


def count_at(figure: Figures, stage: str) -> int | str:
    """The operators of one order at a stage, or why there are none."""
    if is_not_asked(figure):
        return f"{NOT_ASKED} {figure[NOT_ASKED]}"
    if raised(figure):
        return said(figure)
    count: int | str = figure.get(stage, EMPTY)
    return count


def growth(evidence: Evidence, net: NestedNet) -> Iterator[str]:
    """How the graphs of a net grow from order to order, those that grow alike together."""
    clauses = []
    for labels, counts in grouped(last_stages(evidence, net)):
        # Orders that were refused or not asked have no count.
        by_order = zip(EVERY_ORDER, counts, strict=True)
        known = {order: count for order, count in by_order if isinstance(count, int)}
        if len(known) > 1:
            numbers = ", ".join(map(str, known.values()))
            clauses.append(
                f"{change_of_size(known)} in {', '.join(labels)} (orders {min(known)} to"
                f" {max(known)}: {numbers})"
            )
    if clauses:
        yield f"{net.name}: the gradient {'; '.join(clauses)}."


def change_of_size(operators: dict[int, int]) -> str:
    """How the number of operators changes from the first order to the last one known."""
    first, last = min(operators), max(operators)
    change = operators[last] - operators[first]
    if change == 0:
        return f"ends with the {operators[first]} operators that it starts with"
    verb = "grows" if change > 0 else "shrinks"
    return f"{verb} from {operators[first]} to {operators[last]} operators"


def last_stages(evidence: Evidence, net: NestedNet) -> dict[str, tuple[int | str, ...]]:
    """The operators at every order in the last graph of each engine, by its label."""
    lines: dict[str, tuple[int | str, ...]] = {}
    for engine, figures in evidence[net.nodes].items():
        by_order = figures["by order"]
        last = stages(by_order)[-1:]
        if last:
            counts = [count_at(by_order.get(str(order), {}), last[0]) for order in EVERY_ORDER]
            lines[in_a_list(PARTIES[engine].label)] = tuple(counts)
    return lines


@TOPIC.table()
def operators_by_order(evidence: Evidence) -> Iterator[Table]:
    """The operators of every engine's graph at every stage, a table a net."""
    for net in nets(evidence):
        counts = node_counts(evidence, net)
        rows: list[tuple[Cell, ...]] = []
        if counts:
            rows = list(zip(EVERY_ORDER, *counts.values(), strict=True))
        yield Table(
            title=f"Operators of the gradient of {net.name}, forward included, by order",
            columns=("order", *counts),
            rows=tuple(rows),
            note=why_empty(evidence, net.nodes),
        )


@TOPIC.chart()
def growth_of_the_wave(evidence: Evidence) -> Iterator[Chart]:
    """The operators of the wave's gradient over the orders; graphs that grow alike share a line."""
    lines = {}
    for label, counts in node_counts(evidence, THE_WAVE).items():
        lines[label] = tuple(float(count) if isinstance(count, int) else None for count in counts)
    series = []
    for who, line in grouped(lines):
        series.append(Series(" and ".join(who), tuple(map(float, EVERY_ORDER)), line))
    if series:
        yield Chart(
            name="nodes_wave",
            title="Operators of the gradient of wave",
            kind="line",
            x="order",
            y="operators",
            series=tuple(series),
            log=("y",),
        )


# What a call costs


def seconds_of_wave(evidence: Evidence) -> dict[str, dict[str, float]]:
    """The seconds of the wave's calls by the label of the engine, where there are any."""
    seconds = {}
    for engine, timings in evidence.timings(ORDERS_OF_WAVE).items():
        if timings:
            seconds[PARTIES[engine].label] = timings
    return seconds


@TOPIC.table()
def seconds_by_order(evidence: Evidence) -> Iterator[Table]:
    """The seconds of the first call and of the next, at every order."""
    seconds = seconds_of_wave(evidence)
    columns = ["order"]
    for label in seconds:
        columns += [f"{label}, {turn}" for turn in TURNS]
    rows: list[tuple[Cell, ...]] = []
    # Without any seconds there are no columns for the orders' rows to fill.
    orders = EVERY_ORDER if seconds else ()
    for order in orders:
        cells: list[Cell] = [order]
        for timings in seconds.values():
            cells += [timings.get(timing_name(order, turn), EMPTY) for turn in TURNS]
        rows.append(tuple(cells))
    yield Table(
        title="Seconds of the first call, with whatever is compiled, and of the next (wave)",
        columns=tuple(columns),
        rows=tuple(rows),
        timing=True,
    )


@TOPIC.chart()
def seconds_of_first_calls(evidence: Evidence) -> Iterator[Chart]:
    """The seconds of the first call over the orders."""
    series = []
    for label, timings in seconds_of_wave(evidence).items():
        seconds = tuple(timings.get(timing_name(order, TURNS[0])) for order in EVERY_ORDER)
        series.append(Series(label, tuple(map(float, EVERY_ORDER)), seconds))
    if series:
        yield Chart(
            name="seconds",
            title="Seconds of the first call, with whatever is compiled (wave)",
            kind="line",
            x="order",
            y="seconds",
            series=tuple(series),
            log=("y",),
            timing=True,
        )
