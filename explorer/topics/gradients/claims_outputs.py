"""Claims about outputs beside the loss: has_aux and stop_gradient (rows 80 and 81)."""

from typing import Any

from explorer.model.claim import Observation, Ruling
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence
from explorer.topics.gradients.questions import OUTPUTS, TOPIC
from explorer.topics.gradients.wording import nested_numbers, outcome
from explorer.topics.observations import observed
from explorer.topics.question import MINDSPORE_STYLES
from explorer.topics.styles import by_style, ruling_by_style

LOSS_GRADIENT = [18.0, 36.0, 54.0]
"""The gradient of the sum of 9x² at (1, 2, 3)."""

LOGITS = [3.0, 6.0, 9.0]
"""The output beside that loss, 3x."""

SUM_GRADIENT = [21.0, 39.0, 57.0]
"""The gradient of both added up."""

WITH_AUX = "gradient with has_aux=True"
STOPPED = "gradient with stop_gradient on the output"
NEITHER = "gradient with neither"
STOPPED_EARLY = "gradient with stop_gradient on what the loss is made of"
WAYS = (WITH_AUX, STOPPED, NEITHER, STOPPED_EARLY)
"""The ways to return an output beside the loss, in the order in which the evidence has them."""


@TOPIC.claim(
    80,
    "With has_aux=True a function must have more than one output.",
    heading="gradients",
    guides=("004",),
    sections={"004": "mindspore.grad"},
    would="A function with one output, bare or in a tuple, is refused; one with two is taken.",
    asks=(OUTPUTS,),
    expects={"two outputs": [LOSS_GRADIENT, [LOGITS]]},
)
def more_than_one_output(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when both styles refuse one output and a tuple of one, and take two."""
    answers = evidence[OUTPUTS]
    strict: dict[str, bool] = {}
    refuses_bare: dict[str, bool] = {}
    refusals = []
    for style in MINDSPORE_STYLES:
        figures = answers[style]["has_aux"]
        takes_two = figures["two outputs"] == expects["two outputs"]
        refuses_bare[style] = takes_two and raised(figures["one output"])
        strict[style] = refuses_bare[style] and raised(figures["a tuple of one"])
        if raised(figures["one output"]):
            refusals.append(figures["one output"]["raised"])

    seen: list[Observation] = []
    for form in ("one output", "a tuple of one", "two outputs"):
        by_party = {party: figures["has_aux"][form] for party, figures in answers.items()}
        is_expected: dict[str, bool] = {}
        for style in MINDSPORE_STYLES:
            figure = by_party[style]
            is_expected[style] = figure == expects[form] if form in expects else raised(figure)
        seen.extend(observed(f"has_aux=True, {form}", by_party, outcome, is_expected))

    if len(set(refusals)) > 1:
        catching = f"Catch {' and '.join(refusals)}: the styles refuse one output differently"
    else:
        catching = "Return a second output, or leave has_aux out"
    if by_style(refuses_bare) == "holds" and by_style(strict) != "holds":
        catching += "; a tuple of one passes where it is not refused, with nothing beside the loss"
    return ruling_by_style(
        strict,
        tuple(seen),
        {
            "holds": f"{catching}.",
            "depends_on_style": f"{catching}.",
            "does_not_hold": (
                "Check what comes back with has_aux=True: neither style asks for a second output."
            ),
        },
    )


@TOPIC.claim(
    81,
    "stop_gradient on an output leaves it out of the gradient as has_aux=True does.",
    heading="gradients",
    guides=("004",),
    sections={"004": "mindspore.grad"},
    would="Both give the gradient of the loss alone, and neither of them gives the sum's.",
    asks=(OUTPUTS,),
    expects={"loss": LOSS_GRADIENT, "sum": SUM_GRADIENT},
)
def stop_gradient_is_has_aux(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when either way gives the loss's gradient, and neither of them the sum's."""
    answers = evidence[OUTPUTS]
    alike: dict[str, bool] = {}
    ways: dict[str, dict[str, Any]] = {way: {} for way in WAYS}
    for party, figures in answers.items():
        with_aux, without = figures["has_aux"]["two outputs"], figures["without"]
        alike[party] = (
            not raised(with_aux)
            and with_aux[0] == expects["loss"]
            and without["stop_gradient"] == expects["loss"]
            and without["two outputs"] == expects["sum"]
        )
        ways[WITH_AUX][party] = with_aux if raised(with_aux) else with_aux[0]
        ways[STOPPED][party] = without["stop_gradient"]
        ways[NEITHER][party] = without["two outputs"]
        ways[STOPPED_EARLY][party] = without["stop_gradient too early"]

    seen: list[Observation] = []
    gradient_of = {WITH_AUX: expects["loss"], STOPPED: expects["loss"], NEITHER: expects["sum"]}
    for way, figures in ways.items():
        is_expected: dict[str, bool] = {}
        if way in gradient_of:
            is_expected = {party: figures[party] == gradient_of[way] for party in figures}
        seen.extend(observed(way, figures, _shown, is_expected))
    return ruling_by_style(
        alike,
        tuple(seen),
        {
            "holds": (
                "Use has_aux=True where you want the output back, stop_gradient where the gradient"
                " is enough; stop the output, not what the loss is made of."
            ),
            "depends_on_style": "Use has_aux=True: stop_gradient is the same in one style alone.",
            "does_not_hold": "Compare both gradients with that of the loss alone.",
        },
    )


def _shown(figure: Any) -> str:
    return said(figure) if raised(figure) else nested_numbers(figure)
