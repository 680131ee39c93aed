"""What the study finds of what is not said: defaults side by side, initial values, and formulas."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from explorer.model.measurement import Figures
from explorer.model.study import Chart, Series, Table
from explorer.topics.attempts import raised
from explorer.topics.evidence import EMPTY, Evidence, grouped, why_empty
from explorer.topics.operators.questions import (
    BATCH_NORM_MOMENTUM,
    CONVOLUTION_DEFAULT,
    CROSS_ENTROPY,
    DROPOUT_SETTINGS,
    EPSILONS,
    GELU,
    INITIAL_VALUES,
    LIBRARIES,
    TOPIC,
)
from explorer.topics.operators.readings import (
    GLOROT,
    NORMAL,
    UNIFORM,
    batch_norm_epsilon,
    fits,
    gelu_formula,
    implied_momentum,
    layer_norm_epsilon,
)
from explorer.topics.operators.wording import (
    LABELS,
    by_answer,
    joint_label,
    labelled,
    message,
    short,
)
from explorer.topics.question import PARTIES, Question

PARTS = ("convolution weight", "convolution bias", "dense weight", "dense bias")
"""The initial values that are looked at: a kind of layer, and which of its parameters."""

NEAR = 0.1  # far above the scatter of the samples, far below the differences that are found
"""Sampled shares and deviations nearer than this, relative to the greater one, are one default."""

MINUS_TWO = 8  # where the slopes of the two formulas are farthest apart
"""The index of -2 among the points at which GELU is measured."""


def _kept(figure: Any) -> str:
    return short(figure) if raised(figure) else f"{figure['kept']:.2f}"


def _distributions(values: Figures) -> str:
    return " or ".join(fits(values)) or "none of the candidates"


DEFAULTS: tuple[tuple[str, Question, Callable[[Figures], str]], ...] = (
    (
        "dropout without an argument keeps",
        DROPOUT_SETTINGS,
        lambda figures: _kept(figures["no argument"]),
    ),
    ("dropout(0.3) keeps", DROPOUT_SETTINGS, lambda figures: _kept(figures["0.3 alone"])),
    (
        "3 x 3 convolution of 5 x 5 gives",
        CONVOLUTION_DEFAULT,
        lambda figures: short(figures["shape"]),
    ),
    ("a convolution has a bias", CONVOLUTION_DEFAULT, lambda figures: short(figures["has_bias"])),
    (
        "weight of the old running mean in batch norm",
        BATCH_NORM_MOMENTUM,
        lambda figures: f"{implied_momentum(figures['default']):g}",
    ),
    (
        "batch norm's epsilon",
        EPSILONS,
        lambda figures: f"{batch_norm_epsilon(figures['batch norm of 1']):g}",
    ),
    (
        "layer norm's epsilon",
        EPSILONS,
        lambda figures: f"{layer_norm_epsilon(figures['layer norm']):g}",
    ),
    (
        "convolution weights may be",
        INITIAL_VALUES,
        lambda figures: _distributions(figures["convolution weight"]),
    ),
    (
        "convolution biases may be",
        INITIAL_VALUES,
        lambda figures: _distributions(figures["convolution bias"]),
    ),
    (
        "dense weights may be",
        INITIAL_VALUES,
        lambda figures: _distributions(figures["dense weight"]),
    ),
    ("dense biases may be", INITIAL_VALUES, lambda figures: _distributions(figures["dense bias"])),
    (
        "standard deviation of an embedding",
        INITIAL_VALUES,
        lambda figures: f"{figures['embedding std']:.2g}",
    ),
)
"""A default, the question whose figures tell it, and how it reads in them."""


def _defaults(evidence: Evidence) -> Iterator[tuple[str, dict[str, str]]]:
    """Each default with what it is in every library that answered."""
    for name, question, reading in DEFAULTS:
        answers = evidence[question]
        if answers:
            yield name, {library: reading(figures) for library, figures in answers.items()}


@TOPIC.finding()
def defaults_that_differ(evidence: Evidence) -> Iterator[str]:
    """Every default that differs between MindSpore and PyTorch."""
    for name, values in _defaults(evidence):
        mindspore, torch = values.get("mindspore"), values.get("torch")
        if mindspore is None or torch is None:
            continue
        if not _near(mindspore, torch):
            yield f"Default that differs: {name}: {labelled(values)}."


def _near(value: str, other: str) -> bool:
    """Whether two cells say the same; sampled shares differ in their last digits."""
    try:
        figure, other_figure = float(value), float(other)
    except ValueError:
        return value == other  # words, or the name of an exception
    return abs(figure - other_figure) <= NEAR * max(abs(figure), abs(other_figure))


@TOPIC.finding()
def distributions_of_initial_values(evidence: Evidence) -> Iterator[str]:
    """Between which bounds initial values lie, and what they may be drawn from."""
    answers = evidence[INITIAL_VALUES]
    if not answers:
        return
    # sqrt k depends on the layers' sizes alone, which are the same for all: anybody's figure does.
    first = next(iter(answers.values()))
    for part in PARTS:
        texts: dict[str, str] = {}
        for library, figures in answers.items():
            values = figures[part]
            bounds = f"[{values['minimum']:.4f}, {values['maximum']:.4f}]"
            texts[library] = f"within {bounds}, {_distributions(values)}"
        yield f"Default {part} (sqrt k = {first[part]['bound']:.4f}): {labelled(texts)}."


@TOPIC.finding()
def formula_of_gelu(evidence: Evidence) -> Iterator[str]:
    """Which of GELU's two formulas each library takes when nothing is said."""
    formulas: dict[str, str] = {}
    farthest_apart = 0.0
    for party, figures in evidence[GELU].items():
        call, curve = next(iter(figures.items()))  # the call that says nothing comes first
        if raised(curve):
            continue
        formula, difference = gelu_formula(curve["value"])
        formulas[party] = f"{call} is the {formula} one"
        # The distance to the other formula is that between the two, but for float32.
        farthest_apart = max(farthest_apart, difference)
    if formulas:
        sentences = [f"{parties} {text}" for parties, text in by_answer(formulas, str).items()]
        listed = "; ".join(sentences)
        yield (
            f"GELU's two formulas are up to {farthest_apart:.1e} apart;"
            f" when nothing is said, {listed}."
        )


@TOPIC.table()
def table_of_defaults(evidence: Evidence) -> Iterator[Table]:
    """A default a row, a library a column, every cell measured."""
    rows = []
    for name, values in _defaults(evidence):
        rows.append((name, *(values.get(library, EMPTY) for library in LIBRARIES)))
    if rows:
        yield Table(
            title="Defaults side by side",
            columns=("default", *(LABELS[library] for library in LIBRARIES)),
            rows=tuple(rows),
            note=why_empty(evidence, *(question for _, question, _ in DEFAULTS), labels=LABELS),
        )


@TOPIC.table()
def table_of_initial_values(evidence: Evidence) -> Iterator[Table]:
    """Bounds, deviation and tests of each parameter's initial values."""
    answers = evidence[INITIAL_VALUES]
    candidates = (UNIFORM, GLOROT, NORMAL)
    rows = []
    for part in PARTS:
        for library, figures in answers.items():
            values = figures[part]
            rows.append(
                (
                    part,
                    LABELS[library],
                    values["count"],
                    values["bound"],
                    values["minimum"],
                    values["maximum"],
                    values["std"],
                    *(values["ks"][name]["p"] for name in candidates),
                )
            )
    if rows:
        note = (
            "k = 1 / fan in."
            " p-values of Kolmogorov-Smirnov tests: near 0 rules the distribution out."
        )
        yield Table(
            title="Default initial values",
            columns=(
                "values",
                "framework",
                "count",
                "sqrt k",
                "least",
                "greatest",
                "std",
                *(f"p of {name}" for name in candidates),
            ),
            rows=tuple(rows),
            note=f"{note} {why_empty(evidence, INITIAL_VALUES, labels=LABELS)}".strip(),
        )


@TOPIC.chart()
def density_of_initial_values(evidence: Evidence) -> Iterator[Chart]:
    """The density of the default weights of convolutions, a line a library."""
    series = []
    for library, figures in evidence[INITIAL_VALUES].items():
        density = figures["convolution weight"]["density"]
        series.append(Series(LABELS[library], tuple(density["from"]), tuple(density["of"])))
    if series:
        yield Chart(
            name="initial_values",
            title="Default weights of a convolution",
            kind="steps",
            x="weight / sqrt k",
            y="density",
            series=tuple(series),
            note="In units of sqrt k = 1 / sqrt(fan in)."
            " Glorot's bound depends on the fan out too.",
        )


@TOPIC.table()
def table_of_gelu(evidence: Evidence) -> Iterator[Table]:
    """The formula and a slope of each call of GELU."""
    rows = []
    for (library, call), curves in _by_call(evidence[GELU]).items():
        formulas = by_answer(curves, _formula).values()
        slopes = by_answer(curves, _slope_at_minus_two).values()
        rows.append((LABELS[library], call, "; ".join(formulas), "; ".join(slopes)))
    if rows:
        yield Table(
            title="GELU: which formula",
            columns=("framework", "call", "formula", "slope at -2"),
            rows=tuple(rows),
            note=why_empty(evidence, GELU, labels=LABELS),
        )


def _by_call(answers: Mapping[str, Figures]) -> dict[tuple[str, str], Figures]:
    """The figures of each call of a library, by who was asked."""
    calls: dict[tuple[str, str], Figures] = {}
    for party, figures in answers.items():
        library = PARTIES[party].library
        for call, figure in figures.items():
            calls.setdefault((library, call), {})[party] = figure
    return calls


def _formula(curve: Any) -> str:
    return message(curve) if raised(curve) else gelu_formula(curve["value"])[0]


def _slope_at_minus_two(curve: Any) -> str:
    return EMPTY if "slope" not in curve else short(curve["slope"][MINUS_TWO])


@TOPIC.table()
def table_of_cross_entropy(evidence: Evidence) -> Iterator[Table]:
    """Loss and gradient of each call, engines that agree in one row."""
    rows = []
    for (_, call), losses in _by_call(evidence[CROSS_ENTROPY]).items():
        texts = {party: _loss(figure) for party, figure in losses.items()}
        for parties, (value, gradient) in grouped(texts):
            rows.append((joint_label(parties), call, value, gradient))
    if rows:
        yield Table(
            title="Cross entropy of the logits [[2, -1, 0.5], [0, 3, -2]] and the labels [0, 2]",
            columns=("engine", "call", "value", "gradient"),
            rows=tuple(rows),
            note=why_empty(evidence, CROSS_ENTROPY, labels=LABELS),
        )


def _loss(figure: Any) -> tuple[str, str]:
    """The loss and its gradient, or what was raised."""
    if raised(figure):
        return message(figure), EMPTY
    gradient = short(figure["gradient"]) if "gradient" in figure else EMPTY
    return short(figure["value"]), gradient
