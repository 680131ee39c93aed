"""Buffers that a forward changes, running statistics above all, and their values afterwards."""

import torch

from explorer.engines.torch.net import Net


def changeable(net: Net) -> dict[str, torch.Tensor]:
    """The buffers and frozen parameters of a net, which a forward may change.

    Counters are integers and left out.
    """
    untrained = {name: value for name, value in net.state.items() if name not in net.trainable}
    return {name: value for name, value in untrained.items() if value.is_floating_point()}


def snapshot(net: Net) -> dict[str, torch.Tensor]:
    """Copies of the tensors of a net that a forward may change."""
    return {name: value.detach().clone() for name, value in changeable(net).items()}


def moved(net: Net, before: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The tensors of a snapshot that hold other values by now, as the net has them."""
    now = dict(net.state)
    if isinstance(net.call, torch.nn.Module):
        # A forward may have put other tensors in the place of its buffers.
        now.update(net.call.named_buffers())
    tensors = {}
    for name, value in before.items():
        if changed(value, now[name]):
            tensors[name] = now[name]
    return tensors


def changed(before: torch.Tensor, after: torch.Tensor) -> bool:
    """Whether any element is another one; a NaN that stays a NaN is none."""
    # torch.equal is fast, but calls a NaN another number than itself: only then look closer.
    if before is after or (before.dtype == after.dtype and torch.equal(before, after)):
        return False
    if before.shape != after.shape or not before.isnan().any():
        return True
    same = (before == after) | (before.isnan() & after.isnan())
    return not bool(same.all())
