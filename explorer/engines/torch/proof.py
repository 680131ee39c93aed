"""Operators of PyTorch's graphs on the operands that were recorded, for proofs of their values."""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from explorer.engines.capture.proof import RANDOM, Operand, Rerun
from explorer.engines.torch.operators import draws_random_numbers, written_arguments

Tensors = list[torch.Tensor]


def rerun(
    operator: Any,
    operands: Sequence[Operand],
    compute: Callable[[Tensors], Tensors],
    excuse: str = "",
) -> Rerun | str:
    """How an operator is computed again, or why that would prove nothing."""
    if draws_random_numbers(operator):
        return RANDOM
    writes = any(written_arguments(operator))

    def without_tape(values: Tensors) -> Tensors:
        with torch.no_grad():
            return compute(values)

    return Rerun(tuple(operands), without_tape, writes, excuse)


def copy_of(tensor: torch.Tensor) -> torch.Tensor:
    """A copy that an operator may write to."""
    return tensor.detach().clone()
