"""The guide's net in MindSpore: the parameters that its filter chooses, and what its step takes."""

from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt
from explorer.topics.in_mindspore import set_style


class Net(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """Convolution and batch norm."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 64, 3)
        self.bn = nn.BatchNorm2d(64)

    def construct(self, x: Any) -> Any:
        """A picture of 64 channels."""
        return self.bn(self.conv(x))


def filters(ask: Ask) -> Found:
    """What the optimizer holds that the guide gives all but the convolution's parameters."""
    set_style("tape", ask.device)
    return Found({"as printed": attempt(printed_filter), "as meant": attempt(meant_filter)})


def printed_filter() -> list[str]:
    """The filter over all parameters."""
    net = Net()
    all_params = net.get_parameters()
    non_conv_params = list(filter(lambda x: "conv" not in x.name, all_params))
    optim_sgd = nn.SGD(params=non_conv_params)
    return [parameter.name for parameter in optim_sgd.parameters]


def meant_filter() -> list[str]:
    """The filter over trainable parameters: running statistics are not among them."""
    net = Net()
    non_conv_params = list(filter(lambda x: "conv" not in x.name, net.trainable_params()))
    optim_sgd = nn.SGD(params=non_conv_params)
    return [parameter.name for parameter in optim_sgd.parameters]


def shapes(ask: Ask) -> Found:
    """The shape of the net's output in a step with the label of each listing."""
    set_style("tape", ask.device)
    return Found(
        {
            "as printed": attempt(printed_step),
            "with PyTorch's label": attempt(step, Net(), (1, 64, 62, 30)),
            "padded as in PyTorch": attempt(padded_alike),
        }
    )


def printed_step() -> list[int]:
    """The net and the label of the guide's listing for MindSpore."""
    return step(Net(), (1, 64, 64, 32))


def padded_alike() -> list[int]:
    """A net whose convolution pads as PyTorch's does, with PyTorch's label."""
    net = Net()
    net.conv = nn.Conv2d(3, 64, 3, pad_mode="valid")
    return step(net, (1, 64, 62, 30))


def step(net: Net, label_shape: tuple[int, ...]) -> list[int]:
    """The shape of the output of a net that has taken a step."""
    loss = nn.MSELoss()
    optimizer = nn.SGD(params=net.trainable_params(), learning_rate=0.01)
    loss_net = nn.WithLossCell(net, loss)
    train_net = nn.TrainOneStepCell(loss_net, optimizer)
    image = ms.Tensor(np.random.rand(1, 3, 64, 32), ms.float32)
    label = ms.Tensor(np.random.rand(*label_shape), ms.float32)
    train_net.set_train()
    train_net(image, label)
    return list(net(image).shape)
