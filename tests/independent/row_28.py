"""Row 28: the operators in the final graph of the gradient of the guide's net."""

from typing import Any

from tests.independent import mindspore_ir
from tests.independent.guide_net import mindspore_arguments, mindspore_net


def in_mindspore_graph() -> dict[str, Any]:
    """Those that compute the outputs and the gradients with respect to the input and the weight."""
    import mindspore as ms

    net = mindspore_net()
    weights = ms.ParameterTuple(net.trainable_params())
    ms.value_and_grad(net, 0, weights, has_aux=True)(*mindspore_arguments())
    operators = mindspore_ir.graphs()[-1]
    backward = sum(operator.backward for operator in operators)
    return {
        "forward": len(operators) - backward,
        "backward": backward,
        "update": 0,  # there is no optimizer
        "step": _of_a_step(),
    }


def _of_a_step() -> dict[str, int]:
    """Those of the loss, its gradient by the weight, and the update by momentum, in one graph."""
    import mindspore as ms
    from mindspore import nn

    net = mindspore_net()
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)

    def step(x: Any, y: Any) -> Any:
        gradient_of = ms.value_and_grad(net, None, optimizer.parameters, has_aux=True)
        outputs, gradients = gradient_of(x, y)
        optimizer(gradients)
        return outputs

    ms.jit(step)(*mindspore_arguments())
    operators = mindspore_ir.graphs()[-1]
    backward = sum(operator.backward for operator in operators)
    update = sum(operator.name in {"ApplyMomentum", "AssignAdd"} for operator in operators)
    forward = len(operators) - backward - update
    return {"forward": forward, "backward": backward, "update": update, "all": len(operators)}
