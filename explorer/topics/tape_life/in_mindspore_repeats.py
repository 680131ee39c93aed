"""What MindSpore does when a gradient is asked for again: with the same inputs, and with others."""

from typing import Any

import mindspore as ms
import numpy as np

from explorer.engines.mindspore.net import forward
from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt, raised
from explorer.topics.in_mindspore import numbers, set_style
from explorer.topics.tape_life import nets
from explorer.topics.tape_life.in_mindspore import first_output, fresh_net, gradient_function

CALLS = 3
"""How often one gradient function is called."""

INPUTS: tuple[Any, ...] = ([1.0, 2.0, 3.0], [0.5, -1.0, 2.0], [[1.0, 2.0], [3.0, 4.0]])
"""What one gradient function is called with: the last is of another shape."""


def called_again(ask: Ask) -> Found:
    """One gradient function called several times.

    Beside it, what a tensor or parameter has of PyTorch's ways to a second backward.
    """
    net = fresh_net(ask)
    # The scenario's logits are set aside: they are not to be differentiated.
    gradient = gradient_function(net.call, net, has_aux=True)
    gradients = [numbers(gradient(*net.arguments)[0]) for _ in range(CALLS)]
    loss = first_output(forward(fresh_net(ask)))
    return Found(
        {
            "gradients": gradients,
            "loss.backward": attribute(loss, "backward"),
            "weight.grad": attribute(net.weights[0], "grad"),
        }
    )


def attribute(holder: Any, name: str) -> Any:
    """An attribute in words, or what looking for it raised."""
    value = attempt(getattr, holder, name)
    return value if raised(value) else str(value)


def reused(ask: Ask) -> Found:
    """One function made by ``grad``, called with several values and shapes."""
    set_style(ask.options["style"], ask.device)
    gradient = ms.grad(nets.cubes)
    gradients = [numbers(gradient(ms.Tensor(np.array(values, np.float32)))) for values in INPUTS]
    return Found({"callable": callable(gradient), "inputs": list(INPUTS), "gradients": gradients})
