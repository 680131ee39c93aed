"""Cells that keep Parameters in a container, and a net's inference over a dataset."""

from typing import Any

import mindspore as ms
from mindspore import nn
from mindspore.dataset import NumpySlicesDataset

from explorer.model.measurement import Ask, Found
from explorer.topics.in_mindspore import numbers, set_style
from explorer.topics.networks.batches import BATCH, MEAN, SAMPLES, VARIANCE, WEIGHT


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


class Net(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """A dense layer after a batch norm, with given weights."""

    def __init__(self) -> None:
        super().__init__()
        statistics = {"moving_mean_init": ms.Tensor(MEAN), "moving_var_init": ms.Tensor(VARIANCE)}
        self.norm = nn.BatchNorm1d(2, **statistics)
        self.fc = nn.Dense(2, 1, ms.Tensor(WEIGHT), has_bias=False)

    def construct(self, x: Any) -> Any:
        """One number a sample."""
        return self.fc(self.norm(x))


def batches(ask: Ask) -> Found:
    """The outputs for all samples at inference, by the way to batch them."""
    set_style(ask.options["style"])
    net = Net().set_train(False)
    return Found(
        {
            "one by one": inferred(net, 1),
            "by default": inferred(net, BATCH),
            "keeping the rest": inferred(net, BATCH, drop_remainder=False),
            "dropping the rest": inferred(net, BATCH, drop_remainder=True),
            "again": inferred(net, BATCH),
        }
    )


def inferred(net: nn.Cell, size: int, **options: bool) -> list[Any]:
    """The outputs for the samples that the batches have."""
    dataset = NumpySlicesDataset(SAMPLES, shuffle=False).batch(size, **options)
    outputs: list[Any] = []
    for (batch,) in dataset.create_tuple_iterator(num_epochs=1):
        outputs += numbers(net(batch))
    return outputs
