"""What PyTorch's schedulers and optimizers say of the rates of their groups."""

import torch
from torch.optim import lr_scheduler

from explorer.model.measurement import Ask, Found
from explorer.topics.schedules.arguments import END_RATE, GAMMA, RATE


def group_rates(ask: Ask) -> Found:
    """The rates of two groups, of which the first has its own, after one step of a schedule."""
    first = torch.ones(1, device=ask.device, requires_grad=True)
    second = torch.ones(1, device=ask.device, requires_grad=True)
    groups = [{"params": [first], "lr": RATE}, {"params": [second]}]
    optimizer = torch.optim.SGD(groups, END_RATE)
    scheduler = lr_scheduler.ExponentialLR(optimizer, GAMMA)
    optimizer.step()
    scheduler.step()
    return Found(
        {
            "get_last_lr": scheduler.get_last_lr(),
            "param_groups": [group["lr"] for group in optimizer.param_groups],
        }
    )
