"""Findings about what scaling saves: gradients of many magnitudes, and the guide's example."""

from collections.abc import Iterator
from typing import Any

from explorer.model.study import Cell, Chart, Series, Table
from explorer.text.numbers import number
from explorer.topics.evidence import Evidence, why_empty
from explorer.topics.loss_scale.inputs import DTYPES, EXPONENTS
from explorer.topics.loss_scale.questions import GUIDE_EXAMPLE, SWEEP, TOPIC, UNDERFLOW
from explorer.topics.loss_scale.wording import by_name, percent, shown
from explorer.topics.question import Question

SCALES = tuple(2.0**exponent for exponent in EXPONENTS)

EVERY = 4
"""The table has every fourth scale of the sweep; the charts have all."""


def by_float(evidence: Evidence, question: Question) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The figures of each float, with the float's name and the name of those who gave them."""
    answers = evidence[question]
    for dtype in DTYPES:
        for who, figures in by_name({party: answers[party][dtype] for party in answers}):
            yield dtype, who, figures


# The sweep over scales


@TOPIC.finding()
def lost_by_scale(evidence: Evidence) -> Iterator[str]:
    """How much of the gradients is lost at the least scale, at the best and at the greatest."""
    for dtype, who, losses in by_float(evidence, SWEEP):
        underflow, overflow, error = losses["underflow"], losses["overflow"], losses["error"]
        if not any(underflow) and not any(overflow):
            yield (
                f"In {dtype} no gradient is lost at any scale ({who}; mean relative error "
                f"{error[0]:.2g})."
            )
            continue
        best = error.index(min(error))
        yield (
            f"In {dtype} {percent(underflow[0])} of the gradients become zero at scale "
            f"2^{EXPONENTS[0]}, and {percent(overflow[-1])} overflow at 2^{EXPONENTS[-1]} ({who}); "
            f"at 2^{EXPONENTS[best]}, the best, {percent(underflow[best])} are zero and "
            f"{percent(overflow[best])} overflow (mean relative error {error[best]:.2g})."
        )


@TOPIC.table()
def losses_by_scale(evidence: Evidence) -> Iterator[Table]:
    """The shares that underflow and overflow, and the error, at every fourth scale."""
    rows: list[tuple[Cell, ...]] = []
    for dtype, who, losses in by_float(evidence, SWEEP):
        for index in range(0, len(EXPONENTS), EVERY):
            shares = (losses["underflow"][index], losses["overflow"][index])
            rows.append((dtype, who, f"2^{EXPONENTS[index]}", *shares, losses["error"][index]))
    note = "An element that is zero or not finite counts as wholly wrong."
    yield Table(
        title="Gradients over 34 powers of two, by scale",
        columns=("float", "where", "scale", "underflow to 0", "overflow", "mean relative error"),
        rows=tuple(rows),
        note=f"{note} {why_empty(evidence, SWEEP)}".strip(),
    )


@TOPIC.chart()
def shares_lost(evidence: Evidence) -> Iterator[Chart]:
    """The shares of gradients that underflow and overflow over the scales.

    What is never lost is left out.
    """
    series = []
    lossless: dict[str, None] = {}  # an ordered set
    for dtype, who, losses in by_float(evidence, SWEEP):
        if not any(losses["underflow"]) and not any(losses["overflow"]):
            lossless[f"{dtype} ({who})"] = None
        for kind in ("underflow", "overflow"):
            shares = tuple(losses[kind])
            if any(shares):  # a line at zero says nothing
                series.append(Series(f"{kind}, {dtype}, {who}", SCALES, shares))
    if evidence[SWEEP]:
        yield Chart(
            name="shares",
            title="Gradients lost, by scale",
            kind="line",
            x="loss scale",
            y="share of gradients",
            series=tuple(series),
            log=("x",),
            note=f"Nothing is lost in {', '.join(lossless)}." if lossless else "",
        )


@TOPIC.chart()
def error_of_unscaled_gradients(evidence: Evidence) -> Iterator[Chart]:
    """The mean relative error over the scales, a line a float."""
    series = []
    for dtype, who, losses in by_float(evidence, SWEEP):
        if any(losses["error"]):
            series.append(Series(f"{dtype}, {who}", SCALES, tuple(losses["error"])))
    if evidence[SWEEP]:
        yield Chart(
            name="error",
            title="Error of the unscaled gradients against float64",
            kind="line",
            x="loss scale",
            y="mean relative error",
            series=tuple(series),
            log=("x", "y"),
        )


# One tiny gradient


@TOPIC.finding()
def tiny_gradient(evidence: Evidence) -> Iterator[str]:
    """What becomes of a gradient of 1e-8, in the floats that cannot hold it."""
    for dtype, who, figures in by_float(evidence, UNDERFLOW):
        if number(figures["without"]) != 0:  # the float holds it, so there is nothing to save
            continue
        # Of an attempt that raised this is a message, which may end with a full stop.
        unscaled_there = shown(figures["unscaled there"]).rstrip(".")
        yield (
            f"A gradient of 1e-8 is lost in {dtype} without scaling, and is "
            f"{shown(figures['scaled'])} with the loss scaled by 65536; divided by the scale again "
            f"it is {shown(figures['unscaled in float32'])} when cast to float32 first, in {dtype} "
            f"{unscaled_there} ({who})."
        )


@TOPIC.table()
def tiny_gradient_by_float(evidence: Evidence) -> Iterator[Table]:
    """The gradient of 1e-8 in every float, with and without scaling."""
    rows: list[tuple[Cell, ...]] = []
    for dtype, who, figures in by_float(evidence, UNDERFLOW):
        rows.append((dtype, who, *map(shown, figures.values())))
    yield Table(
        title="A gradient of 1e-8",
        columns=(
            "float",
            "where",
            "without scaling",
            "scaled by 65536",
            "unscaled in that float",
            "unscaled in float32",
        ),
        rows=tuple(rows),
        note=why_empty(evidence, UNDERFLOW),
    )


# The guide's example


def example_cells(evidence: Evidence) -> Iterator[tuple[str, tuple[str, str, str, str], bool]]:
    """Who gave it; loss and gradient, scaled and unscaled, as text; whether all was finite."""
    answers = {}
    for party, figures in evidence[GUIDE_EXAMPLE].items():
        answers[party] = (figures["scaled"], figures["unscaled"], figures["all_finite"])
    for who, (scaled, unscaled, finite) in by_name(answers):
        cells = (
            shown(scaled["loss"]),
            shown(scaled["gradient"]),
            shown(unscaled["loss"]),
            shown(unscaled["gradient"]),
        )
        yield who, cells, finite


@TOPIC.finding()
def guide_example(evidence: Evidence) -> Iterator[str]:
    """The guide's net, scaled and unscaled."""
    for who, (loss, gradient, unscaled_loss, unscaled), finite in example_cells(evidence):
        finite_or_not = "all finite" if finite else "not all finite"
        yield (
            f"Unscaling gives the guide's net the loss {unscaled_loss} and the gradient {unscaled}; "
            f"scaled by 1024 they were {loss} and {gradient}, {finite_or_not} ({who})."
        )


@TOPIC.table()
def guide_example_in_numbers(evidence: Evidence) -> Iterator[Table]:
    """Loss and gradient of the guide's net, scaled and unscaled."""
    yield Table(
        title="The guide's example, loss scaled by 1024",
        columns=(
            "where",
            "scaled loss",
            "scaled gradient",
            "unscaled loss",
            "unscaled gradient",
            "all finite",
        ),
        rows=tuple((who, *cells, finite) for who, cells, finite in example_cells(evidence)),
        note=why_empty(evidence, GUIDE_EXAMPLE),
    )
