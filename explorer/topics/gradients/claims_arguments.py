"""The claim about what grad takes as positions and as weights (row 82)."""

from collections.abc import Iterator, Mapping
from typing import Any

from explorer.model.claim import ClaimVerdict, Observation, Ruling
from explorer.model.measurement import Figures
from explorer.topics.attempts import raised
from explorer.topics.evidence import Evidence
from explorer.topics.gradients.arguments import TRUE_GRADIENTS
from explorer.topics.gradients.questions import ARGUMENTS, TOPIC
from explorer.topics.gradients.wording import outcome
from explorer.topics.observations import observed
from explorer.topics.question import MINDSPORE_STYLES
from explorer.topics.styles import by_style


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
    both = [form for form in graph if form in tape]
    graph_alone, tape_alone = _without(graph, tape), _without(tape, graph)
    seen = tuple(_forms_seen(answers, gradients))

    if by_style(as_said) != "holds":
        return Ruling(
            by_style(as_said),
            seen,
            "Compare the gradient with one that you know: a form that the text names is not taken"
            " as it says.",
        )
    if not graph and not tape:
        return Ruling("holds", seen, "Rely on the error: what the text does not name is refused.")
    verdict: ClaimVerdict = "holds_with_changes" if graph == tape else "depends_on_style"
    return Ruling(
        verdict,
        seen,
        "Check positions and weights yourself; what passes without a word in a style at least:"
        f" {_listed([*both, *graph_alone, *tape_alone])}.",
    )


def _takes_what_the_text_names(figures: Figures, gradients: Mapping[str, Any]) -> bool:
    """Whether every form of the text gives its gradient."""
    for forms in figures.values():
        for name, gradient in forms.items():
            # Small whole numbers, which float32 has exactly.
            if name in gradients and gradient != gradients[name]:
                return False
    return True


def _taken_beside(figures: Figures, gradients: Mapping[str, Any]) -> list[str]:
    """The other forms that were not refused."""
    taken = []
    for part, forms in figures.items():
        for name, gradient in forms.items():
            if name not in gradients and not raised(gradient):
                taken.append(f"{part} {name}")
    return taken


def _without(forms: list[str], others: list[str]) -> list[str]:
    return [form for form in forms if form not in others]


def _forms_seen(
    answers: Mapping[str, Figures], gradients: Mapping[str, Any]
) -> Iterator[Observation]:
    """Every form with what each party gave or raised; the statement is about MindSpore's."""
    for part, called in (("positions", "grad_position"), ("weights", "weights")):
        for name in answers["mindspore-graph"][part]:
            by_party: dict[str, Any] = {}
            is_expected: dict[str, bool] = {}
            for party, figures in answers.items():
                if name not in figures[part]:  # PyTorch has no ParameterTuple
                    continue
                gradient = by_party[party] = figures[part][name]
                if party in MINDSPORE_STYLES:
                    is_expected[party] = (
                        gradient == gradients[name] if name in gradients else raised(gradient)
                    )
            yield from observed(f"{called} {name}", by_party, outcome, is_expected)


def _listed(forms: list[str]) -> str:
    return ", ".join(forms) or "nothing"
