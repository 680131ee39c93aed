"""Devices as MindSpore has them: what it sees, where tensors live, what moves them, what comes back
to the host.
"""

from typing import Any

import mindspore as ms
from mindspore import hal, nn

from explorer.engines.mindspore.about import about
from explorer.model.measurement import Ask, Found
from explorer.model.requests import Nothing
from explorer.topics.attempts import attempt
from explorer.topics.in_mindspore import numbers, set_style

KINDS = ("CPU", "Ascend", "GPU")
"""What `set_device` has names for."""


def sees(ask: Ask) -> Found:
    """Which kinds of device there are here, how many, and what says so."""
    set_style("tape", ask.device)
    kinds = {kind: attempt(hal.is_available, kind) for kind in KINDS}
    counts = {
        kind: attempt(hal.device_count, kind) if there is True else 0
        for kind, there in kinds.items()
    }
    return Found({"usable": about(Nothing()).devices, "available": kinds, "count": counts})


def lives(ask: Ask) -> Found:
    """Where a tensor, a parameter, a result and a gradient are, without anything said about
    devices.
    """
    set_style("tape", ask.device)
    x, net = ms.Tensor([1.0, 2.0]), nn.Dense(2, 1, "ones")
    where = {"tensor": x, "parameter": net.weight, "result": net(x), "gradient": ms.grad(net)(x)}
    return Found(
        {name: attempt(lambda each=each: str(each.device)) for name, each in where.items()}
    )


def moves(ask: Ask) -> Found:
    """What choosing another device does, before and after something has run, and what a tensor and
    a net offer to move.
    """
    set_style("tape", ask.device)
    x, net = ms.Tensor([1.0, 2.0]), nn.Dense(2, 1)
    here = ms.get_context("device_target")
    others = [kind for kind in KINDS if kind != here]
    return Found(
        {
            "target": here,
            "tensor_api": sorted(
                name for name in ("to", "move_to", "cpu", "cuda", "npu") if hasattr(x, name)
            ),
            "net_api": sorted(
                name for name in ("to", "cpu", "cuda", "npu", "move_to") if hasattr(net, name)
            ),
            "move_to_same": attempt(lambda: numbers(x.move_to(here))),
            "move_to_other": {
                kind: attempt(lambda kind=kind: str(x.move_to(kind).device)) for kind in others
            },
            "set_device_again": attempt(lambda: ms.set_device(here, 1)),
            "set_device_other": {kind: attempt(ms.set_device, kind) for kind in others},
        }
    )


def host(ask: Ask) -> Found:
    """What reads a result as numbers of the host at once."""
    set_style("tape", ask.device)
    net = nn.Dense(2, 1, "ones", "zeros")
    result = net(ms.Tensor([1.0, 2.0]))
    read: dict[str, Any] = {
        "result": result,
        "parameter": net.weight,
        "gradient": ms.grad(net)(ms.Tensor([1.0, 2.0])),
    }
    return Found(
        {name: attempt(lambda each=each: each.asnumpy().tolist()) for name, each in read.items()}
    )
