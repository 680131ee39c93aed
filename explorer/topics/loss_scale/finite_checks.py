"""What a check for finite gradients said, case by case: about what it is wrong, and what it refuses."""

from typing import Any

from explorer.topics.attempts import raised, said
from explorer.topics.loss_scale.inputs import NOT_FINITE


def is_finite(case: str) -> bool:
    """Whether all is finite in the gradients of one of FINITE_CASES; ``case`` begins with its name."""
    return not any(mark in case for mark in NOT_FINITE)


def wrongly_answered(figures: dict[str, Any]) -> list[str]:
    """The cases in which a check called finite what is not, or the other way round."""
    wrong = []
    for case, answer in figures.items():
        if not raised(answer) and answer != is_finite(case):
            wrong.append(case)
    return wrong


def refusals(figures: dict[str, Any]) -> list[str]:
    """What a check raised, each message once."""
    return sorted({said(answer) for answer in figures.values() if raised(answer)})


def answered(figures: dict[str, Any]) -> int:
    """How many cases a check did not refuse."""
    return sum(not raised(answer) for answer in figures.values())
