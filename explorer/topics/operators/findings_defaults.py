"""What the study finds of defaults and formulas, and with equal settings of gradients and outputs."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from explorer.model.measurement import Figures
from explorer.model.message import Message, Text, message
from explorer.model.study import Cell, Chart, Series, Table
from explorer.topics.attempts import raised
from explorer.topics.cells import clauses, messages, missing, sentences
from explorer.topics.evidence import EMPTY, Evidence, grouped
from explorer.topics.operators.inputs import OPERANDS
from explorer.topics.operators.questions import (
    BATCH_NORM_MOMENTUM,
    CONVOLUTION_DEFAULT,
    CROSS_ENTROPY,
    DROPOUT_SETTINGS,
    EPSILONS,
    FOUR_ENGINES,
    GELU,
    INFERENCE,
    INITIAL_VALUES,
    LIBRARIES,
    OPERATOR_GRADIENTS,
    TOPIC,
)
from explorer.topics.operators.readings import (
    GLOROT,
    NORMAL,
    ROUNDING,
    UNIFORM,
    ZEROS,
    InitialValues,
    Survival,
    batch_norm_epsilon,
    farthest,
    gelu_formula,
    implied_momentum,
    initial_values,
    layer_norm_epsilon,
    reproducible,
)
from explorer.topics.operators.wording import (
    LABELS,
    by_answer,
    columns,
    joint_label,
    label,
    labelled,
    raises,
    result,
    short,
    way_text,
)
from explorer.topics.question import PARTIES, Question

Row = tuple[Cell | Text, ...]

PARTS = ("convolution weight", "convolution bias", "dense weight", "dense bias")
"""The initial values that are looked at: a kind of layer, and which of its parameters."""

NEAR = 0.1  # far above the scatter of the samples, far below the differences that are found
"""Sampled shares and deviations nearer than this, relative to the greater one, are one default."""

MINUS_TWO = 8  # where the slopes of the two formulas are farthest apart
"""The index of -2 among the points at which GELU is measured."""

REFERENCE = "torch-tape"
"""The engine that the others are compared with: it has a second order of every operator."""

ORDERS = ("first", "second")


# Defaults


def distribution_text(name: str) -> Text:
    """A distribution for readers."""
    return message("operators.zeros") if name == ZEROS else name


def _distributions(values: InitialValues) -> Text:
    names = tuple(map(distribution_text, values.distributions))
    if not names:
        return message("operators.no_candidate")
    return message("operators.or", names=names)


def _kept(figure: Any) -> Text:
    survival = msgspec.convert(figure, Survival)
    return raises(survival) if survival.raised else f"{survival.kept:.2f}"


DEFAULTS: tuple[tuple[str, Question, Callable[[Figures], Text]], ...] = (
    ("dropout", DROPOUT_SETTINGS, lambda figures: _kept(figures["no argument"])),
    ("dropout(0.3)", DROPOUT_SETTINGS, lambda figures: _kept(figures["0.3 alone"])),
    ("convolution", CONVOLUTION_DEFAULT, lambda figures: short(figures["shape"])),
    ("has_bias", CONVOLUTION_DEFAULT, lambda figures: short(figures["has_bias"])),
    (
        "momentum",
        BATCH_NORM_MOMENTUM,
        lambda figures: f"{implied_momentum(figures['default']):g}",
    ),
    (
        "batch_norm_epsilon",
        EPSILONS,
        lambda figures: f"{batch_norm_epsilon(figures['batch norm of 1']):g}",
    ),
    (
        "layer_norm_epsilon",
        EPSILONS,
        lambda figures: f"{layer_norm_epsilon(figures['layer norm']):g}",
    ),
    *(
        (
            part,
            INITIAL_VALUES,
            lambda figures, part=part: _distributions(initial_values(figures[part])),
        )
        for part in PARTS
    ),
    ("embedding", INITIAL_VALUES, lambda figures: f"{figures['embedding std']:.2g}"),
)
"""A default, the question whose figures tell it, and how it reads in them."""


def _defaults(evidence: Evidence) -> Iterator[tuple[Message, dict[str, Text]]]:
    """Each default with what it is in every library that answered."""
    for name, question, reading in DEFAULTS:
        values: dict[str, Text] = {}
        for library, figures in evidence[question].items():
            values[library] = reading(figures)
        if values:
            yield message(f"operators.default {name}"), values


@TOPIC.finding()
def defaults_that_differ(evidence: Evidence) -> Iterator[Message]:
    """Every default that differs between MindSpore and PyTorch."""
    for default, values in _defaults(evidence):
        mindspore, torch = values.get("mindspore"), values.get("torch")
        if mindspore is None or torch is None:
            continue
        if not _near(mindspore, torch):
            yield message("operators.differing", default=default, values=labelled(values))


def _near(value: Text, other: Text) -> bool:
    """Whether two cells say the same; sampled shares differ in their last digits."""
    if isinstance(value, Message) or isinstance(other, Message):
        return value == other
    try:
        figure, other_figure = float(value), float(other)
    except ValueError:
        return value == other  # the shape of an output
    return abs(figure - other_figure) <= NEAR * max(abs(figure), abs(other_figure))


@TOPIC.finding()
def distributions_of_initial_values(evidence: Evidence) -> Iterator[Message]:
    """Between which bounds initial values lie, and what they may be drawn from."""
    answers = evidence[INITIAL_VALUES]
    if not answers:
        return
    # sqrt k depends on the layers' sizes alone, which are the same for all: anybody's figure does.
    first = next(iter(answers.values()))
    for part in PARTS:
        texts: dict[str, Text] = {}
        for library, figures in answers.items():
            values = initial_values(figures[part])
            texts[library] = message(
                "operators.within",
                least=values.minimum,
                greatest=values.maximum,
                drawn_from=_distributions(values),
            )
        yield message(
            "operators.initial",
            part=message(f"operators.{part}"),
            bound=initial_values(first[part]).bound,
            values=labelled(texts),
        )


@TOPIC.finding()
def formula_of_gelu(evidence: Evidence) -> Iterator[Message]:
    """Which of GELU's two formulas each library takes when nothing is said."""
    formulas: dict[str, tuple[str, str]] = {}
    farthest_apart = 0.0
    for party, figures in evidence[GELU].items():
        call, curve = next(iter(figures.items()))  # the call that says nothing comes first
        if raised(curve):
            continue
        formula, difference = gelu_formula(curve["value"])
        formulas[party] = (call, formula)
        # The distance to the other formula is that between the two, but for float32.
        farthest_apart = max(farthest_apart, difference)
    taken = []
    for parties, (call, formula) in grouped(formulas):
        who = joint_label(parties)
        taken.append(message(f"operators.gelu {formula}", who=who, call=call))
    if taken:
        yield message("operators.gelu", apart=farthest_apart, taken=tuple(taken))


@TOPIC.table()
def table_of_defaults(evidence: Evidence) -> Iterator[Table[Text]]:
    """A default a row, a library a column, every cell measured."""
    rows: list[Row] = []
    for default, values in _defaults(evidence):
        cells = [values.get(library, EMPTY) for library in LIBRARIES]
        rows.append((default, *cells))
    if rows:
        questions = [question for _, question, _ in DEFAULTS]
        yield Table[Text](
            title=message("operators.defaults_table"),
            columns=(message("operators.default"), *columns(LIBRARIES)),
            rows=tuple(rows),
            note=missing(evidence, *questions, labels=LABELS),
        )


@TOPIC.table()
def table_of_initial_values(evidence: Evidence) -> Iterator[Table[Text]]:
    """Bounds, deviation and tests of each parameter's initial values."""
    answers = evidence[INITIAL_VALUES]
    candidates = (UNIFORM, GLOROT, NORMAL)
    rows: list[Row] = []
    for part in PARTS:
        for library, figures in answers.items():
            values = initial_values(figures[part])
            fitting = [values.ks[name].p for name in candidates]
            rows.append(
                (
                    message(f"operators.{part}"),
                    label(library),
                    values.count,
                    values.bound,
                    values.minimum,
                    values.maximum,
                    values.std,
                    *fitting,
                )
            )
    if rows:
        p_values = [message("operators.p_of", distribution=name) for name in candidates]
        yield Table[Text](
            title=message("operators.initial_table"),
            columns=(
                *messages("operators", "values", "framework", "count_column"),
                "sqrt k",
                *messages("operators", "least", "greatest", "std"),
                *p_values,
            ),
            rows=tuple(rows),
            note=sentences(
                message("operators.initial_note"),
                missing(evidence, INITIAL_VALUES, labels=LABELS),
            ),
        )


@TOPIC.chart()
def density_of_initial_values(evidence: Evidence) -> Iterator[Chart[Text]]:
    """The density of the default weights of convolutions, a line a library."""
    series = []
    for library, figures in evidence[INITIAL_VALUES].items():
        density = figures["convolution weight"]["density"]
        heights = tuple(density["of"])
        series.append(Series[Text](label(library), tuple(density["from"]), heights))
    if series:
        yield Chart[Text](
            name="initial_values",
            title=message("operators.density_chart"),
            kind="steps",
            x=message("operators.weight_in_sqrt_k"),
            y=message("operators.density"),
            series=tuple(series),
            note=message("operators.density_note"),
        )


@TOPIC.table()
def table_of_gelu(evidence: Evidence) -> Iterator[Table[Text]]:
    """The formula and a slope of each call of GELU."""
    rows: list[Row] = []
    for (library, call), curves in _by_call(evidence[GELU]).items():
        formulas = _several(curves, _formula)
        slopes = _several(curves, _slope_at_minus_two)
        rows.append((label(library), call, formulas, slopes))
    if rows:
        yield Table[Text](
            title=message("operators.gelu_table"),
            columns=messages("operators", "framework", "call", "formula", "slope"),
            rows=tuple(rows),
            note=missing(evidence, GELU, labels=LABELS),
        )


def _several(curves: Figures, words: Callable[[Any], Text]) -> Text:
    """What is said of each curve, each once."""
    texts = [text for _, text in by_answer(curves, words)]
    return texts[0] if len(texts) == 1 else clauses(texts)


def _by_call(answers: Mapping[str, Figures]) -> dict[tuple[str, str], Figures]:
    """The figures of each call of a library, by who was asked."""
    calls: dict[tuple[str, str], Figures] = {}
    for party, figures in answers.items():
        library = PARTIES[party].library
        for call, figure in figures.items():
            calls.setdefault((library, call), {})[party] = figure
    return calls


def _formula(curve: Any) -> Text:
    if raised(curve):
        return result(curve)
    formula, _ = gelu_formula(curve["value"])
    return message(f"operators.formula {formula}")


def _slope_at_minus_two(curve: Any) -> Text:
    return EMPTY if "slope" not in curve else short(curve["slope"][MINUS_TWO])


@TOPIC.table()
def table_of_cross_entropy(evidence: Evidence) -> Iterator[Table[Text]]:
    """Loss and gradient of each call, engines that agree in one row."""
    rows: list[Row] = []
    for (_, call), losses in _by_call(evidence[CROSS_ENTROPY]).items():
        texts = {party: _loss(figure) for party, figure in losses.items()}
        for parties, (value, gradient) in grouped(texts):
            rows.append((joint_label(parties), way_text(call), value, gradient))
    if rows:
        yield Table[Text](
            title=message("operators.cross_entropy_table"),
            columns=messages("operators", "engine", "call", "value", "gradient"),
            rows=tuple(rows),
            note=missing(evidence, CROSS_ENTROPY, labels=LABELS),
        )


def _loss(figure: Any) -> tuple[Text, Text]:
    """The loss and its gradient, or what was raised."""
    if raised(figure):
        return result(figure), EMPTY
    gradient = short(figure["gradient"]) if "gradient" in figure else EMPTY
    return short(figure["value"]), gradient


# Gradients and outputs with equal settings


@dataclass
class Agreement:
    """How the gradients of one order compare with the reference's, as pairs of engine and operator.

    ``agreeing`` ones are equal but for rounding, ``differing`` ones are not, ``undefined`` ones
    raised.
    """

    agreeing: list[tuple[str, str]] = field(default_factory=list)
    differing: list[tuple[str, str]] = field(default_factory=list)
    undefined: list[tuple[str, str]] = field(default_factory=list)

    @property
    def total(self) -> int:
        """How many gradients were looked at."""
        return len(self.agreeing) + len(self.differing) + len(self.undefined)


def compared(answers: Mapping[str, Figures], order: str) -> Agreement:
    """The gradients of an order, "first" or "second", compared with the reference's."""
    agreement = Agreement()
    references = answers.get(REFERENCE, {})
    for engine, operators in answers.items():
        for operator, gradients in operators.items():
            gradient = gradients[order]
            reference = references.get(operator, {}).get(order)
            # What the reference itself does not define is said of it, and not held against others.
            if raised(gradient):
                agreement.undefined.append((engine, operator))
            elif engine == REFERENCE or reference is None or raised(reference):
                continue
            elif farthest(gradient, reference) <= ROUNDING:
                agreement.agreeing.append((engine, operator))
            else:
                agreement.differing.append((engine, operator))
    return agreement


def by_operator(pairs: list[tuple[str, str]]) -> tuple[Message, ...]:
    """ "max pool, same (MindSpore)", "layer norm (MindSpore tape)" of engines and operators."""
    engines: dict[str, list[str]] = {}
    for engine, operator in pairs:
        engines.setdefault(operator, []).append(engine)
    texts = []
    for operator, names in engines.items():
        name = message(f"operators.operator {operator}")
        texts.append(message("operators.by", what=name, who=joint_label(names)))
    return tuple(texts)


@TOPIC.finding()
def gradients_that_agree(evidence: Evidence) -> Iterator[Message]:
    """How many gradients agree, and which do not or are not defined, first and second order."""
    for order in ORDERS:
        gradients = compared(evidence[OPERATOR_GRADIENTS], order)
        if not gradients.total:
            continue
        name = "operators.gradients_agree"
        if gradients.differing:
            name += "_but"
        if gradients.undefined:
            name += "_where_defined"
        yield message(
            name,
            agreeing=len(gradients.agreeing),
            compared=len(gradients.agreeing) + len(gradients.differing),
            order=message(f"operators.{order}"),
            reference=label(REFERENCE),
            differing=by_operator(gradients.differing),
            undefined=by_operator(gradients.undefined),
        )


@TOPIC.finding()
def outputs_that_agree(evidence: Evidence) -> Iterator[Message]:
    """Whether one net gives the same outputs at every call, and the reference's."""
    answers = evidence[INFERENCE]
    reference = answers.get(REFERENCE)
    outcomes: dict[str, tuple[str, Text]] = {}
    for engine, figures in answers.items():
        inference = "same" if reproducible(figures["inference"]) else "other"
        training = "same" if reproducible(figures["training"]) else "other"
        distance: Text = ""
        if reference:
            difference = first_call_difference(figures, reference, "inference")
            distance = message(
                "operators.distance",
                difference=f"{difference:.1g}",
                reference=label(REFERENCE),
            )
        outcomes[engine] = (f"operators.outputs {inference} {training}", distance)
    for engines, (name, distance) in grouped(outcomes):
        yield message(name, distance=distance, engines=joint_label(engines))


def first_call_difference(figures: Figures, reference: Figures, mode: str) -> float:
    """How far the outputs of the first call lie from the reference's.

    ``mode`` is "inference" or "training".
    """
    return farthest(figures[mode][0], reference[mode][0])


@TOPIC.table()
def table_of_gradients(evidence: Evidence) -> Iterator[Table[Text]]:
    """How far each engine's gradients are from the reference's."""
    answers = evidence[OPERATOR_GRADIENTS]
    references = answers.get(REFERENCE, {})
    rows: list[Row] = []
    for operator in OPERANDS:
        name = message(f"operators.operator {operator}")
        for order in ORDERS:
            reference = references.get(operator, {}).get(order)
            cells = []
            for engine in FOUR_ENGINES:
                gradient = answers.get(engine, {}).get(operator, {}).get(order)
                cells.append(_distance(gradient, reference))
            rows.append((name, message(f"operators.{order}"), *cells))
    if answers:
        yield Table[Text](
            title=message("operators.gradients_table"),
            columns=(*messages("operators", "operator", "order"), *columns(FOUR_ENGINES)),
            rows=tuple(rows),
            note=sentences(
                message("operators.gradients_note", reference=label(REFERENCE)),
                missing(evidence, OPERATOR_GRADIENTS, labels=LABELS),
            ),
        )


def _distance(gradient: Any, reference: Any) -> Text:
    """How far a gradient is from the reference's, or why there is none."""
    if gradient is None or reference is None:
        return EMPTY
    if raised(gradient):
        return result(gradient)
    if raised(reference):
        return EMPTY
    difference = farthest(gradient, reference)
    return f"{difference:.1e}" if difference else "0"  # equal to the last bit


@TOPIC.table()
def table_of_outputs(evidence: Evidence) -> Iterator[Table[Text]]:
    """Whether outputs repeat from call to call, and how far they are from the reference's."""
    answers = evidence[INFERENCE]
    reference = answers.get(REFERENCE)
    rows: list[Row] = []
    for engine, figures in answers.items():
        cells: list[Cell] = []
        for mode in ("inference", "training"):
            cells.append(reproducible(figures[mode]))
            cells.append(first_call_difference(figures, reference, mode) if reference else None)
        rows.append((label(engine), *cells))
    if rows:
        heads: list[Text] = [message("operators.engine")]
        for mode in ("inference", "training"):
            named = message(f"operators.{mode}")
            heads.append(message("operators.repeats", mode=named))
            heads.append(message("operators.from", mode=named, reference=label(REFERENCE)))
        yield Table[Text](
            title=message("operators.outputs_table"),
            columns=tuple(heads),
            rows=tuple(rows),
            note=missing(evidence, INFERENCE, labels=LABELS),
        )
