"""Devices in PyTorch: which there are, where tensors live, what moves them, reading them."""

from typing import Any

import torch
from torch import nn

from explorer.engines.torch.about import about
from explorer.model.measurement import Ask, Found
from explorer.model.requests import Nothing
from explorer.topics.attempts import attempt
from explorer.topics.in_torch import numbers
from explorer.topics.scenario_nets import covering_answers

KINDS = ("cpu", "cuda", "mps", "xpu")
"""The kinds of device that are looked for; PyTorch has a module for each (2.2 to 2.15)."""

NO_DATA = "meta"
"""A device that is everywhere: tensors there have a shape and no numbers."""


def is_available(kind: str) -> bool:
    """Whether PyTorch has a device of a kind here."""
    # Neither has a function for it in the oldest versions: torch.mps before 2.5, torch.xpu before 2.4.
    module = torch.backends.mps if kind == "mps" else getattr(torch, kind)
    is_available = getattr(module, "is_available", bool)
    return bool(is_available())


def usable_beside_the_cpu() -> list[str]:
    """The devices here that hold numbers, without the CPU."""
    return [device for device in about(Nothing()).devices if device != "cpu"]


def sees(ask: Ask) -> Found:
    """Which kinds of device there are here, and which can be used."""
    available: dict[str, bool] = {}
    for kind in KINDS:
        available[kind] = is_available(kind)
    return Found({"usable": about(Nothing()).devices, "available": available})


def lives(ask: Ask) -> Found:
    """Where tensor, parameter, result and gradient are when no device is named."""
    x, net = torch.ones(2, requires_grad=True), nn.Linear(2, 1)
    result = net(x)
    result.backward()
    tensors = {"tensor": x, "parameter": net.weight, "result": result, "gradient": x.grad}
    return Found({name: str(tensor.device) for name, tensor in tensors.items()})


def moves(ask: Ask) -> Found:
    """What `.to` does to a tensor and a net after use, on each device here and on absent ones."""
    x, net = torch.ones(2), nn.Linear(2, 1)
    net(x)
    movers = sorted(ask.options["movers"])
    tensor_to: dict[str, str] = {}
    net_to: dict[str, list[str]] = {}
    mixed: dict[str, Any] = {}
    for device in (*usable_beside_the_cpu(), NO_DATA):
        tensor_to[device] = device_after_move(x, device)
        net_to[device] = devices_after_move(net, device)
        mixed[device] = attempt(device_of_mixed_sum, x, device)

    to_absent: dict[str, Any] = {}
    for kind in KINDS:
        if not is_available(kind):
            to_absent[kind] = attempt(device_after_move, x, kind)
    return Found(
        {
            "usable": usable_beside_the_cpu(),
            "tensor_api": [name for name in movers if hasattr(x, name)],
            "net_api": [name for name in movers if hasattr(net, name)],
            "tensor_to": tensor_to,
            "net_to": net_to,
            "to_absent": to_absent,
            "mixed": mixed,
        }
    )


def device_after_move(tensor: torch.Tensor, device: str) -> str:
    """Where a tensor is once ``to`` has taken it to a device."""
    return str(tensor.to(device).device)


def devices_after_move(net: nn.Module, device: str) -> list[str]:
    """Where the parameters of a net are once ``to`` has taken it to a device."""
    return [str(parameter.device) for parameter in net.to(device).parameters()]


def device_of_mixed_sum(tensor: torch.Tensor, device: str) -> str:
    """Where the sum of a tensor here and its copy on another device is."""
    return str((tensor + tensor.to(device)).device)


def host(ask: Ask) -> Found:
    """What reads a result as numbers of the host at once, on the CPU and on every other device."""
    net, x = nn.Linear(2, 1), torch.tensor([1.0, 2.0])
    nn.init.ones_(net.weight)
    nn.init.zeros_(net.bias)
    result = net(x)
    elsewhere: dict[str, Any] = {}
    elsewhere_by_cpu: dict[str, Any] = {}
    for device in usable_beside_the_cpu():
        elsewhere[device] = attempt(read_from, x, device)
        elsewhere_by_cpu[device] = attempt(read_by_cpu, x, device)
    elsewhere[NO_DATA] = attempt(read_from, x, NO_DATA)
    return Found(
        {
            "result_with_tape": attempt(read, result),
            "result_detached": attempt(read, result.detach()),
            "elsewhere": elsewhere,
            "elsewhere_by_cpu": elsewhere_by_cpu,
        }
    )


def read(tensor: torch.Tensor) -> Any:
    """The numbers that ``numpy`` gives."""
    return tensor.numpy().tolist()


def read_from(tensor: torch.Tensor, device: str) -> Any:
    """The numbers that ``numpy`` gives of a copy on a device."""
    return read(tensor.to(device))


def read_by_cpu(tensor: torch.Tensor, device: str) -> Any:
    """The numbers that ``numpy`` gives of a copy on a device that ``cpu`` has brought back."""
    return read(tensor.to(device).cpu())


def matrix(ask: Ask) -> Found:
    """Cases on each device, the CPU first."""
    engine = f"torch-{ask.options['style']}"
    return Found(covering_answers(ask, engine, about(Nothing()).devices))


def outputs(ask: Ask) -> Found:
    """On each device here: where an output is, and what writing to it and to its array does."""
    figures: dict[str, Any] = {}
    for device in about(Nothing()).devices:
        figures[device] = {
            "device": str(output_on(device).device),
            "element written": attempt(write_element, output_on(device)),
            "array written": attempt(write_array, output_on(device)),
            "array of the detached written": attempt(write_array, output_on(device).detach()),
        }
    return Found(figures)


def output_on(device: str) -> torch.Tensor:
    """What a layer with weights of one gives."""
    net = nn.Linear(3, 2)
    nn.init.ones_(net.weight)
    nn.init.zeros_(net.bias)
    output: torch.Tensor = net.to(device)(torch.tensor([[1.0, 2.0, 3.0]], device=device))
    return output


def write_element(output: torch.Tensor) -> Any:
    """The output after one of its elements was set."""
    output[0, 0] = 7.0
    return numbers(output)


def write_array(output: torch.Tensor) -> Any:
    """The output after an element was set of the array that numpy gives."""
    output.numpy()[0, 0] = 7.0
    return numbers(output)
