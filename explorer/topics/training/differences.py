"""How far weights and gradients of two training runs lie apart, and how far is near enough."""

from typing import Any

from explorer.model.measurement import Figures
from explorer.numeric.differences import greatest_difference
from explorer.topics.attempts import raised

NEAR = 2e-6
"""Weights that differ by no more than this after some float32 steps are the same.

The order of sums alone makes 1e-7 a step.
"""

States = list[dict[str, Any]]
"""The weights and running statistics after every step, by PyTorch's names."""


def step_differences(states: States, reference: States) -> list[float]:
    """The greatest difference of two routes after every step, over all weights and statistics."""
    pairs = zip(states, reference, strict=True)
    return [greatest_by_name(state, expected) for state, expected in pairs]


def greatest_by_name(tensors: dict[str, Any], expected: dict[str, Any]) -> float:
    """The greatest difference of any tensor from the expected one of its name."""
    return max(greatest_difference(tensor, expected[name]) for name, tensor in tensors.items())


def farthest(states: States, reference: States) -> str:
    """The name of the weight or statistic that is farthest apart after the last step."""
    # After the last step, when differences have added up.
    last, expected = states[-1], reference[-1]
    return max(last, key=lambda name: greatest_difference(last[name], expected[name]))


def moved_weights(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """The names of the weights that a step changed, running statistics aside; sorted."""
    # Batch norm's statistics are updated by the forward, whatever the optimizer was given.
    moved = []
    for name, values in before.items():
        if "running" not in name and values != after[name]:
            moved.append(name)
    return sorted(moved)


def list_difference(gradients: list[Any], expected: list[Any]) -> float:
    """The greatest difference of two lists of gradients, each of a length of its own."""
    pairs = zip(gradients, expected, strict=True)
    return max(greatest_difference(gradient, other) for gradient, other in pairs)


def accumulation_difference(figures: Figures, reduction: str, how: str) -> float:
    """How far gradients accumulated over micro-batches lie from the whole batch's.

    ``reduction`` is that of the loss, "mean" or "sum"; ``how`` is "added", or "divided" by the
    number of micro-batches.
    """
    return greatest_by_name(figures[reduction]["whole"], figures[reduction][how])


# Ways to write momentum


PRINTED = ("small operators, as printed", "ApplyMomentum, as printed")
MEANT = ("small operators, as meant", "ApplyMomentum, as meant")
FUSED = "nn.Momentum"


def styles_that_agree(styles: Figures, ways: tuple[str, ...]) -> list[str]:
    """The styles in which each of ``ways`` leaves nn.Momentum's weight after every step."""
    agreeing = []
    for style, paths in styles.items():
        if all(_same(paths[way], paths[FUSED]) for way in ways):
            agreeing.append(style)
    return agreeing


def _same(path: Any, reference: Any) -> bool:
    if raised(path) or raised(reference):
        return False
    return bool(greatest_difference(path, reference) <= NEAR)


def left(path: Any) -> Any:
    """The weight after the last step, or the attempt that raised."""
    return path if raised(path) else path[-1]
