"""A MindSpore net's inference over a dataset, by batch size and by what becomes of the rest."""

from typing import Any

import mindspore as ms
from mindspore import nn
from mindspore.dataset import NumpySlicesDataset

from explorer.model.measurement import Ask, Found
from explorer.topics.in_mindspore import numbers, set_style
from explorer.topics.networks.batches import BATCH, MEAN, SAMPLES, VARIANCE, WEIGHT


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
