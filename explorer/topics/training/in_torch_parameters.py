"""How PyTorch's nets hand out their parameters."""

import torch
from torch import nn

from explorer.model.measurement import Ask, Found
from explorer.topics.training.given import RATE
from explorer.topics.training.in_torch_nets import fresh, state, tensors


def filtered(ask: Ask) -> Found:
    """What parameters() is, and one step of an optimizer that was given only the parameters with
    "fc" in their names.
    """
    net = fresh(ask.device)
    handed = net.parameters()
    count = len(list(handed))
    chosen = [(name, parameter) for name, parameter in net.named_parameters() if "fc" in name]
    before = state(net)
    optimizer = torch.optim.SGD([parameter for _, parameter in chosen], RATE)
    x, y = tensors(ask.device)[0]
    nn.functional.mse_loss(net(x), y).backward()
    optimizer.step()
    after = state(net)
    return Found(
        {
            "type": type(handed).__name__,
            "again": len(list(handed)) == count,
            "count": count,
            "chosen": [name for name, _ in chosen],
            "moved": sorted(
                name for name in before if before[name] != after[name] and "running" not in name
            ),
        }
    )
