"""Noise levels as records: how far the tensors of an engine move under rounding."""

import msgspec

from explorer.model.arrays import Array
from explorer.model.failures import Failure


class LeafNoise(msgspec.Struct, frozen=True):
    """The noise of one tensor of a result, element by element.

    ``movement`` has the tensor's shape, float32, in the units of its values: the root mean square
    over the runs of how far each element moves.
    """

    name: str
    movement: Array


class ResultNoise(msgspec.Struct, frozen=True, omit_defaults=True):
    """The noise of the answer to one case; no leaves, and the ``error``, where it has no answer.

    ``runs`` counts the runs that were compared with the plain one. ``drawn`` names the tensors that
    depend on random numbers: they were other ones when the net drew others.
    """

    leaves: tuple[LeafNoise, ...] = ()
    runs: int = 0
    error: Failure | None = None
    drawn: tuple[str, ...] = ()
