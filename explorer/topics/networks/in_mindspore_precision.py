"""What the argument amp_level of Model does to a net that sets its own precision."""

from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.in_mindspore import set_style


class Net(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """A batch norm between two dense layers, all of whose outputs are returned."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Dense(3, 3)
        self.norm = nn.BatchNorm1d(3)
        self.last = nn.Dense(3, 1)

    def construct(self, x: Any) -> Any:
        """The output of each layer."""
        first = self.first(x)
        norm = self.norm(first)
        return first, norm, self.last(norm)


def amp_level(ask: Ask) -> Found:
    """The dtypes of the layers' outputs with one's own precision, by the level that Model is given.

    One's own is the guide's: float16 everywhere, and float32 in batch norms.
    """
    figures: dict[str, Any] = {}
    for level in ("O0", "O2", "O3"):
        figures[level] = attempt_briefly(dtypes, ask.options["style"], level)
    return Found(figures)


def dtypes(style: str, level: str) -> list[str]:
    """The dtype of each layer's output once a Model has been made of the net."""
    set_style(style)
    net = Net()
    net.to_float(ms.float16)
    for _, cell in net.cells_and_names():
        if isinstance(cell, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
            cell.to_float(ms.float32)
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    # Its own loss scaling is not supported on the CPU (2.10.0).
    ms.Model(net, nn.MSELoss(), optimizer, amp_level=level, loss_scale_manager=None)
    outputs = net(ms.Tensor(np.ones((2, 3), np.float32)))
    return [str(output.dtype) for output in outputs]
