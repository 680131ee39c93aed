"""Where MindSpore's outputs are, and whether they can be written to at once."""

from typing import Any

import mindspore as ms
from mindspore import nn

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt
from explorer.topics.devices.in_mindspore import device_of
from explorer.topics.in_mindspore import numbers, set_style


def outputs(ask: Ask) -> Found:
    """Where an output is, what writing to it does, and what writing to its array does."""
    set_style(ask.options["style"], ask.device)
    net = nn.Dense(3, 2, "ones", "zeros")
    x = ms.Tensor([[1.0, 2.0, 3.0]])
    return Found(
        {
            "target": ms.get_context("device_target"),
            "device": attempt(device_of, net(x)),
            "element written": attempt(write_element, net(x)),
            "array written": attempt(write_array, net(x)),
        }
    )


def write_element(output: Any) -> Any:
    """The output after one of its elements was set."""
    output[0, 0] = 7.0
    return numbers(output)


def write_array(output: Any) -> Any:
    """The output after an element was set of the array that asnumpy gives."""
    output.asnumpy()[0, 0] = 7.0
    return numbers(output)
