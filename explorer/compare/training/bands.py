"""How far rounding alone moves two trainings apart, from runs with a jittered start."""

import math
from collections.abc import Sequence

import numpy as np

from explorer.compare.graphs.sameness import UNMEASURED
from explorer.compare.training.values import Moment
from explorer.model.training import Drift, Training
from explorer.numeric.summaries import UNIT

GROWTH = 2.0
"""How fast the noise of a loss grows from step to step where it was not measured."""

MOST_STATED = 1e-3
"""The greatest share of a loss that its noise may grow to without having been measured."""


class Bands:
    """The noise of two trainings at each step, absolute; None where it was not measured.

    In the first step it is then that of UNMEASURED units in the last place: only later ones depend on how
    far rounding has moved the weights. That of a loss is taken to grow GROWTH times from step to step, up to
    MOST_STATED of the loss, and is not known from there on. A drift never becomes smaller from step to step
    here: two runs that meet by luck are not less noisy. A side without jittered runs has the noise of the
    other one.
    """

    def __init__(self, left: Training, right: Training) -> None:
        sides = [side.jittered or other.jittered for side, other in ((left, right), (right, left))]
        self._sides = sides
        self._places = {step.number: place for place, step in enumerate(left.steps)}
        self.has_noise = any(sides)
        drifts = [drift for side in sides for drift in side]
        self._measured_gradients = {name for drift in drifts for name in drift.gradients}
        self._moved: dict[str, float] = {}
        self._widths = {0: 1.0}

    def widen(self, left: Moment, name: str, rounding: float) -> None:
        """Note how far rounding moved a parameter apart in an update, as the norm of the difference.

        Where that adds up to more than a jittered start was moved by, all noise is so many times greater.
        """
        self._moved[name] = self._moved.get(name, 0.0) + rounding
        jitter = UNIT["float32"] * float(np.linalg.norm(left.weights[name]))
        if jitter:
            width = max(self._width(left.step.number), self._moved[name] / jitter)
            self._widths[left.step.number] = width

    def loss(self, left: Moment) -> float | None:
        """The noise of the difference of the losses at a step."""
        if left.loss is None:
            return None
        series: list[list[Sequence[float]]] = [
            [drift.losses for drift in drifts] for drifts in self._sides
        ]
        # Of a batch with a value that is not finite, the other passes have losses all the same.
        size = sum(abs(loss) for loss in left.losses if math.isfinite(loss))
        noise = self._noise(series, left, size, is_before=True)
        if noise is not None:
            return noise
        first = UNMEASURED * UNIT["float32"]
        place = self._places[left.step.number]
        if place > math.log(MOST_STATED / first, GROWTH):
            return None
        return first * GROWTH**place * size

    def weights(self, left: Moment, name: str, size: float) -> float | None:
        """The noise of the norm of the difference of a parameter's values, whose own norm is ``size``."""
        return self._noise(self._of("weights", name), left, size)

    def gradients(self, left: Moment, name: str, size: float) -> float | None:
        """Likewise of its gradients, as backward left them.

        A gradient may be nothing but noise: where that was not measured, its size is that of all.
        """
        if name not in self._measured_gradients:
            size = float(np.linalg.norm([np.linalg.norm(one) for one in left.gradients.values()]))
        return self._noise(self._of("gradients", name), left, size, is_before=True)

    def buffers(self, left: Moment, name: str, size: float) -> float | None:
        """Likewise of a buffer's values."""
        return self._noise(self._of("buffers", name), left, size, is_before=True)

    def _width(self, number: int) -> float:
        """How many times as great as that of a jittered start the noise is behind a step's update."""
        return max(width for since, width in self._widths.items() if since <= number)

    def _of(self, field: str, name: str) -> list[list[Sequence[float]]]:
        def found(drift: Drift) -> list[Sequence[float]]:
            norms = getattr(drift, field)
            return [norms[name]] if name in norms else []

        return [[norms for drift in drifts for norms in found(drift)] for drifts in self._sides]

    def _noise(
        self,
        sides: list[list[Sequence[float]]],
        left: Moment,
        size: float,
        *,
        is_before: bool = False,
    ) -> float | None:
        """The noise of both sides; ``is_before`` that of what precedes the update of the step."""
        place = self._places[left.step.number]
        if not all(sides):
            is_first = place == 0 and is_before
            return UNMEASURED * UNIT["float32"] * size if is_first else None
        floor = UNIT["float32"] * size
        levels = [max([floor, *(_until(norms, place) for norms in runs)]) for runs in sides]
        return self._width(left.step.number - is_before) * math.hypot(*levels)


def _until(norms: Sequence[float], place: int) -> float:
    """The greatest finite number up to a step."""
    return max((norm for norm in norms[: place + 1] if math.isfinite(norm)), default=0.0)
