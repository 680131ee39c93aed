"""What MindSpore's own routes do with a step whose gradients overflowed."""

from collections.abc import Callable
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn
from mindspore.amp import DynamicLossScaler
from mindspore.train.amp import build_train_network
from mindspore.train.loss_scale_manager import DynamicLossScaleManager

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.in_mindspore import numbers, set_style
from explorer.topics.loss_scale import inputs

OVERFLOWING = inputs.BATCHES[0]
"""The slope of a batch whose gradient overflows float16 at the first scale."""


class HalfLayer(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """A float32 weight whose gradient passes through float16."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = ms.Parameter(ms.Tensor([1.0], ms.float32), name="weight")

    def construct(self, slope: Any) -> Any:
        """The loss of one batch, in float32."""
        return (self.weight.astype(ms.float16).astype(ms.float32) * slope).sum()


def overflowed_step(ask: Ask) -> Found:
    """Whether a step after an overflow moves the weight, by the route that takes the step.

    What a route raises stands in its place.
    """
    set_style(ask.options["style"], ask.device)
    routes: dict[str, Callable[..., Any]] = {
        "optimizer(gradients)": called_without_a_look,
        "nn.TrainOneStepWithLossScaleCell": cell_with_loss_scale,
        "amp.build_train_network with DynamicLossScaleManager": built_with_manager,
    }
    return Found({name: attempt_briefly(moved, route) for name, route in routes.items()})


def moved(route: Callable[[HalfLayer, Any], None]) -> dict[str, Any]:
    """Whether one step of ``route`` moves the weight, and where to."""
    net = HalfLayer()
    before = net.weight.asnumpy().copy()
    route(net, nn.SGD(net.trainable_params(), 0.125))
    after = net.weight
    return {"stepped": not np.array_equal(before, after.asnumpy()), "weight": numbers(after)}


def called_without_a_look(net: HalfLayer, optimizer: Any) -> None:
    """Scale, differentiate, unscale and step, without a look at what all_finite says."""
    scaler = DynamicLossScaler(inputs.INITIAL, inputs.FACTOR, inputs.WINDOW)

    def forward(slope: Any) -> Any:
        """The scaled loss."""
        return scaler.scale(net(slope))

    gradient_function = ms.value_and_grad(forward, None, optimizer.parameters)
    _, gradients = gradient_function(ms.Tensor(OVERFLOWING, ms.float32))
    optimizer(scaler.unscale(gradients))


def cell_with_loss_scale(net: HalfLayer, optimizer: Any) -> None:
    """The training cell that looks for an overflow itself."""
    scale = nn.DynamicLossScaleUpdateCell(inputs.INITIAL, inputs.FACTOR, inputs.WINDOW)
    step = nn.TrainOneStepWithLossScaleCell(net, optimizer, scale)
    step(ms.Tensor(OVERFLOWING, ms.float32))


def built_with_manager(net: HalfLayer, optimizer: Any) -> None:
    """The training cell that ``Model`` makes of a net when it is given a dynamic manager."""
    manager = DynamicLossScaleManager(inputs.INITIAL, inputs.FACTOR, inputs.WINDOW)
    step = build_train_network(net, optimizer, level="O0", loss_scale_manager=manager)
    step(ms.Tensor(OVERFLOWING, ms.float32))
