"""Row 6: grad of the guide's net by both positions and the weights."""

from typing import Any

from tests.independent.guide_net import W, X, Y, mindspore_arguments, mindspore_net, spelt


def closed_form() -> dict[str, Any]:
    """The gradient of (x·w − y)², which is 1."""
    error = float((X * W).sum() - Y)
    return {"values": [(2 * error * W).tolist(), -2 * error, (2 * error * X).tolist(), 20.0]}


def in_mindspore() -> dict[str, Any]:
    """What grad returns."""
    import mindspore as ms

    net = mindspore_net()
    weights = ms.ParameterTuple(net.trainable_params())
    return spelt(ms.grad(net, (0, 1), weights, has_aux=True)(*mindspore_arguments()))
