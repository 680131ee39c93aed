"""What MindSpore's optimizers hold for each parameter, by the names that PyTorch has for it."""

from collections.abc import Callable
from typing import Any

import mindspore as ms

TORCH_NAMES: dict[str, dict[str, str]] = {
    "Adam": {"moment1": "exp_avg", "moment2": "exp_avg_sq", "vhat": "max_exp_avg_sq"},
    "AdamWeightDecay": {"moments1": "exp_avg", "moments2": "exp_avg_sq"},
    "Adagrad": {"accum": "sum"},
    "Momentum": {"moments": "momentum_buffer"},
    "RMSProp": {"ms": "square_avg", "mg": "grad_avg", "moment": "momentum_buffer"},
    "SGD": {"accum": "momentum_buffer"},
}
"""Attributes of optimizers of mindspore.nn, by class, and their names in torch.optim (2.10.0, 2.13)."""

SHARED = frozenset(name for names in TORCH_NAMES.values() for name in names.values())
"""What both frameworks hold for each parameter; the rest are counters, or one's own way."""


def state_of(optimizer: Any, name_of: Callable[[Any], str | None]) -> dict[str, Any]:
    """The tensors that an optimizer holds: "fc.weight.exp_avg", "Adam.global_step".

    ``name_of`` gives the names of parameters.
    """
    kinds = [kind.__name__ for kind in type(optimizer).__mro__]
    known = next((TORCH_NAMES[kind] for kind in kinds if kind in TORCH_NAMES), {})
    parameters = list(optimizer.parameters)
    own = {id(parameter) for parameter in parameters}
    held: dict[str, Any] = {}
    for attribute, value in vars(optimizer).items():
        if isinstance(value, (tuple, list)) and len(value) == len(parameters):
            for parameter, tensor in zip(parameters, value, strict=True):
                name = name_of(parameter)
                if name and isinstance(tensor, ms.Parameter) and id(tensor) not in own:
                    held[f"{name}.{known.get(attribute, attribute)}"] = tensor
    for path, tensor in optimizer.parameters_and_names():
        if id(tensor) not in own and all(tensor is not it for it in held.values()):
            held[f"{kinds[0]}.{path}"] = tensor
    return held
