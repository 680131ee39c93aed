"""Row 25: a second backward through the guide's net."""

from typing import Any

from tests.independent.guide_net import (
    mindspore_arguments,
    mindspore_net,
    torch_leaves,
    torch_net,
)


def in_torch() -> dict[str, Any]:
    """What it raises, and .grad after each backward where the graph is retained."""
    x, y, w = torch_leaves()
    loss, _ = torch_net(x, y, w)
    loss.backward()
    try:
        loss.backward()
    except Exception as error:  # which class it is, is the question
        figures: dict[str, Any] = {"raised": type(error).__name__, "message": str(error)[:56]}

    w.grad = None
    loss, _ = torch_net(x, y, w)
    loss.backward(retain_graph=True)
    first = w.grad.tolist()
    loss.backward()
    figures["second"] = "ran"  # what was retained, without an error
    figures["retained"] = [first, w.grad.tolist()]
    return figures


def in_mindspore() -> dict[str, Any]:
    """What one gradient function returns, called three times."""
    import mindspore as ms

    net = mindspore_net()
    weights = ms.ParameterTuple(net.trainable_params())
    gradient_of = ms.grad(net, None, weights, has_aux=True)
    gradients = []
    for _ in range(3):
        (gradient,), _ = gradient_of(*mindspore_arguments())
        gradients.append([gradient.asnumpy().tolist()])
    return {"gradients": gradients}
