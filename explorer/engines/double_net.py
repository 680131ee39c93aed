"""A net in float64 as a function of its leaves, whichever framework it is of, and sums of its outputs."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from explorer.engines.kink_births import Computed
from explorer.model.arrays import AnyArray
from explorer.model.cases import GradCase
from explorer.model.errors import RefusedNetError
from explorer.model.requests import NetRequest
from explorer.numeric.cotangents import cotangent
from explorer.numeric.slopes import STEP

LeafKey = int | str
"""A leaf that a case differentiates: the position of an input, or the name of a weight."""

NOTHING_VARIED: Mapping[LeafKey, AnyArray] = {}

ROUNDING = 8 * 2.0**-53
"""The rounding of an output in float64, as a share of it: it is divided by twice the step."""


class DoubleNet(ABC):
    """A net in float64 as a function of its leaves: ``FrameworksNet`` in ``double_net`` of a framework.

    Every evaluation starts alike. ``bare`` says that the net has no auxiliary outputs; else the first
    ``first_outputs`` are the part that has_aux differentiates. ``rounding`` is that of the sums.
    ``stops`` says that the net cuts values off from differentiation, which are held. ``seconds`` is the
    least time of an evaluation so far.
    """

    bare: bool
    first_outputs: int
    rounding: float
    stops: bool
    seconds: float

    @abstractmethod
    def __init__(self, request: NetRequest) -> None: ...

    @abstractmethod
    def leaves(self, case: GradCase) -> dict[str, LeafKey]:
        """The leaves that a case differentiates, by the names of their gradients."""

    @abstractmethod
    def start(self, leaf: LeafKey) -> AnyArray:
        """The value of a leaf before it is varied."""

    @abstractmethod
    def sums(self, values: Mapping[LeafKey, AnyArray] = NOTHING_VARIED) -> AnyArray:
        """What sums() makes of the outputs with some leaves set to other ``values``."""

    @abstractmethod
    def computed(self, values: Mapping[LeafKey, AnyArray]) -> Sequence[Computed]:
        """What each operator computes of other ``values``."""


def sums(outputs: Iterable[AnyArray]) -> AnyArray:
    """The sum of each output, and of its product with the explicit cotangent: (outputs, 2).

    Every case combines these. An output of integers counts as zeros. Raises RefusedNetError for one
    that is not float64: a step of STEP would vanish in it.
    """
    rows = []
    for index, output in enumerate(outputs):
        # With a cotangent of ones the gradient is that of the real parts (torch 2.13).
        array = output.real if output.dtype.kind == "c" else output
        if array.dtype.kind != "f":
            array = np.zeros(array.shape)
        elif array.dtype != np.float64:
            # The net made float32 or less of its float64 leaves.
            raise RefusedNetError("coarse_output", str(index), array.dtype.name, str(STEP))
        product = array * cotangent(index, array.shape, "float64")
        rows.append((array.sum(), product.sum()))
    return np.array(rows)


def rounding(outputs: Iterable[AnyArray]) -> float:
    """The rounding of sums of outputs; 0 where they are not finite."""
    size = sum(float(np.abs(array).sum()) for array in outputs if array.dtype.kind == "f")
    return ROUNDING * size if np.isfinite(size) else 0.0
