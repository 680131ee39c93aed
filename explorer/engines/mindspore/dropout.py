"""Dropout of MindSpore's nets with given masks, and the refusal of any other random numbers."""

from typing import Any

import mindspore as ms
from mindspore import mint, nn, ops
from mindspore.ops import constexpr

from explorer.engines.mindspore.dispatch import MsDispatchMode
from explorer.engines.mindspore.operators import draws_random_numbers
from explorer.model.errors import RefusedNetError
from explorer.numeric.random_arrays import channel_mask

DROPOUTS = {
    nn.Dropout: 0,
    nn.Dropout1d: 1,
    nn.Dropout2d: 2,
    nn.Dropout3d: 3,
    mint.nn.Dropout: 0,
    mint.nn.Dropout2d: 2,
}
"""The layers that are replaced, and the number of last axes along which each drops all or nothing.

A class that is derived from one of them counts as that one.
"""

INNER = {nn.Dropout: "dropout", nn.Dropout2d: "dropout2d", nn.Dropout3d: "dropout3d"}
"""The attribute of a layer that has its operator.

Where a derived class has a construct of its own, that alone is replaced.
"""


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


class _FixedOperator(nn.Cell):  # type: ignore[misc]  # likewise
    """The same in the place of a layer's operator, which yields its mask too."""

    def __init__(self, rate: float, spatial: int) -> None:
        super().__init__()
        self.rate = rate
        self.spatial = spatial

    def construct(self, x):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202  # compiled
        """What is left of ``x``, enlarged, and the mask."""
        mask = _mask(x.shape, self.rate, self.spatial)
        return x * mask, mask


def fix_dropout(cell: Any) -> dict[str, float]:
    """Put fixed masks in the place of the dropout layers of a Cell, which is in its mode already.

    They are those of DROPOUTS that drop anything; the share that each drops, by its path.
    """
    masked = {}
    for path, layer in list(cell.cells_and_names()):
        kind: Any = next((kind for kind in type(layer).__mro__ if kind in DROPOUTS), None)
        if kind is None or not path or not layer.training or _rate(layer) <= 0:
            continue
        if type(layer).construct is kind.construct:
            _replace(cell, path, FixedDropout(_rate(layer), DROPOUTS[kind]))
        elif kind in INNER:
            operator = _FixedOperator(_rate(layer), DROPOUTS[kind])
            setattr(layer, INNER[kind], operator)
        else:
            continue
        masked[path] = _rate(layer)
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


@constexpr  # type: ignore[untyped-decorator]  # mindspore ships no types
def _given_mask(name: str, shape: tuple[int, ...], rate: float, spatial: int) -> Any:
    """The mask of a function, whose rate is noted when it runs or is compiled."""
    _rates[name] = rate
    return ms.Tensor(channel_mask(shape, rate, spatial))


# The compiler reads the source of these, and knows no closures over numbers.


def _dropout(input, p=0.5, training=True, seed=None):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    if not training or p == 0:
        return input
    return input * _given_mask("mindspore.ops.dropout", input.shape, p, 0)


def _dropout1d(input, p=0.5, training=True):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    if not training or p == 0:
        return input
    return input * _given_mask("mindspore.ops.dropout1d", input.shape, p, 1)


def _dropout2d(input, p=0.5, training=True):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    if not training or p == 0:
        return input
    return input * _given_mask("mindspore.ops.dropout2d", input.shape, p, 2)


def _dropout3d(input, p=0.5, training=True):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    if not training or p == 0:
        return input
    return input * _given_mask("mindspore.ops.dropout3d", input.shape, p, 3)


GIVEN = {
    (ops, "dropout"): _dropout,
    (ops, "dropout1d"): _dropout1d,
    (ops, "dropout2d"): _dropout2d,
    (ops, "dropout3d"): _dropout3d,
    (mint.nn.functional, "dropout"): _dropout,
    (mint.nn.functional, "dropout2d"): _dropout2d,
}
"""Functions with given masks, by the module and the name of that in whose place they are put."""

_rates: dict[str, float] = {}

ORIGINALS = {place: getattr(*place) for place in GIVEN}


def give_masks(shares_dropout: bool) -> None:
    """Give masks to the dropout functions from now on, or let them draw their own again."""
    _rates.clear()
    functions: dict[Any, Any] = GIVEN if shares_dropout else ORIGINALS
    for (module, name), function in functions.items():
        setattr(module, name, function)


def rates() -> dict[str, float]:
    """The share that each function dropped when it was called last, since masks were given."""
    return dict(_rates)


class RefusedDraws(MsDispatchMode):  # type: ignore[misc]  # mindspore ships no types
    """Raises RefusedNetError where an operator draws random numbers."""

    def __ms_dispatch__(
        self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None
    ) -> Any:
        if draws_random_numbers(func.name):
            raise RefusedNetError("random_operator", "MindSpore", func.name)
        return func(*args, **(kwargs or {}))
