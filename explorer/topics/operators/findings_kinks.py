"""What the study finds at kinks: which gradient each engine takes, and where the slopes lie."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from explorer.model.engines import FRAMEWORK_LABELS, NEEDED
from explorer.model.message import Message, Text, message
from explorer.model.study import Chart, Series, Table
from explorer.topics.attempts import raised, said
from explorer.topics.cells import messages, missing, sentences, yes_or_no
from explorer.topics.evidence import EMPTY, Evidence, flat_numbers
from explorer.topics.operators.kink_functions import KINKS
from explorer.topics.operators.kinks import GROUPS, Kink
from explorer.topics.operators.questions import (
    FOUR_ENGINES,
    GRADIENTS_AT_KINKS,
    SLOPES_AT_KINKS,
    TOPIC,
)
from explorer.topics.operators.wording import (
    LABELS,
    bracketed,
    by_answer,
    columns,
    digits,
    joined,
    joint_label,
    short,
)

GREATEST = 10.0
"""The greatest gradient in the chart: those beyond it would flatten the rest."""

SLOPE_ROUNDING = 1e-3
"""How far outside the slopes a gradient may lie: difference quotients are rounded to this."""

RELUS = ("relu", "relu_by_maximum", "relu_by_clamp", "relu_by_where")
"""One function written in four ways."""


@dataclass(frozen=True)
class MeasuredKink:
    """A kink, and what was measured at it.

    ``answers`` are the value and the gradients of each engine, or what it raised; ``written`` is
    the function as the first of them has it; ``slopes`` are those to the left and to the right, by
    each input, None where they were not measured.
    """

    kink: Kink
    answers: dict[str, Any]
    written: str
    slopes: list[Any] | None

    @property
    def where(self) -> Message:
        """The name of the kink for readers: "relu at 0"."""
        return message(f"operators.kink {self.kink.name}")

    @property
    def differs(self) -> bool:
        """Whether two engines give other values or gradients."""
        return len(by_answer(self.answers, _value_and_gradient)) > 1


def measured_kinks(evidence: Evidence) -> list[MeasuredKink]:
    """Every kink at which an engine answered, in the order of the table."""
    kinks = []
    for kink in KINKS.values():
        answers: dict[str, Any] = {}
        spellings: list[str] = []
        for engine, figures in evidence[GRADIENTS_AT_KINKS[kink.group]].items():
            answers[engine] = figures[kink.name]["found"]
            spellings.append(figures[kink.name]["written"])
        if not answers:
            continue

        slopes = None
        for figures in evidence[SLOPES_AT_KINKS[kink.group]].values():
            slopes = figures[kink.name]  # there is one party at most
        kinks.append(MeasuredKink(kink, answers, spellings[0], slopes))
    return kinks


def _value_and_gradient(answer: Any) -> Text:
    """What is the same when two answers agree."""
    # In four digits, which is coarser than rounding; of an exception its type, not its words.
    if raised(answer):
        return short(answer)
    return f"{digits(answer['value'])} {digits(answer['gradient'])}"


def _value(answer: Any) -> str:
    """The value of the function; "" of an engine that raised."""
    return "" if raised(answer) else _by_input([answer["value"]])


def gradient(answer: Any) -> Text:
    """The gradient with respect to the one input, or to each; or the exception's type."""
    return short(answer) if raised(answer) else _by_input(answer["gradient"])


def _gradient_or_message(answer: Any) -> Text:
    if raised(answer):
        return message("operators.no_gradient", error=said(answer))
    return gradient(answer)


def _by_input(arrays: list[Any]) -> str:
    """Numbers of each input, side by side; the one element of an input stands without brackets."""
    texts = []
    for array in arrays:
        is_single = isinstance(array, list) and len(array) == 1
        texts.append(digits(array[0] if is_single else array))
    return ", ".join(texts)


@TOPIC.finding()
def kinks_where_engines_agree(evidence: Evidence) -> Iterator[Message]:
    """At how many kinks all engines agree, and the styles of each framework."""
    kinks = measured_kinks(evidence)
    if not kinks:
        return
    differing = sum(measured.differs for measured in kinks)
    alike = len(kinks) - differing
    yield message("operators.kinks", differing=differing, of=len(kinks), alike=alike)
    for framework in NEEDED:
        yield from _graph_against_tape(kinks, framework, FRAMEWORK_LABELS[framework])


def _graph_against_tape(kinks: list[MeasuredKink], framework: str, name: str) -> Iterator[Message]:
    compared = 0
    differing = []
    for measured in kinks:
        graph = measured.answers.get(f"{framework}-graph")
        tape = measured.answers.get(f"{framework}-tape")
        if graph is None or tape is None:
            continue
        compared += 1
        if _value_and_gradient(graph) != _value_and_gradient(tape):
            differing.append(measured.where)
    if differing:
        yield message(
            "operators.styles_differ",
            framework=name,
            differing=len(differing),
            of=compared,
            kinks=tuple(differing),
        )
    elif compared:
        yield message("operators.styles_agree", framework=name, of=compared)


@TOPIC.finding()
def gradients_of_one_function(evidence: Evidence) -> Iterator[Message]:
    """A function that is written in several ways has several gradients at its kink."""
    kinks = {measured.kink.name: measured for measured in measured_kinks(evidence)}
    relus = _relus([kinks[name] for name in RELUS if name in kinks])
    if relus:
        yield message("operators.relus", ways=relus)
    if "where_log" in kinks and "where_twice" in kinks:
        outside = joined(by_answer(kinks["where_log"].answers, gradient))
        inside = joined(by_answer(kinks["where_twice"].answers, gradient))
        yield message("operators.wheres", outside=outside, inside=inside)


def _relus(kinks: list[MeasuredKink]) -> tuple[Message, ...]:
    """The gradient of each way to write it; empty when engines disagree about one."""
    ways = []
    for measured in kinks:
        answers = by_answer(measured.answers, gradient)
        if len(answers) > 1:
            return ()  # the finding says "in every engine"
        written = message(f"operators.written {measured.kink.name}")
        ways.append(message("operators.gradient_as", gradient=answers[0][1], written=written))
    return tuple(ways)


@TOPIC.finding()
def kinks_where_engines_differ(evidence: Evidence) -> Iterator[Message]:
    """Every kink with several values or gradients, and who has which."""
    for measured in measured_kinks(evidence):
        if not measured.differs:
            continue
        gradients = bracketed(by_answer(measured.answers, _gradient_or_message))
        values = by_answer(measured.answers, _value)
        # An engine that raised has no value, and its message says so already.
        has_several_values = len(values) > 1 and all(value for _, value in values)
        if has_several_values:
            yield message(
                "operators.gradients_and_values",
                kink=measured.where,
                gradients=gradients,
                values=bracketed(values),
            )
        else:
            yield message("operators.gradients", kink=measured.where, gradients=gradients)


@TOPIC.table()
def table_of_differences(evidence: Evidence) -> Iterator[Table[Text]]:
    """The kinks at which engines differ, with the slopes on both sides."""
    rows = []
    for measured in measured_kinks(evidence):
        if not measured.differs:
            continue
        rows.append(
            (
                measured.where,
                measured.written,
                *_cells_with_values(measured),
                *_slopes(measured),
                _outside_the_slopes(measured),
            )
        )
    if rows:
        questions = (*GRADIENTS_AT_KINKS.values(), *SLOPES_AT_KINKS.values())
        yield Table[Text](
            title=message("operators.differing_kinks"),
            columns=(
                *messages("operators", "kink", "in_mindspore"),
                *columns(FOUR_ENGINES),
                *messages("operators", "slope_left", "slope_right", "outside"),
            ),
            rows=tuple(rows),
            note=sentences(
                message("operators.differing_kinks_note"),
                missing(evidence, *questions, labels=LABELS),
            ),
        )


@TOPIC.table()
def table_of_each_group(evidence: Evidence) -> Iterator[Table[Text]]:
    """All kinks of a group: slopes, and each engine's gradient."""
    kinks = measured_kinks(evidence)
    for group in GROUPS:
        rows = []
        for measured in kinks:
            if measured.kink.group != group:
                continue
            alike = message("operators.unlike") if measured.differs else yes_or_no(True)
            rows.append((measured.where, *_slopes(measured), *_cells(measured), alike))
        if rows:
            questions = (GRADIENTS_AT_KINKS[group], SLOPES_AT_KINKS[group])
            yield Table[Text](
                title=message(f"operators.{group}"),
                columns=(
                    *messages("operators", "kink", "slope_left", "slope_right"),
                    *columns(FOUR_ENGINES),
                    message("operators.alike"),
                ),
                rows=tuple(rows),
                note=missing(evidence, *questions, labels=LABELS),
            )


def _cells(measured: MeasuredKink) -> list[Text]:
    """Each engine's gradient."""
    cells: list[Text] = []
    for engine in FOUR_ENGINES:
        is_answered = engine in measured.answers
        cells.append(gradient(measured.answers[engine]) if is_answered else EMPTY)
    return cells


def _cells_with_values(measured: MeasuredKink) -> list[Text]:
    """Each engine's gradient, behind its value where the engines have several."""
    values = {engine: _value(answer) for engine, answer in measured.answers.items()}
    if len(set(values.values()) - {""}) < 2:
        return _cells(measured)
    cells: list[Text] = []
    for engine, cell in zip(FOUR_ENGINES, _cells(measured), strict=True):
        value = values.get(engine)
        if value:
            cell = message("operators.value_and_gradient", value=value, gradient=cell)
        cells.append(cell)
    return cells


def _slopes(measured: MeasuredKink) -> tuple[str, str]:
    """The slopes to the left and to the right, with respect to each input."""
    if measured.slopes is None:
        return EMPTY, EMPTY
    left, right = measured.slopes
    return _by_input(left), _by_input(right)


def _outside_the_slopes(measured: MeasuredKink) -> Text:
    """The engines whose gradient does not lie between the slopes on both sides.

    Elements count where both slopes exist.
    """
    if measured.slopes is None:
        return EMPTY
    left, right = measured.slopes
    if all(map(math.isnan, flat_numbers(measured.slopes))):
        return EMPTY  # the function is defined on neither side
    outside = []
    for engine, answer in measured.answers.items():
        if not raised(answer) and not _lies_between(answer["gradient"], left, right):
            outside.append(engine)
    return joint_label(outside) if outside else message("operators.nobody")


def _lies_between(gradients: Any, left: Any, right: Any) -> bool:
    elements = zip(*map(flat_numbers, (gradients, left, right)), strict=True)
    for value, *slopes in elements:
        if any(map(math.isnan, slopes)):
            continue  # there is no slope on one side: every gradient is right
        # A gradient that is NaN compares false with any bound, and so counts as outside.
        if not min(slopes) - SLOPE_ROUNDING <= value <= max(slopes) + SLOPE_ROUNDING:
            return False
    return True


@TOPIC.chart()
def gradients_between_the_slopes(evidence: Evidence) -> Iterator[Chart[Text]]:
    """The gradients of both frameworks' tapes between the two slopes, where the tapes differ."""
    labels: list[Message] = []
    points: list[tuple[float, ...]] = []
    for measured in measured_kinks(evidence):
        if not measured.differs:
            continue
        for name, values in _elements_apart(measured):
            labels.append(name)
            points.append(values)
    if not points:
        return
    series = []
    lines: list[Text] = [*messages("operators", "slope_left", "slope_right")]
    lines.extend(FRAMEWORK_LABELS[framework] for framework in NEEDED)
    for line, values in zip(lines, zip(*points, strict=True), strict=True):
        series.append(Series[Text](line, tuple(labels), values))
    yield Chart[Text](
        name="kinks",
        title=message("operators.kinks_chart"),
        kind="points",
        x=message("operators.kink"),
        y=message("operators.gradient"),
        series=tuple(series),
        note=message("operators.kinks_chart_note"),
    )


def _elements_apart(measured: MeasuredKink) -> Iterator[tuple[Message, tuple[float, ...]]]:
    """The elements of the inputs for which the tapes have different gradients.

    With each come its slopes to the left and to the right, MindSpore's gradient and PyTorch's.
    """
    gradients = []
    for framework in NEEDED:
        answer = measured.answers.get(f"{framework}-tape")
        if answer is None or raised(answer):
            return
        gradients.append(answer["gradient"])
    if measured.slopes is None:
        return

    inputs = flat_numbers(measured.kink.inputs)
    columns = map(flat_numbers, (*measured.slopes, *gradients))
    for place, values in enumerate(zip(*columns, strict=True)):
        _, _, in_mindspore, in_torch = values
        # NaN is neither equal to the other gradient nor within the chart's limits.
        if in_mindspore == in_torch or not all(abs(value) <= GREATEST for value in values):
            continue
        # Of several elements at one number, as at a tie, the number tells nothing: the place does.
        if inputs.count(inputs[place]) > 1:
            name = message("operators.element", kink=measured.where, number=place + 1)
        else:
            function = measured.kink.name.replace("_", " ")
            name = message("operators.at", function=function, x=inputs[place])
        yield name, values
