"""Runs a net with changes in its text, in a copy, and says whether it gives what is wanted."""

import numpy as np
from msgspec.structs import replace

from explorer.model.arrays import AnyArray, unpack
from explorer.model.engines import Engine
from explorer.model.requests import CaseRequest
from explorer.model.results import Result
from explorer.workers.protocol import Lost
from explorer.workers.workers import Workers

NEAR = 1e-3
"""Results are looked at closely that come as near as this, relative to the greatest element of each,"""

NEARER = 0.1
"""and differ by no more than this share of what they differed by,"""

ROUNDING = 5e-7
"""or that are the same up to this: then something beside the results differs, such as a running mean."""

SMALL = 1e-3
"""A tensor counts as this share of the greatest one at least: a bias ahead of a norm has no gradient."""

TINY = 1e-30
"""The least that anything is compared with, where all is 0."""


class Trier:
    """Asks the engine that is mended for its answer of other texts, beside the ``wanted`` one.

    ``request`` is for its net, which starts as the other engine's does; ``tried`` counts the texts.
    """

    def __init__(
        self, workers: Workers, engine: Engine, request: CaseRequest, wanted: Result
    ) -> None:
        self._workers = workers
        self._engine = engine
        self._request = request
        self._wanted = wanted
        self._own = self._distance(self.answer(request.net.scenario))
        self.tried = 0

    def is_near(self, copy: str) -> bool:
        """Whether the net in a copy, a scenario's file, gives about what is wanted."""
        self.tried += 1
        distance = self._distance(self.answer(copy))
        return distance <= max(ROUNDING, min(NEAR, NEARER * self._own))

    def answer(self, copy: str) -> Result | None:
        """What the engine answers of the net in a copy; None where its worker was lost."""
        request = replace(self._request, net=replace(self._request.net, scenario=copy))
        target = f"{self._engine.module}:answer"
        reply = self._workers.call(self._engine.answers_in[0], target, request, Result)
        return None if isinstance(reply, Lost) else reply

    def _distance(self, answer: Result | None) -> float:
        """How far an answer is from the wanted one, as a share of the greatest element of each tensor.

        Of tensors that are nothing but rounding beside the others it is a share of these.
        """
        if answer is None or answer.outcome != "ok":
            return float("inf")
        own = {leaf.name: unpack(leaf.value) for leaf in answer.leaves}
        wanted = {leaf.name: unpack(leaf.value) for leaf in self._wanted.leaves}
        if {name: it.shape for name, it in own.items()} != {
            name: it.shape for name, it in wanted.items()
        }:
            return float("inf")
        sizes = {name: _size(value) for name, value in wanted.items()}
        least = SMALL * max(sizes.values(), default=0.0)
        shares = [
            _apart(own[name], value) / max(sizes[name], least, TINY)
            for name, value in wanted.items()
        ]
        return max(shares, default=0.0)


def _size(value: AnyArray) -> float:
    """The greatest finite element."""
    return float(np.abs(value[np.isfinite(value)]).max(initial=0))


def _apart(one: AnyArray, other: AnyArray) -> float:
    """The greatest difference of two elements; infinite where one alone is no number."""
    with np.errstate(all="ignore"):
        is_same = (one == other) | (np.isnan(one) & np.isnan(other))
        apart = np.where(is_same, 0, np.abs(one - other))
    return float(np.nan_to_num(apart, nan=np.inf, posinf=np.inf).max(initial=0))
