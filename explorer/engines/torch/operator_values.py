"""What each operator of a run of PyTorch computes."""

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from explorer.engines.kink_births import Computed
from explorer.engines.torch.tensors import array_of


class OperatorValues(TorchDispatchMode):  # type: ignore[misc]  # torch is untyped here
    """Records what each operator of a run computes."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[Computed] = []

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        inputs = _tensors((args, kwargs))
        outputs = _tensors(result)
        values = tuple(array_of(output.detach().clone()) for output in outputs)
        # The tensors are held, so that no other one gets the identity of one of them.
        self.calls.append(Computed(func, inputs, outputs, values))
        return result


def _tensors(tree: Any) -> tuple[torch.Tensor, ...]:
    return tuple(leaf for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor))
