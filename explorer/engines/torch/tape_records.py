"""The record of an operator as it ran while a net went forward and backward."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from explorer.engines.source_lines import Line
from explorer.engines.torch.operators import tensors_in
from explorer.model.graph import NodeKind, Phase

Origin = tuple[int, int]
"""The origin of a tensor: the number of a record and that of its output, both from 0."""


@dataclass(slots=True)
class Record:
    """One operator as it ran, or (``operator`` None) a tensor that was there before.

    ``op`` is the operator's name, or the kind of such a tensor; ``kind`` tells sums that the autograd
    engine makes between two nodes ("accumulate"), and operators that made the seed of a pass or
    zeros for it ("constant"), from what the net asked for ("op"). ``operands`` are the tensors among
    the arguments, ``origins`` tells where they come from, ``written`` which of them it changed, and
    ``written_origins`` where these come from since. ``outputs`` are the tensors that it made, with
    the values that they had then. ``tape`` and ``sequence`` are the name and the sequence number of
    the tape node that ran it; if that is an AccumulateGrad node, ``leaf`` is where its leaf comes
    from. ``saved_bytes`` counts what the tape node that it made keeps for backward.
    """

    operator: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    phase: Phase
    origins: list[Origin]
    operands: list[torch.Tensor]
    op: str
    outputs: list[torch.Tensor] = field(default_factory=list)
    kind: NodeKind = "op"
    name: str = ""
    written: Sequence[torch.Tensor] = ()
    written_origins: Sequence[Origin] = ()
    scope: str = ""
    lines: tuple[Line, ...] = ()
    tape: str = ""
    sequence: int | None = None
    leaf: Origin | None = None
    saved_bytes: int = 0

    @property
    def is_leaf(self) -> bool:
        """Whether it stands for an input or a parameter."""
        return self.kind in ("input", "parameter")

    def run_again(self, operands: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """The outputs of the operator on ``operands`` in the place of those recorded."""
        # Operands are in the order in which gather_tensors() met them: args first, then kwargs.
        remaining = iter(operands)
        args = _filled(self.args, remaining)
        kwargs = _filled(self.kwargs, remaining)
        return tensors_in(self.operator(*args, **kwargs))


def _filled(value: Any, operands: Iterator[torch.Tensor]) -> Any:
    """Nested arguments with their tensors replaced in order."""
    if isinstance(value, torch.Tensor):
        return next(operands)
    if isinstance(value, (tuple, list)):
        return type(value)(_filled(item, operands) for item in value)
    if isinstance(value, dict):
        return {key: _filled(item, operands) for key, item in value.items()}
    return value
