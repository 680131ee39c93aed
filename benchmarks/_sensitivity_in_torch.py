"""A tape of PyTorch in which one operator's result is off by a given share, and all that follows."""

from typing import Any

import msgspec
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from explorer.engines.torch import tape
from explorer.engines.torch.noise import RandomRounding
from explorer.engines.torch.operators import gather_tensors, tensors_in, written_arguments
from explorer.model.requests import CaseRequest
from explorer.model.results import Captured


class Planting(msgspec.Struct, frozen=True):
    """A case, and the operator whose results are multiplied by 1 + ``share``.

    ``operator`` counts those that compute floating numbers, in the order in which they run. With
    ``sample`` n > 0 nothing is planted, and all results are rounded at random.
    """

    request: CaseRequest
    operator: int = -1
    share: float = 0.0
    sample: int = 0


class Planted(msgspec.Struct, frozen=True):
    """The capture, the number of operators that something can be planted at, and the one it was."""

    captured: Captured
    operators: int
    name: str


class _Scaled(TorchDispatchMode):  # type: ignore[misc]  # torch is untyped here
    """Multiplies the results of one operator."""

    def __init__(self, operator: int, share: float) -> None:
        super().__init__()
        self.count = 0
        self.name = ""
        self._operator = operator
        self._factor = 1 + share

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        operands: list[torch.Tensor] = []
        gather_tensors((*args, *kwargs.values()), operands)
        storages = {operand.untyped_storage().data_ptr() for operand in operands}
        # Views and what is written in place belong to the operator that computed the numbers.
        own = [
            tensor
            for tensor in tensors_in(result)
            if tensor.is_floating_point() and tensor.untyped_storage().data_ptr() not in storages
        ]
        if own and operands and written_arguments(func) == ((), ()):
            if self.count == self._operator:
                self.name = str(func)
                for tensor in own:
                    tensor.mul_(self._factor)
            self.count += 1
        return result


def capture(planting: Planting) -> Planted:
    """The tape of a case with its values, and the mistake in it."""
    request = planting.request
    if planting.sample:
        net = msgspec.structs.replace(request.net, jitter=planting.sample)
        request = msgspec.structs.replace(request, net=net)
        with RandomRounding(planting.sample):
            return Planted(tape.capture(request), 0, "")
    scaled = _Scaled(planting.operator, planting.share)
    with scaled:
        captured = tape.capture(request)
    return Planted(captured, scaled.count, scaled.name)
