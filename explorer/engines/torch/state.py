"""Buffers that a forward changes, running statistics above all: which they are, and their values
afterwards.
"""

import torch

from explorer.engines.torch.net import Net


def watched(net: Net) -> dict[str, torch.Tensor]:
    """The buffers and frozen parameters of a net; counters are integers and left out."""
    return {
        name: value
        for name, value in net.state.items()
        if name not in net.trainable and value.is_floating_point()
    }


def snapshot(net: Net) -> dict[str, torch.Tensor]:
    """What a forward may change of a net, as it is now."""
    return {name: value.detach().clone() for name, value in watched(net).items()}


def moved(net: Net, before: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Those tensors of a snapshot that hold other values by now, as the net has them: a forward may
    have put others in place.
    """
    now = net.state | (
        dict(net.call.named_buffers()) if isinstance(net.call, torch.nn.Module) else {}
    )
    return {name: now[name] for name, value in before.items() if changed(value, now[name])}


def changed(before: torch.Tensor, after: torch.Tensor) -> bool:
    """Whether any element is another one; NaN that stays NaN is none."""
    if before is after or (before.dtype == after.dtype and torch.equal(before, after)):
        return False
    if before.shape != after.shape or not before.isnan().any():
        return True
    return not bool(((before == after) | (before.isnan() & after.isnan())).all())
