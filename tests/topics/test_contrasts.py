"""Differences counted along styles and along frameworks, by answers that can occur."""

from typing import Any

import numpy as np
import pytest

from explorer.model.measurement import Figures
from explorer.topics.contrasts.claims import FLOOR, axis, same
from explorer.topics.contrasts.main_cases import leaves_of
from explorer.topics.contrasts.questions import KINKS, MAIN_CASES, OPERATORS
from explorer.topics.question import Question
from tests.support.results import answer
from tests.support.rulings import Case, following, ruling_in

REFUSED = {"raised": "TypeError", "message": "no"}
ALSO_REFUSED = {"raised": "RuntimeError", "message": "not here"}


def four(torch_tape: Any, torch_graph: Any, mindspore_tape: Any, mindspore_graph: Any) -> Figures:
    """The answers of all engines."""
    return {
        "torch-tape": torch_tape,
        "torch-graph": torch_graph,
        "mindspore-tape": mindspore_tape,
        "mindspore-graph": mindspore_graph,
    }


@pytest.mark.parametrize(
    ("answers", "along"),
    [
        (four([1.0], [1.0], [1.0], [1.0]), ""),
        (four([2.0], [1.0], [2.0], [1.0]), "style"),
        (four([2.0], [2.0], [1.0], [1.0]), "framework"),
        (four([2.0], [1.0], [1.0], [1.0]), "other"),
        (four([2.0], [1.0], [1.0], [2.0]), "other"),
        (four([1.0], [2.0], [3.0], [4.0]), "other"),
        (four(REFUSED, [1.0], REFUSED, [1.0]), "style"),
        (four(REFUSED, ALSO_REFUSED, [1.0], [1.0]), "framework"),
        (four([1.0], REFUSED, [1.0], [1.0]), "other"),
        (four(REFUSED, REFUSED, ALSO_REFUSED, ALSO_REFUSED), ""),
    ],
)
def test_engines_part_along_styles_or_frameworks_only_in_agreeing_pairs(
    answers: Figures, along: str
) -> None:
    assert axis(answers) == along


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ([1000.0, 1.0], [1000.9, 1.0], True),
        ([1000.0, 1.0], [1001.5, 1.0], False),
        ([0.0], [FLOOR / 2], True),
        ([0.0], [FLOOR * 2], False),
        ([1.0, 2.0], [1.0], False),
        (["NaN", 1.0], ["NaN", 1.0], True),
        (["NaN", 1.0], [0.0, 1.0], False),
        (["Infinity"], ["Infinity"], True),
        (["Infinity"], ["-Infinity"], False),
        ({"dx": [1.0]}, {"dx": [1.0]}, True),
        ({"dx": [1.0]}, {"dy": [1.0]}, False),
        ({"dx": {"shape": [1, 2]}}, {"dx": {"shape": [2, 1]}}, False),
        (REFUSED, [1.0], False),
    ],
)
def test_answers_are_the_same_in_names_shapes_and_numbers(
    one: Any, other: Any, is_same: bool
) -> None:
    assert same(one, other) is is_same
    assert same(other, one) is is_same


STYLE = four([2.0], [1.0], [2.0], [1.0])
FRAMEWORK = four([2.0], [2.0], [1.0], [1.0])
ALONE = four([2.0], [1.0], [1.0], [1.0])
AGREE = four([1.0], [1.0], [1.0], [1.0])


def world(*parted: Figures) -> dict[tuple[Question, str], Figures]:
    """Scenarios that part engines as is said, and agree beside that; all kinks agree."""
    figures: dict[tuple[Question, str], Figures] = {}
    left = list(parted)
    for question in MAIN_CASES.values():
        answers = left.pop() if left else AGREE
        for framework in question.asks:
            own = {name: answers[name] for name in answers if name.startswith(framework)}
            figures[question, framework] = {"case": "", "answers": own}
    for question in KINKS:
        for engine in question.asks:
            figures[question, engine] = {f"kink of {question.name}": {"found": AGREE[engine]}}
    for engine in OPERATORS.asks:
        figures[OPERATORS, engine] = {"dense": {"first": [1.0]}, "odd": {"first": REFUSED}}
    return figures


NO_AXIS = "no one axis explains most"
TAPES_FIRST = "compare a tape with a tape first"
AT_KINKS = "At kinks look at the operator first"

# Most differences are those of styles only where they are more than half.
test_the_verdict_follows_the_count_of_differences = following(
    [
        Case(85, world(STYLE), "holds", TAPES_FIRST),
        Case(85, world(STYLE, STYLE, FRAMEWORK), "holds", TAPES_FIRST),
        Case(85, world(STYLE, FRAMEWORK), "does_not_hold", NO_AXIS),
        Case(85, world(STYLE, FRAMEWORK, FRAMEWORK), "does_not_hold", AT_KINKS),
        Case(85, world(STYLE, ALONE, ALONE), "does_not_hold", NO_AXIS),
        Case(85, world(), "does_not_hold", NO_AXIS),
    ]
)


def test_the_evidence_counts_every_kind_of_program_and_names_those_that_part_styles() -> None:
    evidence = ruling_in(85, world(STYLE, FRAMEWORK, ALONE)).evidence
    last = list(MAIN_CASES)[2]
    counts = "3 differ, 1 by style, 1 by framework, 1 otherwise"
    assert f"scenarios ({len(MAIN_CASES)} programs): {counts}" in evidence
    assert f"both tapes differ from both graphs: {last}; kinks (4 programs): 0 differ" in evidence
    # An operator that some engine refuses is not compared.
    assert "operators (1 program): 0 differ" in evidence
    assert evidence.endswith(f"programs): {counts}")


def test_one_tensor_passed_twice_is_among_the_scenarios() -> None:
    assert "aliased_input" in MAIN_CASES
    assert len(MAIN_CASES) >= 30


def test_answers_as_they_are_measured_can_be_compared() -> None:
    def measured(number: float, name: str = "dx") -> dict[str, Any]:
        return leaves_of(answer(np.full((2, 1), number, np.float32), structure=name))

    assert same(measured(1.0), measured(1.0))
    assert not same(measured(1.0), measured(1.1))
    assert not same(measured(1.0), measured(1.0, "dy"))
