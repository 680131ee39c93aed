"""MindSpore's gradients asked for again, cut off, changed in place, hooked, or of one tensor twice."""

from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn, ops

from explorer.engines.mindspore.net import flat, forward
from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt, raised
from explorer.topics.in_mindspore import numbers, set_style
from explorer.topics.scenario_nets import net_request
from explorer.topics.tape_life import nets
from explorer.topics.tape_life.in_mindspore import first_output, fresh_net, gradient_function
from explorer.topics.tape_life.nets import by_each_argument


class FirstAlone(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """A net of two outputs without the second."""

    def __init__(self, net: Any) -> None:
        # Without a prefix of its own the parameters keep their names.
        super().__init__(auto_prefix=False)
        self.net = net

    def construct(self, x: Any, y: Any) -> Any:
        """The first output."""
        loss, _ = self.net(x, y)
        return loss


class ExtraStopped(FirstAlone):
    """A net whose second output passes no gradient on."""

    def construct(self, x: Any, y: Any) -> Any:
        """Both outputs."""
        loss, extra = self.net(x, y)
        return loss, ops.stop_gradient(extra)


def cut_off(ask: Ask) -> Found:
    """The derivative of x³ with ``stop_gradient`` or ``_no_grad`` around x²."""
    set_style(ask.options["style"], ask.device)
    return Found(
        {
            "plain": attempt(derivative, nets.cubes),
            "stop_gradient": attempt(derivative, square_stopped),
            "_no_grad": attempt(derivative, square_unrecorded),
        }
    )


def in_place(ask: Ask) -> Found:
    """The gradient when what is needed for it is changed in place."""
    set_style(ask.options["style"], ask.device)
    return Found(
        {
            "result": attempt(derivative, nets.changed_result),
            "operand": attempt(derivative, nets.changed_operand),
        }
    )


def hooks(ask: Ask) -> Found:
    """The gradient with a hook that doubles it, and the order in which a tape calls hooks."""
    set_style(ask.options["style"], ask.device)
    doubled = attempt(derivative, nets.hooked)
    # In graph style hooks are compiled with the net: no Python runs that could note an order.
    if ask.options["style"] == "graph":
        return Found({"doubled": doubled})
    return Found({"doubled": doubled, "order": order_of_hooks()})


def order_of_hooks() -> list[str]:
    """The hooks of one backward through a dense layer, in the order in which they were called."""
    order: list[str] = []
    layer = nn.Dense(2, 1, has_bias=False)
    layer.register_backward_pre_hook(lambda *_: order.append("module, before its backward"))
    layer.register_backward_hook(lambda *_: order.append("module, after its backward"))
    layer.weight.register_hook(lambda _: order.append("leaf"))

    def call(x: Any) -> Any:
        """The layer's sum, with a hook on its output."""
        y = layer(x)
        y.register_hook(lambda _: order.append("tensor"))
        return y.sum()

    ms.grad(call, None, ms.ParameterTuple([layer.weight]))(ms.Tensor(np.ones((1, 2), np.float32)))
    return order


def extra_output(ask: Ask) -> Found:
    """The weights' gradient when an extra output is differentiated along, or kept out.

    It is set aside with ``has_aux``, left out, or stopped.
    """
    figures: dict[str, Any] = {}
    for way in ("every output", "has_aux", "first output alone", "extra output stopped"):
        net = fresh_net(ask)
        call = net.call
        if way == "first output alone":
            call = FirstAlone(call)
        elif way == "extra output stopped":
            call = ExtraStopped(call)
        result = gradient_function(call, net, has_aux=way == "has_aux")(*net.arguments)
        figures[way] = numbers(next(flat(result)))
    return Found(figures)


def answers(ask: Ask) -> Found:
    """The engine's own answers to a scenario's gradient with respect to each input."""
    return Found(by_each_argument(net_request(ask, f"mindspore-{ask.options['style']}")))


def square_stopped(x: Any) -> Any:
    """x³ with x² behind ``stop_gradient``: x² is the derivative."""
    return (ops.stop_gradient(x * x) * x).sum()


def square_unrecorded(x: Any) -> Any:
    """x³ with x² computed under ``_no_grad``: x² is the derivative."""
    with ms._no_grad():
        square = x * x
    return (square * x).sum()


def derivative(call: Any) -> Any:
    """The derivative of ``call`` at [0, 1, 2] as numbers."""
    return numbers(ms.grad(call)(ms.Tensor(np.array([0, 1, 2], np.float32))))


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
