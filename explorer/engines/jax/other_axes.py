"""A reduction over other axes than its own, in the shape that what is computed behind it can read."""

import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from explorer.engines.jax.operator_arguments import literals
from explorer.engines.jax.recording import Origin, Record, run
from explorer.model.graph import Arguments

AXES = "axes"
"""The parameter of reductions."""


def axes_in(arguments: Arguments) -> tuple[int, ...] | None:
    """The axes among some arguments; None where there are none."""
    axes = arguments.get(AXES)
    if not isinstance(axes, tuple):
        return None
    return tuple(axis for axis in axes if isinstance(axis, int))


def fitted(value: Any, read: Any, own: Sequence[int], axes: Sequence[int]) -> Any:
    """What a reduction of ``read`` over ``axes`` yields, repeated along those that the ``own`` ones keep.

    Raises ValueError where it keeps an axis that is none of its own.
    """
    kept = jnp.expand_dims(value, tuple(axes))
    whole = jnp.broadcast_to(
        kept,
        [kept.shape[it] if it in own else length for it, length in enumerate(read.shape)],
    )
    return jnp.squeeze(whole, tuple(own))


class BehindOtherAxes:
    """What is computed behind a reduction of the record ``number`` over other axes than its ``own``.

    JAX makes a mean of a sum by a division by how many it is of: that number changes with the axes.
    """

    def __init__(
        self, number: int, record: Record, shape: Sequence[int], axes: Sequence[int]
    ) -> None:
        own = record.params[AXES]
        self._repeated: set[Origin] = {(number, 0)}
        self._is_sum = record.op == "reduce_sum"
        self._own = math.prod(shape[axis] for axis in own)
        self._count = math.prod(shape[axis] for axis in axes)

    def computed(self, number: int, record: Record, values: Sequence[Any]) -> list[Any]:
        """What an operation behind the reduction yields.

        Raises ValueError where it reduces what was repeated: a sum would count one number several times.
        """
        if self._repeated.isdisjoint(record.origins):
            return record.computed(values)
        if AXES in record.params:
            raise ValueError("what is repeated is reduced")
        if len(values) == 1:
            self._repeated.add((number, 0))
        place = literals(record).get("y") if self._is_sum and record.op == "div" else None
        if place is None or np.asarray(record.operands[place]).item() != self._own:
            return record.computed(values)
        operands = list(record.operands)
        operands[place] = np.asarray(self._count, np.asarray(operands[place]).dtype)
        operands[1 - place] = values[0]
        return run(record.primitive, operands, record.params)
