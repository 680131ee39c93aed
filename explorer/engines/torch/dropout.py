"""Dropout layers of PyTorch's nets with given masks, and the refusal of any other random numbers."""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from explorer.engines.torch.operators import draws_random_numbers
from explorer.model.errors import RefusedNetError
from explorer.numeric.random_arrays import ALL_AXES, channel_mask
from explorer.scenario.declaration import Declaration
from explorer.scenario.find import files_read
from explorer.scenario.load import load, make_net

DROPOUTS = {nn.Dropout: 0, nn.Dropout1d: 1, nn.Dropout2d: 2, nn.Dropout3d: 3}
"""The layers that are replaced, and the number of last axes along which each drops all or nothing.

A class that is derived from one of them and has no forward of its own is replaced like it.
"""

DEPTHS = ("DropPath", "StochasticDepth")
"""Names of classes of timm, torchvision and many nets that drop whole samples."""

RATES = ("drop_prob", "p", "drop_rate", "drop_path", "rate", "prob")
"""Names of the attribute that is the rate of such a class, as nets have it."""

Shape = tuple[int, ...]


class DropRule(NamedTuple):
    """What a layer drops: a share of elements, alike along its last ``spatial`` axes.

    As in channel_mask, a negative ``spatial`` counts axes in front. What is kept is multiplied by
    ``scale`` and enlarged.
    """

    rate: float
    spatial: int
    scale: float = 1.0


def drop_rule(module: Any) -> DropRule | None:
    """What a layer drops in training; None for one that is not replaced, or drops nothing."""
    if not module.training:
        return None
    kind: Any
    for kind in type(module).__mro__:
        is_known = kind in DROPOUTS or kind.__name__ in DEPTHS
        # Whatever a forward of its own does besides would be lost.
        if is_known and type(module).forward is kind.forward:
            rule = _rule_of(module, kind)
            return rule if rule.rate > 0 else None
    return None


def _rule_of(module: Any, kind: Any) -> DropRule:
    if kind in DROPOUTS:
        return DropRule(module.p, DROPOUTS[kind])
    rates = (getattr(module, name, None) for name in RATES)
    rate = next((rate for rate in rates if isinstance(rate, (int, float))), 0.0)
    # torchvision's "batch" drops all samples or none.
    spatial = ALL_AXES if getattr(module, "mode", "row") == "batch" else -1
    scale = 1.0 if getattr(module, "scale_by_keep", True) else 1 - rate
    return DropRule(rate, spatial, scale)


class FixedDropout(nn.Module):  # type: ignore[misc]  # torch is untyped here
    """Dropout by masks that are constants, one for each shape that it is called with.

    ``p`` is the rate, for a net that reads it; ``replaced`` holds the layer in whose place this is.
    """

    def __init__(self, rate: float, masks: dict[Shape, torch.Tensor], layer: nn.Module) -> None:
        super().__init__()
        self.p = rate
        self.replaced = (layer,)  # in a tuple, which is no part of the net
        # As attributes: Dynamo's graph finds neither a tensor in a dict nor one that a function
        # marked as constant returns (torch 2.13).
        for shape, mask in masks.items():
            setattr(self, _attribute(shape), mask)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """What is left of ``x``, enlarged."""
        return x * getattr(self, _attribute(tuple(x.shape)))


def _attribute(shape: Shape) -> str:
    """The name of the mask for a shape."""
    return "mask_" + "_".join(str(length) for length in shape)


def fix_dropout(net: Any, scenario: Declaration, device: str) -> dict[str, float]:
    """Put fixed masks in the place of the dropout layers of a net, which is in its mode already.

    They are those with a DropRule that its forward calls; the share that each drops, by its path.
    """
    if not any(map(drop_rule, net.modules())):
        return {}
    files = tuple(sorted(files_read(scenario.path).items()))
    masked = {}
    shapes_by_path = _shapes(str(scenario.path), files)
    for path, shapes in shapes_by_path.items():
        layer = net.get_submodule(path)
        rule = drop_rule(layer)
        if rule is None:
            continue
        masks = {}
        for shape in shapes:
            mask = channel_mask(shape, rule.rate, rule.spatial) * np.float32(rule.scale)
            masks[shape] = torch.from_numpy(mask).to(device)
        owner_path, _, attribute = path.rpartition(".")
        setattr(net.get_submodule(owner_path), attribute, FixedDropout(rule.rate, masks, layer))
        masked[path] = rule.rate
    return masked


@lru_cache
def _shapes(scenario: str, _files: tuple[tuple[str, str], ...]) -> dict[str, list[Shape]]:
    """The shapes that each dropout layer is called with in one forward, by its path.

    ``_files`` are the digests of the scenario's files, by their names.
    """
    shapes: dict[str, list[Shape]] = {}
    default = torch.get_default_dtype()
    # The oracle makes float64 the default, which the inputs of this run are not.
    torch.set_default_dtype(torch.float32)
    try:
        _run_noting(load(Path(scenario)), shapes)
    finally:
        torch.set_default_dtype(default)
    return shapes


def _run_noting(scenario: Declaration, shapes: dict[str, list[Shape]]) -> None:
    """Run a net of a scenario once, and note its dropouts as they are called."""
    net = make_net(scenario, "torch").train(scenario.train)
    for path, module in net.named_modules():
        if drop_rule(module) and path:
            module.register_forward_pre_hook(_noting(path, shapes))
    with torch.no_grad():
        net(*(torch.from_numpy(array) for array in scenario.inputs().values()))


def _noting(path: str, shapes: dict[str, list[Shape]]) -> Callable[[Any, Any], None]:
    def hook(_module: Any, arguments: tuple[torch.Tensor, ...]) -> None:
        shapes.setdefault(path, []).append(tuple(arguments[0].shape))

    return hook


class RefusedDraws(TorchDispatchMode):  # type: ignore[misc]  # torch is untyped here
    """Raises RefusedNetError where an operator draws random numbers."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if draws_random_numbers(func):
            raise RefusedNetError("random_operator", "PyTorch", str(func))
        return func(*args, **(kwargs or {}))
