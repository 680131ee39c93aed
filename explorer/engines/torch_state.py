"""Buffers that a forward changes, running statistics above all: which they are, and their values afterwards."""

import torch

from explorer.engines.torch_net import Net


def snapshot(net: Net) -> dict[str, torch.Tensor]:
    """The buffers and frozen parameters of a net as they are now; counters are integers and left out."""
    kept = {name: value for name, value in net.state.items() if name not in net.trainable and value.is_floating_point()}
    return {name: value.detach().clone() for name, value in kept.items()}


def moved(net: Net, before: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Those tensors of a snapshot that hold other values by now, as the net has them: a forward may have put others in place."""
    now = net.state | (dict(net.call.named_buffers()) if isinstance(net.call, torch.nn.Module) else {})
    return {name: now[name] for name, value in before.items() if changed(value, now[name])}


def changed(before: torch.Tensor, after: torch.Tensor) -> bool:
    """Whether any element is another one; NaN that stays NaN is none."""
    return before.shape != after.shape or not bool(((before == after) | (before.isnan() & after.isnan())).all())
