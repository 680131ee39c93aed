"""Whole programs of training: right ports differ in nothing, and mistakes are named."""

from typing import Any

import pytest

from explorer.model.engines import Framework
from explorer.model.training_comparison import Question
from explorer.words.training import headline
from tests.planted.trainings.recorded import MISTAKES, Mistake, Program, beside, compared, ports

pytestmark = [pytest.mark.torch]

SAMPLE = (
    "accumulation-mindspore",
    "accumulation-torch-no zero_grad",
    "accumulation-torch-zero_grad before each pass",
)
"""What is run without --whole: each program of MindSpore takes seconds."""

READ_BY_LOSSES = ("gan", "ppo")
"""Programs whose losses read, in PyTorch alone, what is no argument of a net: targets, old probabilities."""


def parameter(value: Any, name: str, port: Framework, reason: str = "") -> Any:
    """A test's parameter with the marks of the port's framework."""
    marks = [getattr(pytest.mark, port)]
    if name not in SAMPLE:
        marks.append(pytest.mark.whole)
    if reason:
        marks.append(pytest.mark.xfail(reason=reason, strict=True))
    return pytest.param(value, id=name, marks=marks)


@pytest.mark.parametrize(
    "port", [parameter(it, f"{it.kind}-{it.framework}", it.framework) for it in ports()]
)
def test_a_right_port_differs_in_nothing(port: Program) -> None:
    comparison = compared(Program(port.kind, "torch"), port)
    assert comparison.difference is None, headline(comparison)
    answers = {answer.question: answer.status for answer in comparison.answers}
    assert answers["data"] == ("in_part" if port.kind in READ_BY_LOSSES else "same")
    judged: tuple[Question, ...] = ("start", "trained", "loss", "given", "update", "state")
    assert {answers[question] for question in judged} == {"same"}


@pytest.mark.parametrize(
    "mistake",
    [
        parameter(it, f"{it.kind}-{it.framework}-{it.name}", beside(it)[1].framework, it.missed)
        for it in MISTAKES
    ],
)
def test_the_step_the_quantity_and_the_rule_of_a_mistake_are_named(mistake: Mistake) -> None:
    comparison = compared(*beside(mistake))
    assert mistake.is_named(comparison), headline(comparison)
