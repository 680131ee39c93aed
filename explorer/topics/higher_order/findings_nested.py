"""Findings about nested gradients: how many orders are right, how graphs grow, what calls cost."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.model.measurement import Figures
from explorer.model.study import Cell, Chart, Series, Table
from explorer.numeric.differences import relative_error
from explorer.text.numbers import digits, number
from explorer.topics.attempts import raised, said, said_briefly
from explorer.topics.evidence import EMPTY, Evidence, grouped, why_empty
from explorer.topics.higher_order.growth import growth, node_counts
from explorer.topics.higher_order.nested import (
    EVERY_ORDER,
    NOT_ASKED,
    TURNS,
    is_not_asked,
    timing_name,
)
from explorer.topics.higher_order.nested_nets import (
    REFERENCE_LABEL,
    THE_WAVE,
    InputAndOrder,
    NestedNet,
    answers,
    figure_at,
    in_a_list,
    labels,
    nets,
    one_tensor,
    truth,
    truth_label,
)
from explorer.topics.higher_order.questions import ORDERS_OF_WAVE, TOPIC
from explorer.topics.higher_order.transformations import NEAR
from explorer.topics.question import PARTIES

MANY = 6
"""A derivative with more elements than this is shown with its norm."""

FIRST, LAST = EVERY_ORDER[0], EVERY_ORDER[-1]

# Orders 1 to 5 against the truth


@dataclass(frozen=True)
class Standing:
    """How one engine's nested gradients of a net stand against the truth.

    ``near`` are the differences of those that agree, ``far`` those that do not although no message
    came; ``refused`` are the orders by the first sentence of what was raised, ``left_out`` those
    by why this study did not ask.
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
            stands.refused.setdefault(said_briefly(figure), []).append(order)
        elif figure:  # an input or order that this engine was not asked about has none
            # Overflow in the float of the inputs is no error of the derivative.
            held = as_held(derivative["elements"], figure.get("dtype", "float64"))
            difference = difference_of(figure["elements"], held)
            if difference <= NEAR:
                stands.near.append(difference)
            else:
                stands.far.append((place, difference))
    return stands


def as_held(elements: list[Any], dtype: str) -> list[float]:
    """Elements in float64, infinite where a float of ``dtype`` overflows, else as they are."""
    exact = np.array([number(element) for element in elements])
    with np.errstate(over="ignore"):
        overflows = np.isinf(exact.astype(dtype))
    held: list[float] = np.where(overflows, np.copysign(math.inf, exact), exact).tolist()
    return held


def difference_of(elements: list[Any], truth: list[Any]) -> float:
    """The relative error of elements; the same infinity, or nan where the truth is nan, has none."""
    if len(elements) != len(truth):
        return math.inf
    finite: tuple[list[float], list[float]] = ([], [])
    for one, other in zip(map(number, elements), map(number, truth), strict=True):
        both_nan = math.isnan(one) and math.isnan(other)
        if not both_nan and not (math.isinf(one) and one == other):
            finite[0].append(one)
            finite[1].append(other)
    return float(relative_error(*finite)) if finite[0] else 0.0


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
            words = in_words(stands, one_tensor(evidence, net))
            yield f"{net.name}, {label}: of {len(known)} nested gradients {words}."
    if right:
        distance = f"at most a relative {worst:.1g} from" if worst else "exactly those of"
        yield (
            f"{net.name}: all {len(known)} nested gradients up to order {LAST} are right in"
            f" {', '.join(right)} ({distance} {truth_label(net)})."
        )


def in_words(stands: Standing, shared: Sequence[str] = ()) -> str:
    """What is wrong or missing of one engine's nested gradients, the worst first.

    ``shared`` are inputs that are one tensor: the gradient by a tensor is none by an argument, and
    not wrong.
    """
    clauses = []
    wrong = [far for far in stands.far if far[0][0] not in shared]
    by_tensor = len(stands.far) - len(wrong)
    if wrong:
        (name, order), difference = wrong[0]
        clauses.append(
            f"{len(wrong)} wrong without a message, the first by {name} at order {order}"
            f" ({_error_in_words(difference)})"
        )
    if by_tensor:
        clauses.append(
            f"{by_tensor} not those by each argument alone ({' and '.join(shared)} are one tensor)"
        )
    for message, orders in stands.refused.items():
        clauses.append(f"{len(orders)} refused, from order {min(orders)} on ({message})")
    if stands.left_out:
        left_out = [order for orders in stands.left_out.values() for order in orders]
        clauses.append(
            f"{len(left_out)} not asked by this study, from order {min(left_out)} on, since"
            f" {' and '.join(stands.left_out)}"
        )
    clauses.append(f"{len(stands.near)} right")
    return "; ".join(clauses)


def _error_in_words(error: float) -> str:
    return (
        f"relative error {error:.2g}" if math.isfinite(error) else "not finite, or where 0 is right"
    )


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
            title=f"Operators of the gradient of {THE_WAVE.name}",
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
        title=f"Seconds of the first call, compiling included, and of the next ({THE_WAVE.name})",
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
            title=f"Seconds of the first call, compiling included ({THE_WAVE.name})",
            kind="line",
            x="order",
            y="seconds",
            series=tuple(series),
            log=("y",),
            timing=True,
        )
