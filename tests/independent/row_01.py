"""Row 1: grad of the guide's net by the first position."""

from typing import Any

from tests.independent.guide_net import W, X, Y, mindspore_arguments, mindspore_net, spelt


def closed_form() -> dict[str, Any]:
    """The gradient of (x·w − y)², which is 1."""
    error = float((X * W).sum() - Y)
    return {"values": [(2 * error * W).tolist(), 20.0]}


def in_mindspore() -> dict[str, Any]:
    """What grad returns."""
    import mindspore as ms

    net = mindspore_net()
    return spelt(ms.grad(net, 0, None, has_aux=True)(*mindspore_arguments()))
