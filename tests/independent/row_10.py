"""Row 10: value_and_grad in the seven ways of grad."""

from typing import Any

from tests.independent.guide_net import W, X, Y, mindspore_arguments, mindspore_net, spelt


def closed_form() -> dict[str, Any]:
    """The outputs, 1 and 20, and then what grad returns, from left to right."""
    error = float((X * W).sum() - Y)
    dx, dw = (2 * error * W).tolist(), (2 * error * X).tolist()
    gradients = {
        "0": [dx],
        "1": [-2 * error],
        "(0, 1)": [dx, -2 * error],
        "weights": [dw],
        "0, weights": [dx, dw],
        "(0, 1), weights": [dx, -2 * error, dw],
        "0, every output": [((2 * error + 1) * W).tolist()],
    }
    return {name: {"values": [error**2, 20.0, *values]} for name, values in gradients.items()}


def in_mindspore() -> dict[str, Any]:
    """What the widest call returns, and the one with every output."""
    import mindspore as ms

    net = mindspore_net()
    weights = ms.ParameterTuple(net.trainable_params())
    arguments = mindspore_arguments()
    widest = ms.value_and_grad(net, (0, 1), weights, has_aux=True)(*arguments)
    every = ms.value_and_grad(net, 0, None)(*arguments)
    return {"(0, 1), weights": spelt(widest), "0, every output": spelt(every)}
