"""Random numbers that a net draws although the masks of its dropout layers are given."""

from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode

from explorer.engines.failures import UNREACHED_DRAW
from explorer.engines.torch.operators import draws_random_numbers
from explorer.model.errors import UsageError


class RefusedDraws(TorchDispatchMode):  # type: ignore[misc]  # torch is untyped here
    """Raises UsageError where an operator draws random numbers."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if draws_random_numbers(func):
            raise UsageError(UNREACHED_DRAW.format(framework="PyTorch", operator=func))
        return func(*args, **(kwargs or {}))
