"""Row 59: what an optimizer tells of itself."""

from typing import Any

from tests.independent.attempts import attempt

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
        "loads": attempt(_loads_own, optimizer),
    }


def in_mindspore_tape() -> dict[str, Any]:
    """Which of the names nn.SGD has, and what get_lr returns."""
    from mindspore import nn
    from mindspore.experimental import optim

    optimizer = nn.SGD(nn.Dense(2, 2).trainable_params(), learning_rate=0.1)
    return {
        "has": {name: hasattr(optimizer, name) for name in WANTED},
        "get_lr": float(optimizer.get_lr().asnumpy()),
        "names": sorted(_after_a_step(nn).state_dict()),
        "experimental has": hasattr(optim.SGD, "state_dict"),
        "loads": {
            name: attempt(_loads_own, _after_a_step(module))
            for name, module in (("nn", nn), ("experimental", optim))
        },
    }


def _after_a_step(module: Any) -> Any:
    import mindspore as ms

    weight = ms.Parameter(ms.Tensor([1.0]), name="weight")
    optimizer = module.SGD([weight], 0.1, momentum=0.9)
    optimizer((ms.Tensor([1.0]),))
    return optimizer


def _loads_own(optimizer: Any) -> bool:
    optimizer.load_state_dict(optimizer.state_dict())
    return True
