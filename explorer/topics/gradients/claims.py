"""Claims about what a gradient call returns (rows 1-11), and gradients written by hand (row 75)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from explorer.model.cases import GradCase
from explorer.model.claim import Observation, Ruling
from explorer.model.message import Message, Text, message
from explorer.numeric.differences import greatest_difference
from explorer.text.messages import first_clause
from explorer.topics.evidence import Attempt, Evidence, flat_numbers
from explorer.topics.gradients.questions import (
    ALL_OUTPUTS,
    DEFAULTS,
    DX_OF_SUM,
    FUNCTION,
    FUNCTIONAL,
    GUIDE_CALLS,
    NOTHING,
    OLDER_FORMS,
    SAMPLER,
    SUM_OF_OUTPUTS,
    TOLD_GRADIENT,
    TOPIC,
    GuideCall,
    guides_structure,
)
from explorer.topics.observations import by_style, observed, ruling_by_style
from explorer.topics.question import MINDSPORE_STYLES

HEADING = "gradients"
GUIDES = ("004",)

NEARLY = 1e-6
"""Up to this difference a number is the guide's; float32 has small whole numbers exactly."""

LOGITS = 20
"""What `dense_mse` returns beside its loss."""


# Answers read


class Answer(Attempt, frozen=True, kw_only=True):
    """An engine's answer to a gradient call: its structure, and its numbers from left to right."""

    structure: str = ""
    values: list[Any] = msgspec.field(default_factory=list)


class Sampled(Attempt, frozen=True, kw_only=True):
    """The places that a sampler drew, and the gradient of its numbers, row by row."""

    places: list[list[int]] = msgspec.field(default_factory=list)
    gradient: list[list[float]] = msgspec.field(default_factory=list)


def nested_numbers(value: Any) -> str:
    """Numbers in nested lists: "[[4, 6, 8]]"."""
    if isinstance(value, list):
        return "[" + ", ".join(map(nested_numbers, value)) + "]"
    return f"{value:g}" if isinstance(value, (int, float)) else str(value)


def written(case: GradCase) -> str:
    """The call of a case as a program has it, with the weights in a variable."""
    return case.label.replace("weights=all", "weights=weights")


def shown(answer: Answer) -> str:
    """A structure with its numbers, or what was raised."""
    if answer.raised:
        return answer.error
    return f"{answer.structure} = {nested_numbers(answer.values)}"


def _has_values(answer: Answer, values: Sequence[Any]) -> bool:
    """Whether an answer has ``values`` from left to right, whatever their shapes."""
    if answer.raised:
        return False
    # Flat, since numbers and nesting are judged apart.
    return greatest_difference(flat_numbers(answer.values), flat_numbers(values)) <= NEARLY


# Rows 1 to 7: the structures


def structure_ruling(call: str, answers: Mapping[str, Answer], expects: dict[str, Any]) -> Ruling:
    """The ruling on a ``call`` of the guide: it holds when numbers and structure are the guide's.

    It holds with changes when only the numbers are.
    """
    has_values = {}
    has_both = {}
    for engine, answer in answers.items():
        has_values[engine] = _has_values(answer, expects["values"])
        nests_alike = answer.structure == expects["structure"]
        has_both[engine] = has_values[engine] and nests_alike

    seen = tuple(observed(call, answers, shown, has_both))
    # PyTorch's answer is evidence only: by_style judges MindSpore's two styles.
    if by_style(has_both) != "holds" and by_style(has_values) == "holds":
        return Ruling("holds_with_changes", seen)
    return ruling_by_style(has_both, seen)


def claim_structure(row: int, call: GuideCall) -> None:
    """Declare the claim that a call returns what the guide says."""
    structure = guides_structure(call.case)
    values = list(call.gradients)
    if call.case.has_aux:
        values.append(LOGITS)

    @TOPIC.claim(
        row,
        f"`{written(call.case)}` returns {call.returns}.",
        heading=HEADING,
        guides=GUIDES,
        sections={"004": "mindspore.grad"},
        would=f"Both styles return {structure} with the numbers {nested_numbers(values)}.",
        asks=(call.grad,),
        expects={"structure": structure, "values": values},
    )
    def returns_as_said(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
        """As ``structure_ruling``."""
        return structure_ruling(written(call.case), evidence.records(call.grad, Answer), expects)


for row, call in enumerate(GUIDE_CALLS, start=1):
    claim_structure(row, call)


# Rows 8 to 11


@TOPIC.claim(
    8,
    "Differentiating all outputs equals differentiating a net that returns their sum.",
    heading=HEADING,
    guides=GUIDES,
    sections={"004": "mindspore.grad"},
    would="Both nets have the gradient [[6, 9, 12]].",
    asks=(ALL_OUTPUTS, SUM_OF_OUTPUTS),
    expects={"gradient": DX_OF_SUM},
)
def all_outputs_are_their_sum(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when both nets have the guide's gradient."""
    outputs = evidence.records(ALL_OUTPUTS, Answer)
    total = evidence.records(SUM_OF_OUTPUTS, Answer)
    gradient = [expects["gradient"]]
    of_outputs = {engine: _has_values(outputs[engine], gradient) for engine in outputs}
    of_total = {engine: _has_values(total[engine], gradient) for engine in outputs}
    right = {engine: of_outputs[engine] and of_total[engine] for engine in outputs}
    two_outputs = message("gradients.two_outputs")
    seen = (
        *observed(two_outputs, outputs, shown, of_outputs),
        *observed(message("gradients.added_up"), total, shown, of_total),
    )
    return ruling_by_style(right, seen)


@TOPIC.claim(
    9,
    "Asking for neither a position nor weights is a ValueError.",
    heading=HEADING,
    guides=GUIDES,
    sections={"004": "mindspore.grad"},
    would="grad(net, None, None) raises ValueError with the guide's words.",
    asks=(NOTHING,),
    expects={
        "raised": "ValueError",
        "message": "`grad_position` and `weight` can not be None at the same time.",
    },
)
def nothing_to_differentiate_by(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when the guide's error is raised in the guide's words; with changes in other words."""
    answers = evidence.records(NOTHING, Answer)
    refused = {}
    worded_alike = {}
    for engine, answer in answers.items():
        refused[engine] = answer.raised == expects["raised"]
        worded_alike[engine] = refused[engine] and expects["message"] in answer.message

    # PyTorch refuses it as well, with an error of its own, of which the statement says nothing.
    by_mindspore = {style: refused[style] for style in MINDSPORE_STYLES}
    seen = tuple(observed("grad(net, None, None)", answers, shown, by_mindspore))
    if by_style(refused) == "holds" and by_style(worded_alike) != "holds":
        return Ruling("holds_with_changes", seen)
    return ruling_by_style(refused, seen)


@TOPIC.claim(
    10,
    "`value_and_grad` returns (outputs, gradients), the gradients nested in the same seven ways.",
    heading=HEADING,
    guides=GUIDES,
    sections={"004": "mindspore.value_and_grad"},
    would="All seven calls return ((loss, logits), gradients) with the values 1 and 20.",
    asks=tuple(call.value_and_grad for call in GUIDE_CALLS),
    expects={"outputs": "(loss, logits)", "value": [1, LOGITS]},
)
def value_beside_gradients(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when every call returns the outputs beside the gradients, nested as grad nests them."""
    right = dict.fromkeys(MINDSPORE_STYLES, True)
    seen: list[Observation] = []
    for call in GUIDE_CALLS:
        structure = f"({expects['outputs']}, {_without_outputs(call)})"
        values = [*expects["value"], *call.gradients]
        answers = evidence.records(call.value_and_grad, Answer)
        is_expected: dict[str, bool] = {}
        for style, answer in answers.items():
            is_expected[style] = _has_values(answer, values) and answer.structure == structure
            right[style] = right[style] and is_expected[style]
        seen.extend(observed(written(call.with_value), answers, shown, is_expected))

    return ruling_by_style(right, tuple(seen))


def _without_outputs(call: GuideCall) -> str:
    """The gradients' part of what grad returns."""
    # `((dx, dy), (logits,))`: value_and_grad has the outputs in front instead.
    structure = guides_structure(call.case)
    if not call.case.has_aux:
        return structure
    return structure.removeprefix("(").removesuffix(", (logits,))")


@TOPIC.claim(
    11,
    "`GradOperation` is the older form of the same function.",
    heading=HEADING,
    guides=GUIDES,
    sections={"004": "mindspore.ops.GradOperation"},
    would="With corresponding flags it returns the numbers of grad.",
    asks=tuple(question for form in OLDER_FORMS for question in (form.older, form.newer)),
)
def older_form(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when every flag returns the numbers of the call of grad; outdated when it is gone."""
    equal_numbers = dict.fromkeys(MINDSPORE_STYLES, 0)
    seen: list[Observation] = []
    for form in OLDER_FORMS:
        older_answers = evidence.records(form.older, Answer)
        newer_answers = evidence.records(form.newer, Answer)
        is_equal = dict.fromkeys(older_answers, False)
        for style, older in older_answers.items():
            newer = newer_answers[style]
            # Only GradOperation itself is looked up as an attribute in such a call.
            if older.raised == "AttributeError":
                gone = observed(form.case.label, {style: older}, shown, {style: False})
                return Ruling("outdated", tuple(gone))
            if older.raised or newer.raised:
                continue
            is_equal[style] = _has_values(older, newer.values)
            equal_numbers[style] += is_equal[style]
        seen.extend(observed(form.case.label, older_answers, shown, is_equal))

    right = {style: equal == len(OLDER_FORMS) for style, equal in equal_numbers.items()}
    return ruling_by_style(right, tuple(seen))


@TOPIC.claim(
    75,
    "Where a Cell has a bprop, its gradient is free to write, also for what numpy computes.",
    heading="gradients",
    guides=("001",),
    sections={"001": "Network Construction, Customized Backward Network Construction"},
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
    told = evidence.records(TOLD_GRADIENT, Answer)
    sampled = evidence.records(SAMPLER, dict[str, Sampled])
    as_printed: dict[str, bool] = {}
    as_meant: dict[str, bool] = {}
    for style in MINDSPORE_STYLES:
        obeys = told[style].values == expects["told"]
        as_printed[style] = obeys and counts_draws(sampled[style]["as printed"])
        as_meant[style] = obeys and counts_draws(sampled[style]["as meant"])

    drawing = {**sampled, **evidence.records(FUNCTION, dict[str, Sampled])}
    is_told = {engine: answer.values == expects["told"] for engine, answer in told.items()}
    seen = (
        *observed(message("gradients.sign"), told, _told, is_told),
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


def _told(answer: Answer) -> str:
    """The gradient of an engine that is told one, or the type of what it raised."""
    return answer.raised or nested_numbers(answer.values)


def counts_draws(sampled: Sampled) -> bool:
    """Whether a sampler's gradient counts three draws in each row, as the rule says."""
    # By their number and not by their places: a forward that runs again draws again.
    return [sum(row) for row in sampled.gradient] == [3, 3]


def belongs_to_the_draw(sampled: Sampled) -> bool:
    """Whether a sampler's gradient counts the places that the call before it drew."""
    for places, gradient in zip(sampled.places, sampled.gradient, strict=True):
        if [places.count(place) for place in range(len(gradient))] != gradient:
            return False
    return True


def _strayed(sampled: Mapping[str, Mapping[str, Sampled]]) -> list[Message]:
    """The styles of MindSpore whose gradient belongs to another draw."""
    strayed = []
    for style in MINDSPORE_STYLES:
        for rule in ("as printed", "as meant"):
            drawn = sampled[style][rule]
            if not drawn.raised and not belongs_to_the_draw(drawn):
                strayed.append(message(f"gradients.{style}"))
                break
    return strayed


def _sampler_seen(sampled: Mapping[str, Mapping[str, Sampled]], rule: str) -> Iterator[Observation]:
    """What each engine gave for the sampler with a rule, or without one."""
    drawn = {engine: answers[rule] for engine, answers in sampled.items() if rule in answers}
    is_expected: dict[str, bool] = {}
    for engine, answer in drawn.items():
        if rule == "without":
            is_expected[engine] = not answer.raised and not any(flat_numbers(answer.gradient))
        else:
            is_expected[engine] = counts_draws(answer)
    what = message(f"gradients.sampler {rule}")
    yield from observed(what, drawn, _gradient_shown, is_expected)


def _gradient_shown(sampled: Sampled) -> str:
    if sampled.raised:
        return f"{sampled.raised}: {first_clause(sampled.message)}"
    return nested_numbers(sampled.gradient)


# Rows 89 to 91


@TOPIC.claim(
    89,
    "Automatic differentiation by a function of a function is MindSpore's own way.",
    heading=HEADING,
    guides=("003",),
    would="PyTorch has no function that returns a function's value and gradient.",
    asks=(FUNCTIONAL,),
)
def functional_way(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Does not hold when torch.func returns the value and the gradient that MindSpore returns."""
    answers = evidence[FUNCTIONAL]
    by_torch = answers["torch"]
    right = {style: answers[style] != by_torch for style in MINDSPORE_STYLES}
    what = message("gradients.value_and_gradient")
    seen = tuple(observed(what, answers, _value_and_gradient, {"torch": any(right.values())}))
    return Ruling(by_style(right), seen, "" if any(right.values()) else "torch.func")


def _value_and_gradient(figures: Any) -> str:
    return f"{figures['value']:g}, {nested_numbers(figures['gradient'])}"


@TOPIC.claim(
    90,
    "The graph that grad makes of a net gives the forward's output and the gradients of all weights.",
    heading=HEADING,
    guides=("000",),
    sections={"000": "MindSpore Automatic Differentiation"},
    would="grad(net)(x, y) returns the output 32 and the gradient [[4, 8]] of the weight.",
    asks=(DEFAULTS,),
    expects={"output": 32.0, "weight": [[4.0, 8.0]], "input": [[8.0, 12.0]]},
)
def outputs_and_weights(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when grad of a net returns both; else it says whether value_and_grad does, given weights."""
    answers = evidence[DEFAULTS]
    both = [expects["output"], [expects["weight"]]]
    by_default = {style: figures["grad"] for style, figures in answers.items()}
    asked_for = {style: figures["value_and_grad"] for style, figures in answers.items()}
    right = {style: figure == both for style, figure in by_default.items()}
    as_asked = {style: figure == both for style, figure in asked_for.items()}
    seen = (
        *observed("grad(net)(x, y)", by_default, nested_numbers, right),
        *observed("value_and_grad(net, None, weights)(x, y)", asked_for, nested_numbers),
    )
    # GradOperation by default gave the same as grad does now: no name or default has changed since.
    advice = "both" if by_style(as_asked) == "holds" and by_style(right) != "holds" else ""
    return Ruling(by_style(right), seen, advice)


@TOPIC.claim(
    91,
    "The backward cannot be written by hand in MindSpore, which avoids mistakes.",
    heading=HEADING,
    guides=("000",),
    sections={"000": "MindSpore Automatic Differentiation"},
    would="A bprop that is no derivative is refused, or not used.",
    asks=(TOLD_GRADIENT.by(*MINDSPORE_STYLES),),
)
def nothing_by_hand(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Does not hold when a gradient is what a bprop says: the derivative of a sign is 0."""
    answers = evidence.records(TOLD_GRADIENT.by(*MINDSPORE_STYLES), Answer)
    right: dict[str, bool] = {}
    for style, answer in answers.items():
        right[style] = bool(answer.raised) or not any(flat_numbers(answer.values))
    seen = tuple(observed(message("gradients.by_bprop"), answers, shown, right))
    verdict = by_style(right)
    return Ruling(verdict, seen, "check it" if verdict == "does_not_hold" else "")
