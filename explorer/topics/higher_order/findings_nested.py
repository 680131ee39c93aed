"""Findings about nested gradients: how many orders are right, how graphs grow, what calls cost."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from explorer.model.measurement import Figures
from explorer.model.message import Text, message
from explorer.model.study import Cell, Chart, Series, Table
from explorer.numeric.differences import CLEAR, relative_error
from explorer.text.numbers import digits, number
from explorer.topics import cells
from explorer.topics.attempts import raised, said, said_briefly
from explorer.topics.evidence import EMPTY, Evidence, grouped
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
from explorer.topics.question import Question

MANY = 6
"""A derivative with more elements than this is shown with its norm."""

FIRST, LAST = EVERY_ORDER[0], EVERY_ORDER[-1]

# The nets: who answers, and what is known of them

REFERENCE_PARTY = "torch"
"""Who computes nested gradients in float64, beside the engines."""

IN_FLOAT64 = message("higher_order.in_float64")

InputAndOrder = tuple[str, str]
"""The name of an input, and an order as figures spell it: ("x", "2")."""


@dataclass(frozen=True)
class NestedNet:
    """A net that is differentiated again and again, and the questions about it."""

    name: Text
    orders: Question
    reference: Question
    nodes: Question

    @property
    def is_wave(self) -> bool:
        """Whether this is the net with a closed form."""
        return self.orders == ORDERS_OF_WAVE


THE_WAVE = NestedNet(
    message("higher_order.the_wave", formula=wave.FORMULA),
    ORDERS_OF_WAVE,
    REFERENCE_OF_WAVE,
    NODES_OF_WAVE,
)


def nets(evidence: Evidence) -> list[NestedNet]:
    """The scenario looked at, and the wave where that is another one."""
    if evidence.target.scenario in ("", WAVE):
        return [THE_WAVE]
    return [NestedNet(evidence.target.name, ORDERS, REFERENCE, NODES), THE_WAVE]


def truth(evidence: Evidence, net: NestedNet) -> dict[InputAndOrder, dict[str, Any]]:
    """The figures that every engine is held against, by input and order.

    Of the wave its closed form, else those in float64 that central differences of the forward
    confirm, or these themselves; of some nothing may be known.
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


def one_tensor(evidence: Evidence, net: NestedNet) -> list[str]:
    """The inputs of a net that are one tensor; the wave has a single input."""
    for figures in evidence[net.reference].values():
        names: list[str] = figures.get("one tensor", [])
        return names
    return []


def truth_name(net: NestedNet) -> Text:
    """What the truth of a net is called."""
    return message("higher_order.closed_form" if net.is_wave else "higher_order.confirmed")


def parties(net: NestedNet) -> tuple[str, ...]:
    """Who is held against the truth: the engines, and of the wave PyTorch in float64 too."""
    return (*ALL_ENGINES, REFERENCE_PARTY) if net.is_wave else ALL_ENGINES


def party(name: str) -> Text:
    """One of ``parties`` in a cell, or at the head of a sentence."""
    return IN_FLOAT64 if name == REFERENCE_PARTY else cells.party(name)


def listed_party(name: str) -> Text:
    """One of ``parties`` in a list."""
    return IN_FLOAT64 if name == REFERENCE_PARTY else cells.listed_party(name)


def answers(evidence: Evidence, net: NestedNet) -> dict[str, Figures]:
    """The figures of those of ``parties`` who answered."""
    answers = dict(evidence[net.orders])
    if net.is_wave:
        answers.update(evidence[net.reference])
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
    came; ``refused`` are the orders by the first sentence of what was raised. ``left_out`` are the
    orders that this study did not ask, each with the one before it that was too much.
    """

    near: list[float] = field(default_factory=list)
    far: list[tuple[InputAndOrder, float]] = field(default_factory=list)
    refused: dict[str, list[int]] = field(default_factory=dict)
    left_out: list[tuple[int, Figures]] = field(default_factory=list)


def standing(figures: Figures, known: dict[InputAndOrder, dict[str, Any]]) -> Standing:
    """How the figures of one engine stand against what is known."""
    stands = Standing()
    for place, derivative in known.items():
        figure = figure_at(figures, place)
        order = int(place[1])
        if is_not_asked(figure):
            stands.left_out.append((order, figure[NOT_ASKED]))
        elif raised(figure):
            stands.refused.setdefault(said_briefly(figure), []).append(order)
        elif figure:  # an input or order that this engine was not asked about has none
            # Overflow in the float of the inputs is no error of the derivative.
            held = as_held(derivative["elements"], figure.get("dtype", "float64"))
            held = beyond_noise(held, figure["elements"], derivative.get("noise", 0.0))
            difference = difference_of(figure["elements"], held)
            if difference <= NEAR:
                stands.near.append(difference)
            else:
                stands.far.append((place, difference))
    return stands


def as_held(elements: list[Any], dtype: str) -> list[float]:
    """Elements in float64, infinite where a float of ``dtype`` overflows, else as they are."""
    exact = np.array(list(map(number, elements)))
    with np.errstate(over="ignore"):
        overflows = np.isinf(exact.astype(dtype))
    held: list[float] = np.where(overflows, np.copysign(math.inf, exact), exact).tolist()
    return held


def beyond_noise(truth: list[float], elements: list[Any], noise: float) -> list[float]:
    """The truth; where an element lies within a few times its ``noise``, that element."""
    if not noise or len(truth) != len(elements):
        return truth
    held = []
    for exact, element in zip(truth, map(number, elements), strict=True):
        held.append(element if abs(element - exact) <= CLEAR * noise else exact)
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
def nested_gradients(evidence: Evidence) -> Iterator[Text]:
    """Of each net, who gets its nested gradients right and who does not, and how graphs grow."""
    for net in nets(evidence):
        yield from agreement_by_engine(evidence, net)
        yield from growth(evidence, net)


def agreement_by_engine(evidence: Evidence, net: NestedNet) -> Iterator[Text]:
    """Who is wrong or refuses, one by one; then those who are right at every order, together."""
    derivatives = truth(evidence, net)
    known = {place: figure for place, figure in derivatives.items() if not raised(figure)}
    if not known:
        return
    right: list[Text] = []
    worst = 0.0
    for name, figures in answers(evidence, net).items():
        stands = standing(figures, known)
        if len(stands.near) == len(known):
            right.append(listed_party(name))
            worst = max(worst, *stands.near)
        else:
            outcomes = outcomes_of(stands, one_tensor(evidence, net))
            yield message(
                "higher_order.of_nested",
                net=net.name,
                who=party(name),
                gradients=len(known),
                outcomes=outcomes,
            )
    if right:
        yield message(
            ALL_RIGHT[worst == 0.0],
            net=net.name,
            gradients=len(known),
            last=LAST,
            parties=tuple(right),
            worst=worst,
            truth=truth_name(net),
        )


ALL_RIGHT = {True: "higher_order.all_exact", False: "higher_order.all_near"}
"""The finding on gradients that are all right, by whether they are exactly the truth."""


WRONG = {True: "higher_order.wrong", False: "higher_order.wrong_not_finite"}
"""What is said of wrong gradients, by whether the first one's error is finite."""


def outcomes_of(stands: Standing, shared: Sequence[str] = ()) -> tuple[Text, ...]:
    """What is wrong or missing of one engine's nested gradients, the worst first.

    ``shared`` are inputs that are one tensor: the gradient by a tensor is none by an argument, and
    not wrong.
    """
    outcomes: list[Text] = []
    wrong = [far for far in stands.far if far[0][0] not in shared]
    by_tensor = len(stands.far) - len(wrong)
    if wrong:
        (name, order), error = wrong[0]
        first_wrong = message(
            WRONG[math.isfinite(error)],
            count=len(wrong),
            input=name,
            order=order,
            error=error,
        )
        outcomes.append(first_wrong)
    if by_tensor:
        inputs = tuple(shared)
        outcomes.append(message("higher_order.by_tensor", count=by_tensor, inputs=inputs))
    for error_text, orders in stands.refused.items():
        count, lowest = len(orders), min(orders)
        refused = message("higher_order.refused_at", count=count, order=lowest, error=error_text)
        outcomes.append(refused)
    if stands.left_out:
        reasons: list[Text] = []
        for _, too_much in stands.left_out:
            if reason(too_much) not in reasons:
                reasons.append(reason(too_much))
        count, lowest = len(stands.left_out), min(order for order, _ in stands.left_out)
        left_out = message(
            "higher_order.left_out", count=count, order=lowest, reasons=tuple(reasons)
        )
        outcomes.append(left_out)
    outcomes.append(message("higher_order.count_right", count=len(stands.near)))
    return tuple(outcomes)


def reason(too_much: Figures) -> Text:
    """Why an order was left out: what the order before it had."""
    if "operators" in too_much:
        return message("higher_order.too_large", **too_much)
    return message("higher_order.too_slow", **too_much)


@TOPIC.table()
def derivatives(evidence: Evidence) -> Iterator[Table[Text]]:
    """Every nested gradient beside the truth, a table a net."""
    for net in nets(evidence):
        figures_of = answers(evidence, net)
        rows: list[tuple[Cell | Text, ...]] = []
        for place, figure in truth(evidence, net).items():
            by_input, order = place
            found = [shown(figure_at(figures_of.get(name), place)) for name in parties(net)]
            rows.append((by_input, int(order), shown(figure), *found))

        by, order_column = message("higher_order.by"), message("higher_order.order")
        yield Table(
            title=message("higher_order.derivatives.title", net=net.name, last=LAST),
            columns=(by, order_column, truth_name(net), *map(party, parties(net))),
            rows=tuple(rows),
            note=cells.sentences(
                _point_of(net),
                cells.missing(
                    evidence, net.orders, net.reference, labels={REFERENCE_PARTY: IN_FLOAT64}
                ),
            ),
        )


def _point_of(net: NestedNet) -> Text:
    """Where the wave is differentiated; a scenario's inputs are its own."""
    if not net.is_wave:
        return ""
    return message("higher_order.at_point", x=f"{wave.inputs()['x']:g}")


def shown(figure: Any) -> Text:
    """A derivative for a table's cell: its elements, or what was raised.

    Where there are many elements, the norm stands with them.
    """
    if figure is None:
        return EMPTY
    if is_not_asked(figure):
        return message("higher_order.not_asked", reason=reason(figure[NOT_ASKED]))
    if raised(figure):
        return said(figure)
    elements = list(map(number, figure["elements"]))
    if len(elements) == 1:
        return digits(np.array(elements[0]))
    listed = digits(np.array(elements))
    if len(elements) <= MANY:
        return listed
    return message("higher_order.with_norm", elements=listed, norm=number(figure["norm"]))


# How the gradient grows


EngineAndStage = tuple[str, str]
"""An engine, and a stage of its graphs; "" for an engine with one stage."""


def node_counts(evidence: Evidence, net: NestedNet) -> dict[EngineAndStage, list[int | Text]]:
    """The operators at every order, by engine and stage.

    Where something was raised, or the order was not asked, a message stands in place of a count.
    """
    counts: dict[EngineAndStage, list[int | Text]] = {}
    for engine, figures in evidence[net.nodes].items():
        by_order = figures["by order"]
        all_stages = stages(by_order)
        for stage in all_stages:
            place = (engine, stage) if len(all_stages) > 1 else (engine, "")
            counts[place] = counts_at(by_order, stage)
    return counts


def engine_at(place: EngineAndStage) -> Text:
    """An engine with the stage: "MindSpore, graph (validate)"."""
    engine, stage = place
    if not stage:
        return party(engine)
    return message("higher_order.engine_at", who=party(engine), stage=stage)


def stages(by_order: Figures) -> list[str]:
    """The stages at which an engine's graphs were counted, in order."""
    stages: dict[str, None] = {}
    for figure in by_order.values():
        if not raised(figure) and not is_not_asked(figure):
            stages |= dict.fromkeys(figure)
    return list(stages)


def counts_at(by_order: Figures, stage: str) -> list[int | Text]:
    """The operators of every order at a stage, or why there are none."""
    return [count_at(by_order.get(str(order), {}), stage) for order in EVERY_ORDER]


def count_at(figure: Figures, stage: str) -> int | Text:
    """The operators of one order at a stage, or why there are none."""
    if is_not_asked(figure):
        return message("higher_order.not_asked", reason=reason(figure[NOT_ASKED]))
    if raised(figure):
        return said(figure)
    count: int | str = figure.get(stage, EMPTY)
    return count


def growth(evidence: Evidence, net: NestedNet) -> Iterator[Text]:
    """How the graphs of a net grow from order to order, those that grow alike together."""
    changes: list[Text] = []
    for engines, counts in grouped(last_stages(evidence, net)):
        # Orders that were refused or not asked have no count.
        by_order = zip(EVERY_ORDER, counts, strict=True)
        known = {order: count for order, count in by_order if isinstance(count, int)}
        if len(known) > 1:
            change = message(
                "higher_order.change",
                change=change_of_size(known),
                parties=tuple(map(listed_party, engines)),
                lowest=min(known),
                highest=max(known),
                numbers=tuple(map(str, known.values())),
            )
            changes.append(change)
    if changes:
        yield message("higher_order.growth", net=net.name, changes=tuple(changes))


def change_of_size(operators: Mapping[int, int]) -> Text:
    """How the number of operators changes from the first order to the last one known."""
    first, last = operators[min(operators)], operators[max(operators)]
    if first == last:
        return message("higher_order.stays", operators=first)
    if first < last:
        return message("higher_order.grows", first=first, last=last)
    return message("higher_order.shrinks", first=first, last=last)


def last_stages(evidence: Evidence, net: NestedNet) -> dict[str, list[int | Text]]:
    """The operators at every order in the last graph of each engine."""
    lines: dict[str, list[int | Text]] = {}
    for engine, figures in evidence[net.nodes].items():
        by_order = figures["by order"]
        for stage in stages(by_order)[-1:]:
            lines[engine] = counts_at(by_order, stage)
    return lines


@TOPIC.table()
def operators_by_order(evidence: Evidence) -> Iterator[Table[Text]]:
    """The operators of every engine's graph at every stage, a table a net."""
    for net in nets(evidence):
        counts = node_counts(evidence, net)
        rows: list[tuple[Cell | Text, ...]] = []
        if counts:
            rows = list(zip(EVERY_ORDER, *counts.values(), strict=True))
        yield Table(
            title=message("higher_order.operators_by_order.title", net=net.name),
            columns=(message("higher_order.order"), *map(engine_at, counts)),
            rows=tuple(rows),
            note=cells.missing(evidence, net.nodes),
        )


@TOPIC.chart()
def growth_of_the_wave(evidence: Evidence) -> Iterator[Chart[Text]]:
    """The operators of the wave's gradient over the orders; graphs that grow alike share a line."""
    counts_of = node_counts(evidence, THE_WAVE)
    # By position: a name of an engine with a stage is two strings.
    lines: dict[str, tuple[float | None, ...]] = {}
    names: dict[str, Text] = {}
    for place, counts in counts_of.items():
        key = " ".join(place)
        names[key] = engine_at(place)
        lines[key] = cells.heights(counts)
    series: list[Series[Text]] = []
    for keys, line in grouped(lines):
        who = message("higher_order.together", parties=tuple(names[key] for key in keys))
        series.append(Series(who, tuple(map(float, EVERY_ORDER)), line))
    if series:
        yield Chart(
            name="nodes_wave",
            title=message("higher_order.nodes_chart.title", net=THE_WAVE.name),
            kind="line",
            x=message("higher_order.order"),
            y=message("higher_order.operators"),
            series=tuple(series),
            log=("y",),
        )


# What a call costs


def seconds_of_wave(evidence: Evidence) -> dict[str, dict[str, float]]:
    """The seconds of the wave's calls by engine, where there are any."""
    timed = evidence.timings(ORDERS_OF_WAVE)
    return {engine: timings for engine, timings in timed.items() if timings}


@TOPIC.table()
def seconds_by_order(evidence: Evidence) -> Iterator[Table[Text]]:
    """The seconds of the first call and of the next, at every order."""
    seconds = seconds_of_wave(evidence)
    columns: list[Text] = [message("higher_order.order")]
    for engine in seconds:
        who = party(engine)
        columns += [message(f"higher_order.{turn}_call", who=who) for turn in TURNS]
    rows: list[tuple[Cell | Text, ...]] = []
    # Without any seconds there are no columns for the orders' rows to fill.
    orders = EVERY_ORDER if seconds else ()
    for order in orders:
        row: list[Cell] = [order]
        for timings in seconds.values():
            row += [timings.get(timing_name(order, turn), EMPTY) for turn in TURNS]
        rows.append(tuple(row))
    yield Table(
        title=message("higher_order.seconds.title", net=THE_WAVE.name),
        columns=tuple(columns),
        rows=tuple(rows),
        timing=True,
    )


@TOPIC.chart()
def seconds_of_first_calls(evidence: Evidence) -> Iterator[Chart[Text]]:
    """The seconds of the first call over the orders."""
    series: list[Series[Text]] = []
    for engine, timings in seconds_of_wave(evidence).items():
        seconds = [timings.get(timing_name(order, TURNS[0])) for order in EVERY_ORDER]
        line = cells.heights(seconds)
        series.append(Series(party(engine), tuple(map(float, EVERY_ORDER)), line))
    if series:
        yield Chart(
            name="seconds",
            title=message("higher_order.seconds_chart.title", net=THE_WAVE.name),
            kind="line",
            x=message("higher_order.order"),
            y=message("higher_order.seconds"),
            series=tuple(series),
            log=("y",),
            timing=True,
        )
