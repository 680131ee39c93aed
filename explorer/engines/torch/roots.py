"""Nets as modules that return just what is to be differentiated.

Listings show them to the reader, so this is plain PyTorch throughout.
"""

from collections.abc import Callable

import torch


class FirstOutput(torch.nn.Module):  # type: ignore[misc]  # torch is untyped here
    """A net of which only the first output is differentiated; the others pass as constants."""

    def __init__(self, net: Callable[..., tuple[torch.Tensor, ...]]) -> None:
        super().__init__()
        self.net = net

    def forward(self, *args: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """All outputs, of which just the first depends on the arguments for autograd."""
        first, *others = self.net(*args)
        return first, *[other.detach() for other in others]


class Gradient(torch.nn.Module):  # type: ignore[misc]  # torch is untyped here
    """The gradient of the sum of all elements that a net returns; again a net.

    It is taken with respect to the input at ``position``.
    """

    def __init__(
        self, net: Callable[..., torch.Tensor | tuple[torch.Tensor, ...]], position: int
    ) -> None:
        super().__init__()
        self.net = net
        self.position = position

    def total(self, *args: torch.Tensor) -> torch.Tensor:
        """The sum of all elements of all outputs."""
        outputs = self.net(*args)
        if isinstance(outputs, torch.Tensor):
            return outputs.sum()
        return sum(output.sum() for output in outputs)

    def forward(self, *args: torch.Tensor) -> torch.Tensor:
        """The gradient, of the shape of the argument at ``position``."""
        return torch.func.grad(self.total, self.position)(*args)
