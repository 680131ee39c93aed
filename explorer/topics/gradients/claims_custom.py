"""The claim about gradients that are written by hand (row 75)."""

from collections.abc import Iterator, Mapping
from typing import Any

from explorer.model.claim import Observation, Ruling
from explorer.model.measurement import Figures
from explorer.model.message import Message, Text, message
from explorer.text.messages import first_clause
from explorer.topics.attempts import raised
from explorer.topics.evidence import Evidence, flat_numbers
from explorer.topics.gradients.claims import nested_numbers, outcome
from explorer.topics.gradients.questions import FUNCTION, SAMPLER, TOLD_GRADIENT, TOPIC
from explorer.topics.observations import observed
from explorer.topics.question import MINDSPORE_STYLES
from explorer.topics.styles import by_style


@TOPIC.claim(
    75,
    "Where a Cell has a bprop, its gradient is free to write, also for what numpy computes.",
    heading="gradients",
    guides=("001",),
    sections={"001": "Customized Backward Network Construction"},
    would=(
        "Every engine gives the gradient that it is told; without a bprop, what numpy computes has"
        " the gradient zero."
    ),
    asks=(TOLD_GRADIENT, SAMPLER, FUNCTION),
    expects={
        # Three times the sign, cubed: 3 · 3 · (3 · sign)² within [-1, 1], told to stop outside.
        "told": [[0.0, 81.0, 81.0, 0.0]],
        "sampler": [[0.0, 1.0, 0.0, 2.0, 0.0], [0.0, 2.0, 0.0, 0.0, 1.0]],
    },
)
def free_to_write(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when both styles give what they are told, with the guide's sampler as it is printed.

    It holds with changes when they do once the sampler returns a tuple.
    """
    told, sampled = evidence[TOLD_GRADIENT], evidence[SAMPLER]
    as_printed: dict[str, bool] = {}
    as_meant: dict[str, bool] = {}
    for style in MINDSPORE_STYLES:
        obeys = told[style].get("values") == expects["told"]
        as_printed[style] = obeys and counts_draws(sampled[style]["as printed"])
        as_meant[style] = obeys and counts_draws(sampled[style]["as meant"])

    drawing = {**sampled, **evidence[FUNCTION]}
    is_told = {engine: figures.get("values") == expects["told"] for engine, figures in told.items()}
    seen = (
        *observed(message("gradients.sign"), _told_values(told), outcome, is_told),
        *_sampler_seen(sampled, "as printed"),
        *_sampler_seen(drawing, "as meant"),
        *_sampler_seen(drawing, "without"),
    )
    if by_style(as_printed) == "holds":
        return Ruling("holds", seen)
    if by_style(as_meant) != "holds":
        return Ruling(by_style(as_meant), seen)

    advice: Text = "tuple"
    strayed = _strayed(sampled)
    if strayed:
        advice = message("gradients.tuple_and_another_draw", styles=tuple(strayed))
    # Neither style takes the printed rule, but the statement is true of a repaired one.
    verdict = by_style(as_printed)
    return Ruling("holds_with_changes" if verdict == "does_not_hold" else verdict, seen, advice)


def _told_values(told: Mapping[str, Figures]) -> dict[str, Any]:
    """The gradient of each engine that is told one, or what it raised."""
    values: dict[str, Any] = {}
    for engine, figures in told.items():
        values[engine] = figures if raised(figures) else figures["values"]
    return values


def counts_draws(figures: Figures) -> bool:
    """Whether a sampler's gradient counts three draws in each row, as the rule says."""
    # By their number and not by their places: a forward that runs again draws again.
    return not raised(figures) and [sum(row) for row in figures["gradient"]] == [3, 3]


def belongs_to_the_draw(figures: Figures) -> bool:
    """Whether a sampler's gradient counts the places that the call before it drew."""
    for places, gradient in zip(figures["places"], figures["gradient"], strict=True):
        if [places.count(place) for place in range(len(gradient))] != gradient:
            return False
    return True


def _strayed(sampled: Mapping[str, Figures]) -> list[Message]:
    """The styles of MindSpore whose gradient belongs to another draw."""
    strayed = []
    for style in MINDSPORE_STYLES:
        for rule in ("as printed", "as meant"):
            figures = sampled[style][rule]
            if not raised(figures) and not belongs_to_the_draw(figures):
                strayed.append(message(f"gradients.{style}"))
                break
    return strayed


def _sampler_seen(sampled: Mapping[str, Figures], rule: str) -> Iterator[Observation]:
    """What each engine gave for the sampler with a rule, or without one."""
    drawn = {engine: answers[rule] for engine, answers in sampled.items() if rule in answers}
    is_expected: dict[str, bool] = {}
    for engine, figures in drawn.items():
        if rule == "without":
            is_expected[engine] = not raised(figures) and not any(flat_numbers(figures["gradient"]))
        else:
            is_expected[engine] = counts_draws(figures)
    what = message(f"gradients.sampler {rule}")
    yield from observed(what, drawn, _gradient_shown, is_expected)


def _gradient_shown(figures: Figures) -> str:
    if raised(figures):
        return f"{figures['raised']}: {first_clause(figures['message'])}"
    return nested_numbers(figures["gradient"])
