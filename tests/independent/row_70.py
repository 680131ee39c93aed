"""Row 70: what the backward of the guide's net reads of its forward, in the compiled graph."""

from typing import Any

from tests.independent import mindspore_ir
from tests.independent.guide_net import W, X, Y, mindspore_arguments, mindspore_net

FLOAT = 4
"""Bytes of a number in float32."""


def closed_form() -> dict[str, Any]:
    """The gradient with respect to the weight is 2 (x·w − y) x: an error and the input are needed."""
    error = (X * W).sum() - Y
    inputs = ([1.0, 2.0, 3.0], [0.5, -1.0, 2.0], [[1.0, 2.0], [3.0, 4.0]])
    return {
        "tensors": 2,
        "bytes": FLOAT * error.size,
        "of inputs and parameters": FLOAT * X.size,
        "inputs": list(inputs),
        "gradients of cubes": [_tripled_squares(values) for values in inputs],
    }


def _tripled_squares(values: Any) -> Any:
    if isinstance(values, list):
        return [_tripled_squares(value) for value in values]
    return 3 * values**2


def in_mindspore_graph() -> dict[str, Any]:
    """What the compiler's last graph hands from operators of the forward to those of the backward."""
    import mindspore as ms

    net = mindspore_net()
    ms.value_and_grad(net, None, net.trainable_params(), has_aux=True)(*mindspore_arguments())
    return mindspore_ir.kept_for_the_backward()
