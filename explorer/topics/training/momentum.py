"""How the ways to write momentum compare with nn.Momentum, read from their figures."""

from typing import Any

from explorer.model.measurement import Figures
from explorer.numeric.differences import greatest_difference
from explorer.topics.attempts import raised
from explorer.topics.training.differences import NEAR

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
