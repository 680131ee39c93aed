"""Along which axis the answers of four engines part: by style, by framework, or otherwise."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from explorer.topics.attempts import raised
from explorer.topics.evidence import flat_numbers
from explorer.topics.question import PARTIES

Axis = Literal["", "style", "framework", "other"]
"""What tells the engines apart; "" where nothing does."""

NEAR = 1e-3
"""Up to this share of the greatest number two tensors are the same: far above rounding."""

FLOOR = 1e-6
"""Up to this difference two numbers are the same, however small the others are.

What is zero but for rounding, as the gradient of a bias before a batch norm, has no scale.
"""


def axis(answers: Mapping[str, Any]) -> Axis:
    """Along which axis the answers of all engines part.

    Along styles where both tapes agree, and both graphs, but not with each other; along frameworks
    in the same way. It is "other" where one engine stands alone, or no two pairs agree.
    """
    first, *others = answers.values()
    if all(same(first, answer) for answer in others):
        return ""
    if _agree_within(answers, {name: PARTIES[name].style for name in answers}):
        return "style"
    if _agree_within(answers, {name: PARTIES[name].library for name in answers}):
        return "framework"
    return "other"


def _agree_within(answers: Mapping[str, Any], groups: Mapping[str, str]) -> bool:
    """Whether engines of one group give the same."""
    first_of_group: dict[str, Any] = {}
    agree = []
    for name, answer in answers.items():
        first = first_of_group.setdefault(groups[name], answer)
        agree.append(same(first, answer))
    return all(agree)


def same(one: Any, other: Any) -> bool:
    """Whether two answers are the same: both refused, or alike in names, shapes and numbers."""
    if raised(one) or raised(other):
        return raised(one) and raised(other)
    if one == other:
        return True  # most answers are equal to the last digit: no arrays are made of them
    if isinstance(one, dict):
        return set(one) == set(other) and all(same(one[name], other[name]) for name in one)
    numbers, other_numbers = np.array(flat_numbers(one)), np.array(flat_numbers(other))
    if numbers.shape != other_numbers.shape:
        return False
    both = np.concatenate([numbers, other_numbers])
    allowed = FLOOR + NEAR * np.abs(both[np.isfinite(both)]).max(initial=0.0)
    return bool(np.allclose(numbers, other_numbers, rtol=0, atol=allowed, equal_nan=True))
