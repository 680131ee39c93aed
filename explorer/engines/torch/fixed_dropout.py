"""Dropout layers of PyTorch's nets with masks that are given, for scenarios with SAME_DROPOUT."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from torch import nn

from explorer.model.errors import UsageError
from explorer.numeric.dropout_masks import dropout_mask
from explorer.scenario.contract import Scenario
from explorer.scenario.load import load


class FixedDropout(nn.Module):  # type: ignore[misc]  # torch is untyped here
    """Dropout by a mask that is a constant."""

    def __init__(self, mask: torch.Tensor) -> None:
        super().__init__()
        self.mask = mask

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """What is left of ``x``, enlarged."""
        return x * self.mask


def fix_dropout(net: Any, scenario: Scenario, device: str) -> None:
    """Put fixed masks in the place of the dropout layers of a net, which is in its mode already.

    Only ``nn.Dropout`` is such a layer. Raises UsageError for one that is called more than once.
    """
    calls = dropout_calls(str(scenario.path), scenario.path.stat().st_mtime_ns)
    for call, (path, shape) in enumerate(calls):
        owner_path, _, attribute = path.rpartition(".")
        rate = net.get_submodule(path).p
        mask = torch.from_numpy(dropout_mask(call, shape, rate)).to(device)
        setattr(net.get_submodule(owner_path), attribute, FixedDropout(mask))


@lru_cache
def dropout_calls(scenario: str, _changed: int) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """The path and the shape of each dropout that a forward calls, in the order of the calls.

    ``_changed`` is when the scenario's file was last written.
    """
    calls: list[tuple[str, tuple[int, ...]]] = []
    default = torch.get_default_dtype()
    # The oracle makes float64 the default, which the inputs of this run are not.
    torch.set_default_dtype(torch.float32)
    try:
        _run_noting(load(Path(scenario)), calls)
    finally:
        torch.set_default_dtype(default)

    paths = [path for path, _ in calls]
    for path in paths:
        if paths.count(path) > 1:
            raise UsageError(
                f"SAME_DROPOUT: the dropout {path!r} of PyTorch's net is called {paths.count(path)}"
                " times in one forward; give each call a layer of its own"
            )
    return tuple(calls)


def _run_noting(scenario: Scenario, calls: list[tuple[str, tuple[int, ...]]]) -> None:
    """Run a net of a scenario once, and note its dropouts as they are called."""
    assert scenario.torch_net is not None
    net = scenario.torch_net().train(scenario.train)
    for path, module in net.named_modules():
        if isinstance(module, nn.Dropout) and path:
            module.register_forward_pre_hook(_noting(path, calls))
    with torch.no_grad():
        net(*(torch.from_numpy(array) for array in scenario.inputs().values()))


def _noting(path: str, calls: list[tuple[str, tuple[int, ...]]]) -> Any:
    def hook(module: Any, arguments: tuple[torch.Tensor, ...]) -> None:
        if module.training and module.p > 0:
            calls.append((path, tuple(arguments[0].shape)))

    return hook
