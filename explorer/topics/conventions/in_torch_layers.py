"""What PyTorch's layers are made with where nothing is said."""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.conventions.inputs import BATCH


def layers(ask: Ask) -> Found:
    """The settings of layers, and what small ones give."""
    torch.manual_seed(0)
    return Found({name: attempt_briefly(layer) for name, layer in LAYERS.items()})


def after_a_batch() -> nn.BatchNorm1d:
    """Batch norm that has seen one batch."""
    norm = nn.BatchNorm1d(2)
    norm(torch.tensor(BATCH))
    return norm


def weight_of_batch() -> float:
    """The share of the batch's mean in the running mean, which was 0."""
    mean = torch.tensor(BATCH).mean(0)[0]
    return round(float(after_a_batch().running_mean[0] / mean), 4)


def variance_of_batch() -> float:
    """The variance that was mixed into the running one, which was 1."""
    weight = weight_of_batch()
    return round((float(after_a_batch().running_var[0]) - (1 - weight)) / weight, 2)


def share_dropped() -> float:
    """The share of zeros that Dropout(0.3) makes of ones."""
    return round(float((nn.Dropout(0.3)(torch.ones(10_000)) == 0).float().mean()), 1)


LAYERS: dict[str, Callable[[], Any]] = {
    "layer_norm_epsilon": lambda: nn.LayerNorm(2).eps,
    "batch_norm_epsilon": lambda: nn.BatchNorm1d(2).eps,
    "group_norm_epsilon": lambda: nn.GroupNorm(1, 2).eps,
    "batch_norm_weight_of_batch": weight_of_batch,
    "batch_norm_variance": variance_of_batch,
    "starts_in_training": lambda: nn.BatchNorm1d(2).training,
    "dropout_of_0_3": share_dropped,
    "dense_weight": lambda: list(nn.Linear(3, 2).weight.shape),
    "dense_bias": lambda: bool((nn.Linear(3, 2).bias == 0).all()),
    "conv_weight": lambda: list(nn.Conv2d(3, 2, (5, 4)).weight.shape),
    "conv_bias": lambda: nn.Conv2d(1, 1, 3).bias is not None,
    "conv_output": lambda: list(nn.Conv2d(1, 1, 3)(torch.ones(1, 1, 5, 5)).shape[2:]),
    "max_pool_output": lambda: list(nn.MaxPool2d(2)(torch.ones(1, 1, 4, 4)).shape[2:]),
}
