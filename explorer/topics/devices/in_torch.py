"""Devices as PyTorch has them: what it sees, where tensors live, what moves them, what comes back
to the host.
"""

import torch
from torch import nn

from explorer.engines.torch.about import about
from explorer.model.measurement import Ask, Found
from explorer.model.requests import Nothing
from explorer.topics.attempts import attempt

KINDS = ("cpu", "cuda", "mps", "xpu")
"""Kinds that PyTorch has a module for."""

NO_DATA = "meta"
"""A device that is everywhere: tensors there have a shape and no numbers."""


def sees(ask: Ask) -> Found:
    """Which kinds of device there are here, and how many."""
    there = {kind: bool(getattr(torch, kind).is_available()) for kind in KINDS}
    counts = {kind: getattr(torch, kind).device_count() if there[kind] else 0 for kind in KINDS}
    return Found({"usable": about(Nothing()).devices, "available": there, "count": counts})


def lives(ask: Ask) -> Found:
    """Where a tensor, a parameter, a result and a gradient are, without anything said about
    devices.
    """
    x, net = torch.ones(2, requires_grad=True), nn.Linear(2, 1)
    result = net(x)
    result.backward()
    where = {"tensor": x, "parameter": net.weight, "result": result, "gradient": x.grad}
    return Found({name: str(each.device) for name, each in where.items()})


def moves(ask: Ask) -> Found:
    """What `.to` does to a tensor and to a net after both were used, on each device here and on one
    that is not.
    """
    x, net = torch.ones(2), nn.Linear(2, 1)
    net(x)
    others = [*(name for name in about(Nothing()).devices if name != "cpu"), NO_DATA]
    absent = [kind for kind in KINDS if not getattr(torch, kind).is_available()]
    return Found(
        {
            "tensor_api": sorted(
                name for name in ("to", "move_to", "cpu", "cuda", "npu") if hasattr(x, name)
            ),
            "net_api": sorted(
                name for name in ("to", "cpu", "cuda", "npu", "move_to") if hasattr(net, name)
            ),
            "tensor_to": {name: str(x.to(name).device) for name in others},
            "net_to": {
                name: [str(each.device) for each in net.to(name).parameters()] for name in others
            },
            "to_absent": {
                kind: attempt(lambda kind=kind: str(x.to(kind).device)) for kind in absent
            },
            "mixed": {
                name: attempt(lambda name=name: str((x + x.to(name)).device)) for name in others
            },
        }
    )


def host(ask: Ask) -> Found:
    """What reads a result as numbers of the host at once, on the CPU and on every other device."""
    others = [name for name in about(Nothing()).devices if name != "cpu"]
    net, x = nn.Linear(2, 1), torch.tensor([1.0, 2.0])
    nn.init.ones_(net.weight)
    nn.init.zeros_(net.bias)
    return Found(
        {
            "result_with_tape": attempt(lambda: net(x).numpy().tolist()),
            "result_detached": attempt(lambda: net(x).detach().numpy().tolist()),
            "elsewhere": {
                name: attempt(lambda name=name: x.to(name).numpy().tolist())
                for name in (*others, NO_DATA)
            },
            "elsewhere_by_cpu": {
                name: attempt(lambda name=name: x.to(name).cpu().numpy().tolist())
                for name in others
            },
        }
    )
