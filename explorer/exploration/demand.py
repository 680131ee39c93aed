"""What a large net demands: its size, the time and memory of a run, and what is left out for it."""

import math

import msgspec

from explorer.scenario.common_start import Nets
from explorer.workers.children import MEGABYTE

LARGE_NET = 5_000_000
"""The number of elements of parameters from which on what a run demands is estimated and said."""

ONE_NOISE = 8_000_000
"""The number from which on noise is measured in one framework, in nets that are not trained."""

RUNS = 14
"""About how many times a framework runs forward and backward for the main case."""

COPIES = 24
"""About how many copies of the parameters all processes hold together, gradients among them."""

IDLE = 1000 * MEGABYTE
"""About what all processes hold with a small net."""


class Demand(msgspec.Struct, frozen=True):
    """What the main case of a net demands.

    ``elements`` are those of its parameters. ``seconds`` and ``bytes`` are estimates, of all processes
    together. ``is_noise_of_one`` says that noise is measured in one framework alone.
    """

    elements: int
    seconds: float
    bytes: int
    is_noise_of_one: bool = False

    @property
    def is_large(self) -> bool:
        """Whether a user should know before the run."""
        return self.elements > LARGE_NET


def demand_of(nets: Nets, trains: bool, looks: float) -> Demand:
    """What nets demand of which the first look at both took ``looks`` seconds.

    In a net that ``trains``, each framework shows by its own noise what it draws at random.
    """
    elements = sum(array.size for array in nets.parameters.values())
    held = sum(len(array.data) for array in nets.parameters.values())
    return Demand(
        elements,
        math.ceil(looks * RUNS / 2),
        IDLE + COPIES * held,
        elements > ONE_NOISE and not trains,
    )
