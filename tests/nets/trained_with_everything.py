"""A small classifier that is trained with all that a training may have.

Adam, a schedule, a scaler of losses, clipping, and two micro-batches a step. The two Adams differ in
where eps is: MindSpore's adds it to the root that is not bias-corrected (2.10.0).
"""

import numpy as np

TRAIN = True
CONSTANTS = ("labels",)
CLIP_NORM = 0.5


def inputs():
    return next(iter(batches()))[0]


def batches():
    draws = np.random.default_rng(0)
    while True:
        passes = []
        for _ in range(2):
            x = draws.normal(size=(8, 4)).astype(np.float32)
            passes.append({"x": x, "labels": (x.sum(1) > 0).astype(np.int32)})
        yield passes


def mindspore_net():
    from mindspore import nn

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.first = nn.Dense(4, 16)
            self.norm = nn.BatchNorm1d(16)
            self.last = nn.Dense(16, 2)
            self.loss = nn.CrossEntropyLoss()
            self.tanh = nn.Tanh()

        def construct(self, x, labels):
            return 8 * self.loss(self.last(self.tanh(self.norm(self.first(x)))), labels)

    return Net()


def torch_net():
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(4, 16)
            self.norm = nn.BatchNorm1d(16)
            self.last = nn.Linear(16, 2)
            self.loss = nn.CrossEntropyLoss()
            self.tanh = nn.Tanh()

        def forward(self, x, labels):
            hidden = self.last(self.tanh(self.norm(self.first(x))))
            return 8 * self.loss(hidden, labels.long())

    return Net()


def mindspore_optimizer(net):
    from mindspore.experimental import optim

    return optim.Adam(net.trainable_params(), lr=0.01)


def torch_optimizer(net):
    import torch

    return torch.optim.Adam(net.parameters(), lr=0.01)


def mindspore_schedule(optimizer):
    from mindspore.experimental.optim.lr_scheduler import StepLR

    return StepLR(optimizer, 2, 0.5)


def torch_schedule(optimizer):
    from torch.optim.lr_scheduler import StepLR

    return StepLR(optimizer, 2, 0.5)


def mindspore_scaler():
    from mindspore.amp import DynamicLossScaler

    return DynamicLossScaler(2.0**127, 2, 3)  # too great at first


def torch_scaler():
    import torch

    return torch.amp.GradScaler("cpu", init_scale=2.0**127, backoff_factor=0.5, growth_interval=3)
