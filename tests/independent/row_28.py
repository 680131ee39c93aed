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
    return {"forward": len(operators) - backward, "backward": backward}
