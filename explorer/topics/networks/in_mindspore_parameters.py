"""Which of the Parameters that a Cell keeps in a list, a tuple or a ParameterTuple it registers."""

from typing import Any

import mindspore as ms
from mindspore import nn

from explorer.model.measurement import Ask, Found
from explorer.topics.in_mindspore import numbers, set_style


class Holding(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """Two Parameters in a container of some kind: a factor, and what is added."""

    def __init__(self, container: Any) -> None:
        super().__init__()
        factor = ms.Parameter(ms.Tensor([2.0]), name="factor")
        addend = ms.Parameter(ms.Tensor([1.0]), name="addend")
        self.weights = container([factor, addend])

    def construct(self, x: Any) -> Any:
        """One number."""
        return (x * self.weights[0] + self.weights[1]).sum()


def parameters_in(ask: Ask) -> Found:
    """What each container registers, what the net gives, and the gradients that a step would use."""
    set_style("tape")
    x = ms.Tensor([3.0])
    figures: dict[str, Any] = {}
    for container in (list, tuple, ms.ParameterTuple):
        net = Holding(container)
        trained = net.trainable_params()
        figures[container.__name__] = {
            "registered": [parameter.name for parameter in net.get_parameters()],
            "value": numbers(net(x)),
            "gradients": numbers(ms.grad(net, None, trained)(x)),
        }
    return Found(figures)
