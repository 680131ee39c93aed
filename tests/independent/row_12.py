"""Row 12: the guide's loss and gradient scaled by 1024, and unscaled again."""

from typing import Any

from tests.independent.guide_net import W, X, Y, mindspore_arguments, mindspore_net


def closed_form() -> dict[str, Any]:
    """The loss (x·w − y)² and its gradient with respect to w, times 1024."""
    error = float((X * W).sum() - Y)
    loss, gradient = error**2, 2 * error * X
    return {
        "scaled": {"loss": 1024 * loss, "gradient": (1024 * gradient).tolist()},
        "unscaled": {"loss": loss, "gradient": gradient.tolist()},
    }


def in_mindspore() -> dict[str, Any]:
    """The same with StaticLossScaler, as the guide has it."""
    import mindspore as ms
    from mindspore.amp import StaticLossScaler, all_finite

    net, scaler = mindspore_net(), StaticLossScaler(1024)

    def forward(x: Any, y: Any) -> Any:
        loss, _ = net(x, y)
        return scaler.scale(loss)

    weights = ms.ParameterTuple(net.trainable_params())
    loss, gradients = ms.value_and_grad(forward, None, weights)(*mindspore_arguments())
    unscaled = scaler.unscale(gradients)
    return {
        "scaled": {"loss": float(loss), "gradient": gradients[0].asnumpy().tolist()},
        "unscaled": {
            "loss": float(scaler.unscale(loss)),
            "gradient": unscaled[0].asnumpy().tolist(),
        },
        "all finite": bool(all_finite(gradients)),
    }
