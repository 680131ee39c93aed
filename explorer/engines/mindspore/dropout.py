"""Dropout layers of MindSpore's nets with given masks, and the refusal of any other random numbers."""

from typing import Any

import mindspore as ms
from mindspore import mint, nn
from mindspore.ops import constexpr
from mindspore.utils.ms_dispatch import MsDispatchMode

from explorer.engines.mindspore.operators import draws_random_numbers
from explorer.model.errors import RefusedNetError
from explorer.numeric.random_arrays import channel_mask

DROPOUTS = {nn.Dropout: 0, nn.Dropout1d: 1, nn.Dropout2d: 2, nn.Dropout3d: 3, mint.nn.Dropout: 0}
"""The layers that are replaced, and the number of last axes along which each drops all or nothing."""


@constexpr  # type: ignore[untyped-decorator]  # mindspore ships no types
def _mask(shape: tuple[int, ...], rate: float, spatial: int) -> Any:
    """A mask, which the compiler takes for a constant."""
    return ms.Tensor(channel_mask(shape, rate, spatial))


class FixedDropout(nn.Cell):  # type: ignore[misc]  # likewise
    """Dropout by masks that are constants, one for each shape.

    ``p`` and ``keep_prob`` are for a net that reads them.
    """

    def __init__(self, rate: float, spatial: int) -> None:
        super().__init__()
        self.rate = self.p = rate
        self.keep_prob = 1 - rate
        self.spatial = spatial

    def construct(self, x):  # type: ignore[no-untyped-def]  # noqa: ANN201, ANN001  # compiled
        """What is left of ``x``, enlarged."""
        return x * _mask(x.shape, self.rate, self.spatial)


def fix_dropout(cell: Any) -> dict[str, float]:
    """Put fixed masks in the place of the dropout layers of a Cell, which is in its mode already.

    They are those of DROPOUTS that drop anything; the share that each drops, by its path.
    """
    masked = {}
    for path, dropout in list(cell.cells_and_names()):
        if type(dropout) in DROPOUTS and path and dropout.training and _rate(dropout) > 0:
            fixed = FixedDropout(_rate(dropout), DROPOUTS[type(dropout)])
            _replace(cell, path, fixed)
            masked[path] = fixed.p
    return masked


def _rate(dropout: Any) -> float:
    """The share of elements that a dropout drops."""
    # Each class calls it otherwise, and nn.Dropout takes keep_prob where it has no p (2.10.0).
    for attribute in ("p", "prob"):
        rate = getattr(dropout, attribute, None)
        if rate is not None:
            return float(rate)
    return 1 - float(dropout.keep_prob)


def _replace(cell: Any, path: str, replacement: Any) -> None:
    owner_path, _, attribute = path.rpartition(".")
    owner = dict(cell.cells_and_names())[owner_path]
    owner._cells[attribute] = replacement
    if hasattr(owner, "cell_list"):
        # A SequentialCell runs this list, not its Cells by name (2.10.0).
        owner.cell_list = list(owner._cells.values())


class RefusedDraws(MsDispatchMode):  # type: ignore[misc]  # mindspore ships no types
    """Raises RefusedNetError where an operator draws random numbers."""

    def __ms_dispatch__(
        self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None
    ) -> Any:
        if draws_random_numbers(func.name):
            raise RefusedNetError("random_operator", "MindSpore", func.name)
        return func(*args, **(kwargs or {}))
