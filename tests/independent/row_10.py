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
    """What the seven calls return."""
    import mindspore as ms

    net = mindspore_net()
    weights = ms.ParameterTuple(net.trainable_params())
    calls: dict[str, tuple[Any, Any, bool]] = {
        "0": (0, None, True),
        "1": (1, None, True),
        "(0, 1)": ((0, 1), None, True),
        "weights": (None, weights, True),
        "0, weights": (0, weights, True),
        "(0, 1), weights": ((0, 1), weights, True),
        "0, every output": (0, None, False),
    }
    figures = {}
    for name, (position, chosen, has_aux) in calls.items():
        function = ms.value_and_grad(net, position, chosen, has_aux=has_aux)
        figures[name] = spelt(function(*mindspore_arguments()))
    return figures
