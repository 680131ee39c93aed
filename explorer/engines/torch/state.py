"""Buffers that a forward changes, running statistics above all: which they are, and their values
afterwards.
"""

import torch

from explorer.engines.torch.net import Net


def changeable(net: Net) -> dict[str, torch.Tensor]:
    """The buffers and frozen parameters of a net, which a forward may change; counters are integers
    and left out.
    """
    names = [name for name in net.state if name not in net.trainable]
    return {name: net.state[name] for name in names if net.state[name].is_floating_point()}


def snapshot(net: Net) -> dict[str, torch.Tensor]:
    """What a forward may change of a net, as it is now."""
    return {name: value.detach().clone() for name, value in changeable(net).items()}


def moved(net: Net, before: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Those tensors of a snapshot that hold other values by now, as the net has them."""
    now = dict(net.state)
    if isinstance(net.call, torch.nn.Module):
        # A forward may have put other tensors in the place of its buffers.
        now.update(net.call.named_buffers())
    return {name: now[name] for name, value in before.items() if changed(value, now[name])}


def changed(before: torch.Tensor, after: torch.Tensor) -> bool:
    """Whether any element is another one; a NaN that stays a NaN is none."""
    if before is after or (before.dtype == after.dtype and torch.equal(before, after)):
        return False
    if before.shape != after.shape or not before.isnan().any():
        return True
    same = (before == after) | (before.isnan() & after.isnan())
    return not bool(same.all())
