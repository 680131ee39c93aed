"""What MindSpore's layers are made with where nothing is said."""

from collections.abc import Callable
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.conventions.inputs import BATCH
from explorer.topics.in_mindspore import set_style


def layers(ask: Ask) -> Found:
    """The settings of layers, and what small ones give."""
    set_style("tape", ask.device)
    return Found({name: attempt_briefly(layer) for name, layer in LAYERS.items()})


def ones(*shape: int) -> Tensor:
    """Ones of float32."""
    return Tensor(np.ones(shape, np.float32))


def after_a_batch() -> nn.BatchNorm1d:
    """Batch norm that has seen one batch, in training mode."""
    norm = nn.BatchNorm1d(2)
    norm.set_train()
    norm(Tensor(BATCH, ms.float32))
    return norm


def weight_of_batch() -> float:
    """The share of the batch's mean in the running mean, which was 0."""
    mean = np.mean(BATCH, 0)[0]
    return round(float(after_a_batch().moving_mean.asnumpy()[0] / mean), 4)


def variance_of_batch() -> float:
    """The variance that was mixed into the running one, which was 1."""
    weight = weight_of_batch()
    running = float(after_a_batch().moving_variance.asnumpy()[0])
    return round((running - (1 - weight)) / weight, 2)


def share_dropped() -> float:
    """The share of zeros that Dropout(0.3) makes of ones, in training mode."""
    dropout = nn.Dropout(0.3)
    dropout.set_train()
    return round(float((dropout(ones(10_000)).asnumpy() == 0).mean()), 1)


LAYERS: dict[str, Callable[[], Any]] = {
    "layer_norm_epsilon": lambda: nn.LayerNorm((2,)).epsilon,
    "batch_norm_epsilon": lambda: nn.BatchNorm1d(2).eps,
    "group_norm_epsilon": lambda: nn.GroupNorm(1, 2).eps,
    "batch_norm_weight_of_batch": weight_of_batch,
    "batch_norm_variance": variance_of_batch,
    "starts_in_training": lambda: nn.BatchNorm1d(2).training,
    "dropout_of_0_3": share_dropped,
    "dense_weight": lambda: list(nn.Dense(3, 2).weight.shape),
    "dense_bias": lambda: bool((nn.Dense(3, 2).bias.asnumpy() == 0).all()),
    "conv_weight": lambda: list(nn.Conv2d(3, 2, (5, 4)).weight.shape),
    "conv_bias": lambda: nn.Conv2d(1, 1, 3).has_bias,
    "conv_output": lambda: list(nn.Conv2d(1, 1, 3)(ones(1, 1, 5, 5)).shape[2:]),
    "max_pool_output": lambda: list(nn.MaxPool2d(2)(ones(1, 1, 4, 4)).shape[2:]),
}
