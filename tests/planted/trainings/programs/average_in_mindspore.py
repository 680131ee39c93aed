"""The EMA of the weights in MindSpore."""

import mindspore as ms
from mindspore import nn
from mindspore.experimental import optim
from recorded_loop import started, steps

DECAY = 0.95


def made():
    layers = nn.Dense(6, 8), nn.ELU(), nn.LayerNorm([8], epsilon=1e-5), nn.Dense(8, 3)
    return nn.SequentialCell(*layers)


net, average = started(made()), made()
optimizer = optim.AdamW(net.trainable_params(), lr=1e-2, weight_decay=0.05)
loss_function = nn.SmoothL1Loss(reduction="mean")


def loss_of(x, y):
    return loss_function(net(x), y)


def update_average(step):
    for mean, weight in zip(average.get_parameters(), net.get_parameters()):
        mean.set_data(weight.value() if step == 0 else DECAY * mean + (1 - DECAY) * weight)


gradient = ms.value_and_grad(loss_of, None, optimizer.parameters)

for step, (x, y) in enumerate(steps("features", "targets", average=average)):
    loss, gradients = gradient(ms.Tensor(x), ms.Tensor(y))
    optimizer(gradients)
    update_average(step)
