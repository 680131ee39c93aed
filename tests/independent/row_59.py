"""Row 59: what an optimizer tells of itself."""

from typing import Any

WANTED = (
    "state_dict",
    "load_state_dict",
    "get_lr",
    "get_last_lr",
    "param_groups",
    "add_param_group",
)


def in_torch() -> dict[str, Any]:
    """Which of the names torch.optim.SGD has, and what the scheduler says after a step."""
    import torch

    weight = torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    optimizer.step()
    scheduler.step()
    return {
        "has": {name: hasattr(optimizer, name) for name in WANTED},
        "get_last_lr": scheduler.get_last_lr(),
    }


def in_mindspore_tape() -> dict[str, Any]:
    """Which of the names nn.SGD has, and what get_lr returns."""
    from mindspore import nn

    optimizer = nn.SGD(nn.Dense(2, 2).trainable_params(), learning_rate=0.1)
    return {
        "has": {name: hasattr(optimizer, name) for name in WANTED},
        "get_lr": float(optimizer.get_lr().asnumpy()),
    }
