"""A small net in MindSpore with given weights: the same outputs at every call in inference mode,
and in training mode?
"""

from typing import Any

import mindspore as ms
from mindspore import nn

from explorer.model.measurement import Ask, Found
from explorer.topics.in_mindspore import numbers, set_style
from explorer.topics.operators.data import NET, PICTURES

NAMES = {"norm.weight": "norm.gamma", "norm.bias": "norm.beta"}
NAMES |= {"norm.running_mean": "norm.moving_mean", "norm.running_var": "norm.moving_variance"}


class Net(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """Convolution, batch norm, relu, max pool, dropout, dense."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3, pad_mode="valid", has_bias=True)
        self.norm = nn.BatchNorm2d(4)
        self.pool = nn.MaxPool2d(2, 2)
        self.dropout = nn.Dropout(p=0.5)
        self.dense = nn.Dense(16, 3)

    def construct(self, x: Any) -> Any:
        hidden = self.pool(ms.ops.relu(self.norm(self.conv(x))))
        return self.dense(self.dropout(hidden).reshape(x.shape[0], -1))


def inference(ask: Ask) -> Found:
    """Outputs of three calls in inference mode, then of two in training mode, in the style asked
    for.
    """
    set_style(ask.options["style"], ask.device)
    net, pictures = Net(), ms.Tensor(PICTURES)
    own = dict(net.parameters_and_names())
    for name, start in NET.items():
        own[NAMES.get(name, name)].set_data(ms.Tensor(start))
    net.set_train(False)
    calm = [numbers(net(pictures)) for _ in range(3)]
    net.set_train(True)
    return Found({"inference": calm, "training": [numbers(net(pictures)) for _ in range(2)]})
