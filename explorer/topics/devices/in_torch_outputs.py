"""Where PyTorch's outputs are, and whether they can be written to at once."""

from typing import Any

import torch
from torch import nn

from explorer.engines.torch.about import about
from explorer.model.measurement import Ask, Found
from explorer.model.requests import Nothing
from explorer.topics.attempts import attempt
from explorer.topics.in_torch import numbers


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
