"""The EMA of the weights in MindSpore. python average_in_mindspore.py OUT BATCHES START"""

import sys

import mindspore as ms
import numpy as np
from mindspore import nn
from mindspore.experimental import optim

import explorer

ms.set_context(mode=ms.PYNATIVE_MODE)
out, batches, start = sys.argv[1:]
data = np.load(batches)
DECAY = 0.95


def made():
    layers = nn.Dense(6, 8), nn.ELU(), nn.LayerNorm([8], epsilon=1e-5), nn.Dense(8, 3)
    return nn.SequentialCell(*layers)


net, average = made(), made()
ms.load_param_into_net(net, explorer.start(start, net))
optimizer = optim.AdamW(net.trainable_params(), lr=1e-2, weight_decay=0.05)
loss_function = nn.SmoothL1Loss(reduction="mean")


def loss_of(x, y):
    return loss_function(net(x), y)


def update_average(step):
    for mean, weight in zip(average.get_parameters(), net.get_parameters()):
        mean.set_data(weight.value() if step == 0 else DECAY * mean + (1 - DECAY) * weight)


gradient = ms.value_and_grad(loss_of, None, optimizer.parameters)

recorder = explorer.recorder(training=True, out=out, average=average)
for step, (x, y) in enumerate(zip(data["features"], data["targets"])):
    with recorder.step():
        loss, gradients = gradient(ms.Tensor(x), ms.Tensor(y))
        optimizer(gradients)
        update_average(step)
