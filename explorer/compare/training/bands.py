"""How far rounding alone moves two trainings apart, from runs with a jittered start."""

import math
from collections.abc import Sequence

from explorer.compare.training.values import Moment
from explorer.model.training import Drift, Training
from explorer.numeric.summaries import UNIT


class Bands:
    """The noise of two trainings at each step, absolute; None where it was not measured.

    A drift never becomes smaller from step to step here: two runs that meet by luck are not less noisy.
    A side without jittered runs has the noise of the other one.
    """

    def __init__(self, left: Training, right: Training) -> None:
        sides = [side.jittered or other.jittered for side, other in ((left, right), (right, left))]
        self._sides = sides
        self._places = {step.number: place for place, step in enumerate(left.steps)}
        self.has_noise = any(sides)

    def loss(self, left: Moment) -> float | None:
        """The noise of the difference of the losses at a step."""
        if left.loss is None:
            return None
        series = [[drift.losses for drift in drifts] for drifts in self._sides]
        return self._noise(series, left, abs(left.loss))

    def weights(self, left: Moment, name: str, size: float) -> float | None:
        """The noise of the norm of the difference of a parameter's values, whose own norm is ``size``."""
        return self._noise(self._of("weights", name), left, size)

    def gradients(self, left: Moment, name: str, size: float) -> float | None:
        """The noise of the norm of the difference of a parameter's gradients, as backward left them."""
        return self._noise(self._of("gradients", name), left, size)

    def growth(self, left: Moment) -> float:
        """How many times as far as after the first step weights have drifted by a step."""
        most = 1.0
        for drifts in self._sides:
            for drift in drifts:
                for norms in drift.weights.values():
                    most = max(most, _until(norms, self._place(left)) / (_until(norms, 0) or 1.0))
        return most

    def _of(self, field: str, name: str) -> list[list[Sequence[float]]]:
        def found(drift: Drift) -> list[Sequence[float]]:
            norms = getattr(drift, field)
            return [norms[name]] if name in norms else []

        return [[norms for drift in drifts for norms in found(drift)] for drifts in self._sides]

    def _place(self, left: Moment) -> int:
        return self._places[left.step.number]

    def _noise(
        self, sides: list[list[Sequence[float]]], left: Moment, size: float
    ) -> float | None:
        if not all(sides):
            return None
        floor = UNIT["float32"] * size
        levels = [
            max([floor, *(_until(norms, self._place(left)) for norms in runs)]) for runs in sides
        ]
        return math.hypot(*levels)


def _until(norms: Sequence[float], place: int) -> float:
    """The greatest finite number up to a step."""
    return max((norm for norm in norms[: place + 1] if math.isfinite(norm)), default=0.0)
