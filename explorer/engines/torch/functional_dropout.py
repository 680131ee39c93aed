"""PyTorch's dropout functions with given masks, alike in every engine."""

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional

from explorer.engines.torch.versions import offered
from explorer.numeric.random_arrays import channel_mask

FUNCTIONS = {"dropout": 0, "dropout1d": 1, "dropout2d": 2, "dropout3d": 3}
"""The functions that are replaced, and the number of last axes along which each drops all or nothing."""

ORIGINALS = {name: getattr(functional, name) for name in FUNCTIONS}

_rates: dict[str, float] = {}


# Written out: before torch 2.7 one is not read off the function (list[int]).
SCHEMA = "(SymInt[] shape, float rate, SymInt spatial, Device device, ScalarType dtype) -> Tensor"


def _mask(
    shape: list[int], rate: float, spatial: int, device: torch.device, dtype: torch.dtype
) -> torch.Tensor:
    """The factor of each element of a tensor of ``shape``, or of each channel."""
    mask = channel_mask(tuple(shape), rate, spatial)
    return torch.from_numpy(mask).to(device, dtype)


def _fake_mask(
    shape: list[int], rate: float, spatial: int, device: torch.device, dtype: torch.dtype
) -> torch.Tensor:
    channels = list(shape[: len(shape) - spatial]) + [1] * spatial
    return torch.empty(channels, device=device, dtype=dtype)


# An operator of its own: Dynamo neither looks into it nor keeps its value as a constant of the graph.
# Its name must not read like that of an operator that draws.
given_mask = offered("custom_operator")("explorer::given_mask", SCHEMA, _mask, _fake_mask)


def _with_given_mask(name: str) -> Callable[..., torch.Tensor]:
    spatial = FUNCTIONS[name]

    def dropout(
        input: torch.Tensor,
        p: float = 0.5,
        training: bool = True,
        inplace: bool = False,
    ) -> torch.Tensor:
        if not training or p == 0:
            return input
        _rates[f"torch.nn.functional.{name}"] = p
        mask = given_mask(list(input.shape), p, spatial, input.device, input.dtype)
        return input.mul_(mask) if inplace else input * mask

    return dropout


GIVEN = {name: _with_given_mask(name) for name in FUNCTIONS}


def give_masks(shares_dropout: bool) -> None:
    """Give masks to the dropout functions from now on, or let them draw their own again."""
    forget_rates()
    functions: dict[str, Any] = GIVEN if shares_dropout else ORIGINALS
    for name, function in functions.items():
        setattr(functional, name, function)


def forget_rates() -> None:
    """Forget what the functions dropped so far."""
    _rates.clear()


def rates() -> dict[str, float]:
    """The share that each function dropped when it was called last, since masks were given."""
    return dict(_rates)
