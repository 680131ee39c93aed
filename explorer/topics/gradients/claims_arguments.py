"""Claims about what grad takes: positions and weights (row 82), outputs beside the loss (80, 81)."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from explorer.model.claim import ClaimVerdict, Observation, Ruling
from explorer.model.measurement import Figures
from explorer.model.message import Message, Text, message
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence, spaced
from explorer.topics.gradients.claims import nested_numbers
from explorer.topics.gradients.inputs import TRUE_GRADIENTS
from explorer.topics.gradients.questions import ARGUMENTS, OUTPUTS, TOPIC
from explorer.topics.observations import by_style, observed, ruling_by_style
from explorer.topics.question import MINDSPORE_STYLES


@TOPIC.claim(
    82,
    "grad_position is None, an int or a tuple of ints, and weights are a ParameterTuple, a"
    " Parameter or a list of Parameters; neither takes anything else.",
    heading="gradients",
    guides=("004",),
    sections={"004": "mindspore.grad"},
    would="Each of these forms gives its gradient, and every other form is refused in both styles.",
    asks=(ARGUMENTS,),
    expects={"gradients": TRUE_GRADIENTS},
)
def arguments_taken(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when both styles take the forms of the text, and refuse all others.

    It holds with changes when both take the same other forms, and depends on the style when they
    take different ones.
    """
    answers = evidence[ARGUMENTS]
    gradients = expects["gradients"]
    as_said: dict[str, bool] = {}
    for style in MINDSPORE_STYLES:
        as_said[style] = _takes_what_the_text_names(answers[style], gradients)

    graph, tape = (_taken_beside(answers[style], gradients) for style in MINDSPORE_STYLES)
    seen = tuple(_forms_seen(answers, gradients))
    if by_style(as_said) != "holds":
        return Ruling(by_style(as_said), seen)
    if not graph and not tape:
        return Ruling("holds", seen)

    in_both = [form for form in graph if form in tape]
    in_one = [form for form in (*graph, *tape) if form not in in_both]
    passing = message("gradients.passing", forms=(*in_both, *in_one))
    verdict: ClaimVerdict = "holds_with_changes" if graph == tape else "depends_on_style"
    return Ruling(verdict, seen, passing)


def _takes_what_the_text_names(figures: Figures, gradients: Mapping[str, Any]) -> bool:
    """Whether every form of the text gives its gradient."""
    for forms in figures.values():
        for name, gradient in forms.items():
            # Small whole numbers, which float32 has exactly.
            if name in gradients and gradient != gradients[name]:
                return False
    return True


def _taken_beside(figures: Figures, gradients: Mapping[str, Any]) -> list[Message]:
    """The other forms that were not refused."""
    taken = []
    for part, forms in figures.items():
        for name, gradient in forms.items():
            if name in gradients or raised(gradient):
                continue
            if part == "positions":
                taken.append(message("gradients.position", form=name))
            else:
                taken.append(message(f"gradients.weights {name}"))
    return taken


def _forms_seen(
    answers: Mapping[str, Figures], gradients: Mapping[str, Any]
) -> Iterator[Observation]:
    """Every form with what each party gave or raised; the statement is about MindSpore's."""
    for part in ("positions", "weights"):
        for name in answers["mindspore-graph"][part]:
            by_party: dict[str, Any] = {}
            is_expected: dict[str, bool] = {}
            for party, figures in answers.items():
                if name not in figures[part]:  # PyTorch has no ParameterTuple
                    continue
                gradient = by_party[party] = figures[part][name]
                if party not in MINDSPORE_STYLES:
                    continue
                if name in gradients:
                    is_expected[party] = gradient == gradients[name]
                else:
                    is_expected[party] = raised(gradient)
            what: Text = f"grad_position {name}"
            if part == "weights":
                what = message(f"gradients.weights {name}")
            yield from observed(what, by_party, outcome, is_expected)


# Rows 80 and 81: outputs beside the loss

LOSS_GRADIENT = [18.0, 36.0, 54.0]
"""The gradient of the sum of 9x² at (1, 2, 3)."""

LOGITS = [3.0, 6.0, 9.0]
"""The output beside that loss, 3x."""

SUM_GRADIENT = [21.0, 39.0, 57.0]
"""The gradient of both added up."""


class WithAux(msgspec.Struct, frozen=True, rename=spaced):
    """What has_aux=True gives by the outputs of a function, or raises."""

    one_output: Any
    a_tuple_of_one: Any
    two_outputs: Any

    @property
    def gradient(self) -> Any:
        """The gradient beside the output that is set aside, or what was raised."""
        return self.two_outputs if raised(self.two_outputs) else self.two_outputs[0]


class WithoutAux(
    msgspec.Struct,
    frozen=True,
    rename={
        "stopped": "stop_gradient",
        "neither": "two outputs",
        "stopped_early": "stop_gradient too early",
    },
):
    """The gradient of a function with two outputs, one of them stopped or not, or what it raises."""

    stopped: Any
    neither: Any
    stopped_early: Any


class OutputsBesideLoss(msgspec.Struct, frozen=True):
    """What a party gives for functions with outputs beside the loss."""

    has_aux: WithAux
    without: WithoutAux


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
    answers = evidence.records(OUTPUTS, OutputsBesideLoss)
    strict: dict[str, bool] = {}
    refuses_bare: dict[str, bool] = {}
    errors: dict[str, None] = {}  # an ordered set
    for style in MINDSPORE_STYLES:
        with_aux = answers[style].has_aux
        takes_two = with_aux.two_outputs == expects["two outputs"]
        refuses_bare[style] = takes_two and raised(with_aux.one_output)
        strict[style] = refuses_bare[style] and raised(with_aux.a_tuple_of_one)
        if raised(with_aux.one_output):
            errors[outcome(with_aux.one_output)] = None

    seen: list[Observation] = []
    for field in ("one_output", "a_tuple_of_one", "two_outputs"):
        form = spaced(field)
        by_party = {party: getattr(output.has_aux, field) for party, output in answers.items()}
        is_expected: dict[str, bool] = {}
        for style in MINDSPORE_STYLES:
            figure = by_party[style]
            is_expected[style] = raised(figure)
            if form in expects:
                is_expected[style] = figure == expects[form]
        what = message(f"gradients.has_aux {form}")
        seen.extend(observed(what, by_party, outcome, is_expected))

    ruling = ruling_by_style(strict, tuple(seen))
    differently = len(errors) > 1 and by_style(refuses_bare) == "holds"
    if ruling.verdict == "depends_on_style" and differently:
        advice = message("gradients.refused_differently", errors=tuple(errors))
        return Ruling(ruling.verdict, ruling.evidence, advice)
    return ruling


@TOPIC.claim(
    81,
    "stop_gradient on an output leaves it out of the gradient as has_aux=True does.",
    heading="gradients",
    guides=("ours",),
    would="Both give the gradient of the loss alone, and neither of them gives the sum's.",
    asks=(OUTPUTS,),
    expects={"loss": LOSS_GRADIENT, "sum": SUM_GRADIENT},
)
def stop_gradient_is_has_aux(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when either way gives the loss's gradient, and neither of them the sum's."""
    answers = evidence.records(OUTPUTS, OutputsBesideLoss)
    alike: dict[str, bool] = {}
    for party, outputs in answers.items():
        alike[party] = (
            outputs.has_aux.gradient == expects["loss"]
            and outputs.without.stopped == expects["loss"]
            and outputs.without.neither == expects["sum"]
        )
    seen: list[Observation] = []
    for way, gradient in (
        ("with_aux", expects["loss"]),
        ("stopped", expects["loss"]),
        ("neither", expects["sum"]),
        ("stopped_early", None),
    ):
        gradients = {party: _gradient(outputs, way) for party, outputs in answers.items()}
        is_expected: dict[str, bool] = {}
        if gradient is not None:
            is_expected = {party: found == gradient for party, found in gradients.items()}
        seen.extend(observed(message(f"gradients.{way}"), gradients, _shown, is_expected))
    return ruling_by_style(alike, tuple(seen))


def _gradient(outputs: OutputsBesideLoss, way: str) -> Any:
    """The gradient that one way to return an output beside the loss gives, or what it raised."""
    return outputs.has_aux.gradient if way == "with_aux" else getattr(outputs.without, way)


def outcome(figure: Any) -> str:
    """The numbers of an answer, or the type of what was raised."""
    return str(figure["raised"]) if raised(figure) else nested_numbers(figure)


def _shown(figure: Any) -> str:
    return said(figure) if raised(figure) else nested_numbers(figure)
