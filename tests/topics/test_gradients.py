"""Claims about gradient calls: the installed versions' verdicts, and those of other figures."""

import contextlib
import io
from collections.abc import Callable, Iterable, Sequence

import pytest

from explorer.model.measurement import Figures, Measured
from explorer.topics.evidence import flat_numbers
from explorer.topics.gradients.questions import (
    ALL_OUTPUTS,
    GUIDE_CALLS,
    NOTHING,
    OLDER_FORMS,
    SUM_OF_OUTPUTS,
    TOPIC,
    GuideCall,
)
from explorer.topics.question import MINDSPORE_STYLES, Question, Target
from explorer.workers.workers import Workers
from tests.support.topics import World, judge, measured_for_claims
from tests.topics.shown_programs import printed_numbers

CLAIMS = TOPIC.claims
GRAPH, TAPE = ("mindspore-graph",), ("mindspore-tape",)
Change = Callable[[World], None]


@pytest.fixture(scope="module")
def measured(workers: Workers) -> dict[str, Measured]:
    return measured_for_claims(workers, CLAIMS.values())


def test_a_measurement_is_named_by_the_call_and_the_net() -> None:
    names = [measurement.name for measurement in ALL_OUTPUTS.measurements(Target())]
    call = "gradients.grad(dense_mse, grad_position=0, weights=None, has_aux=False)"
    assert names == [f"{call}.mindspore-graph", f"{call}.mindspore-tape", f"{call}.torch-tape"]
    (of_the_sum, *_) = SUM_OF_OUTPUTS.measurements(Target())
    assert of_the_sum.name.startswith("gradients.grad(loss + logits, ")


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.parametrize(
    ("row", "verdict", "cited"),
    [
        (
            1,
            "holds",
            "(dx, (logits,)) = [[[4, 6, 8]], 20] (MindSpore graph and tape, PyTorch tape)",
        ),
        (2, "holds", "(dy, (logits,)) = [-2, 20] (MindSpore graph and tape, PyTorch tape)"),
        (3, "holds", "((dx, dy), (logits,)) = [[[4, 6, 8]], -2, 20] (MindSpore"),
        (4, "holds", "((dfc.weight,), (logits,)) = [[[2, 4, 6]], 20] (MindSpore"),
        (
            5,
            "holds",
            "((dx, (dfc.weight,)), (logits,)) = [[[4, 6, 8]], [[2, 4, 6]], 20] (MindSpore",
        ),
        (6, "holds", "(((dx, dy), (dfc.weight,)), (logits,)) = [[[4, 6, 8]], -2, [[2, 4, 6]], 20]"),
        (
            7,
            "holds",
            "has_aux=False): dx = [[[6, 9, 12]]] (MindSpore graph and tape, PyTorch tape)",
        ),
        (
            8,
            "holds",
            "net that returns loss + logits: dx = [[[6, 9, 12]]] (MindSpore graph and tape, PyTorch tape)",
        ),
        (
            9,
            "holds",
            "grad(net, None, None): ValueError: `grad_position` and `weight` can not be None",
        ),
        (
            10,
            "holds",
            "((loss, logits), ((dx, dy), (dfc.weight,))) = [1, 20, [[4, 6, 8]], -2, [[2, 4, 6]]] (MindSpore",
        ),
        (
            11,
            "holds",
            "((dx, dy), (dfc.weight,)) = [[[6, 9, 12]], -2, [[3, 6, 9]]] (MindSpore graph and tape)",
        ),
    ],
)
def test_the_guides_structures_hold(
    measured: dict[str, Measured], row: int, verdict: str, cited: str
) -> None:
    ruling = judge(CLAIMS[row], measured)
    assert ruling.verdict == verdict
    assert cited in ruling.evidence
    assert ruling.advice.endswith(".")


# Other worlds


def change_answers(
    questions: Iterable[Question], parties: Sequence[str], change: Callable[[Figures], None]
) -> Change:
    """A change of what some parties answer to some questions."""

    def change_world(world: World) -> None:
        for question in questions:
            for party in parties:
                change(world[question, party])

    return change_world


def other_number(answer: Figures) -> None:
    answer["values"][0] = [[1, 1, 1]]


def other_nesting(answer: Figures) -> None:
    answer["structure"] = f"({answer['structure']},)"


def accepted(answer: Figures) -> None:
    answer.clear()
    answer.update(structure="()", values=[])


def refused(answer: Figures) -> None:
    answer.clear()
    answer.update(raised="TypeError", message="wrong arguments")


def reworded(answer: Figures) -> None:
    answer["message"] = "give something to differentiate by"


def gone(answer: Figures) -> None:
    answer.clear()
    answer.update(
        raised="AttributeError", message="module 'mindspore.ops' has no attribute 'GradOperation'"
    )


STRUCTURES = []
for row, call in enumerate(GUIDE_CALLS, start=1):
    STRUCTURES += [
        (row, change_answers([call.grad], TAPE, other_number), "depends_on_style"),
        (row, change_answers([call.grad], MINDSPORE_STYLES, other_number), "does_not_hold"),
        (row, change_answers([call.grad], MINDSPORE_STYLES, other_nesting), "holds_with_changes"),
    ]

SECOND_INPUT = [GUIDE_CALLS[1].value_and_grad]
OLDER = [form.older for form in OLDER_FORMS]
NEWER = [form.newer for form in OLDER_FORMS]


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.parametrize(
    ("row", "change", "verdict"),
    [
        *STRUCTURES,
        (1, change_answers([GUIDE_CALLS[0].grad], TAPE, refused), "depends_on_style"),
        (8, change_answers([SUM_OF_OUTPUTS], GRAPH, other_number), "depends_on_style"),
        (8, change_answers([ALL_OUTPUTS], MINDSPORE_STYLES, other_number), "does_not_hold"),
        (9, change_answers([NOTHING], TAPE, accepted), "depends_on_style"),
        (9, change_answers([NOTHING], MINDSPORE_STYLES, accepted), "does_not_hold"),
        (9, change_answers([NOTHING], MINDSPORE_STYLES, reworded), "holds_with_changes"),
        (10, change_answers(SECOND_INPUT, TAPE, other_nesting), "depends_on_style"),
        (10, change_answers(SECOND_INPUT, MINDSPORE_STYLES, other_number), "does_not_hold"),
        (11, change_answers(OLDER, GRAPH, other_number), "depends_on_style"),
        (11, change_answers(OLDER, MINDSPORE_STYLES, other_number), "does_not_hold"),
        (11, change_answers(OLDER, GRAPH, refused), "depends_on_style"),
        (11, change_answers(NEWER, MINDSPORE_STYLES, refused), "does_not_hold"),
        (11, change_answers(OLDER, MINDSPORE_STYLES, gone), "outdated"),
    ],
)
def test_other_figures_give_another_verdict(
    measured: dict[str, Measured], row: int, change: Change, verdict: str
) -> None:
    assert judge(CLAIMS[row], measured, change).verdict == verdict


@pytest.mark.torch
@pytest.mark.parametrize("call", [call for call in GUIDE_CALLS if call.case.weights])
def test_pytorch_s_program_differentiates_by_the_weights_too(
    call: GuideCall, measured: dict[str, Measured]
) -> None:
    figures = measured[call.grad.measurement_name("torch-tape")].figures
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(figures["code"], {})  # the program as the page of the claim shows it
    numbers = flat_numbers(figures["values"])
    assert printed_numbers(printed.getvalue()) == pytest.approx(numbers)
