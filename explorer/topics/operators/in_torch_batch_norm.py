"""Batch norm in PyTorch: every state it can be in, and what its momentum means."""

from typing import Any

import torch
from torch import nn

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.in_torch import numbers
from explorer.topics.operators.data import BATCH, BETA, COTANGENT, GAMMA, MEAN, MOMENTA, VARIANCE
from explorer.topics.operators.in_torch_styles import placed, styled


@placed
def batch_norm_states(ask: Ask) -> Found:
    """Output, running statistics afterwards and gradients for training or inference, with and
    without track_running_stats.
    """
    return Found(
        {
            f"track_running_stats={track}, {'training' if training else 'inference'}": attempt_briefly(
                _state, track, training, ask.options["style"]
            )
            for track in (True, False)
            for training in (True, False)
        }
    )


def _layer(**options: Any) -> Any:
    layer = nn.BatchNorm2d(2, **options)
    starts = {"weight": GAMMA, "bias": BETA, "running_mean": MEAN, "running_var": VARIANCE}
    own = layer.state_dict()
    layer.load_state_dict(
        {name: torch.tensor(start) for name, start in starts.items() if name in own}, strict=False
    )
    return layer


def _state(track: bool, training: bool, style: str) -> dict[str, Any]:
    layer = _layer(track_running_stats=track).train(training)
    given = torch.tensor(BATCH, requires_grad=True)
    output = styled(layer, style)(given)
    gradients = torch.autograd.grad(
        (output * torch.tensor(COTANGENT)).sum(), (given, layer.weight, layer.bias)
    )
    return {
        "output": numbers(output),
        "running": [numbers(layer.running_mean), numbers(layer.running_var)],
        "gradients": numbers(gradients),
    }


@placed
def batch_norm_momentum(ask: Ask) -> Found:
    """Running mean and variance after one training step, for 1 minus each of MindSpore's momenta,
    for the momenta themselves, and for the default.
    """
    complement = {str(momentum): _after_one_step(momentum=1 - momentum) for momentum in MOMENTA}
    same = {str(momentum): _after_one_step(momentum=momentum) for momentum in MOMENTA}
    return Found({"one_minus": complement, "same": same, "default": _after_one_step()})


def _after_one_step(**options: Any) -> list[Any]:
    layer = _layer(**options).train()
    layer(torch.tensor(BATCH))
    return [numbers(layer.running_mean), numbers(layer.running_var)]
