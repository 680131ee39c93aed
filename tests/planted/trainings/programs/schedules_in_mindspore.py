"""The warm-up and the cosine in MindSpore. python schedules_in_mindspore.py OUT BATCHES START"""

import math
import sys

import mindspore as ms
import numpy as np
from mindspore import nn

import explorer

ms.set_context(mode=ms.PYNATIVE_MODE)
out, batches, start = sys.argv[1:]
data = np.load(batches)

net = nn.SequentialCell(
    nn.Dense(6, 8), nn.Sigmoid(), nn.LayerNorm([8], epsilon=1e-5), nn.Dense(8, 3)
)
ms.load_param_into_net(net, explorer.start(start, net))


def rate(step):
    if step < 3:
        return 0.2 * (0.25 + 0.75 * step / 3)
    return 0.1 * (1 + math.cos(math.pi * (step - 3) / 3))


rates = [rate(step) for step in range(6)]
decayed = [weight for weight in net.trainable_params() if weight.ndim > 1]
others = [weight for weight in net.trainable_params() if weight.ndim == 1]
groups = [{"params": decayed, "weight_decay": 0.05}, {"params": others, "weight_decay": 0.0}]
optimizer = nn.SGD(groups, rates, momentum=0.9, nesterov=True)
loss_function = nn.CrossEntropyLoss()


def loss_of(x, y):
    return loss_function(net(x), y)


gradient = ms.value_and_grad(loss_of, None, optimizer.parameters)

recorder = explorer.recorder(training=True, out=out)
for x, y in zip(data["features"], data["labels"]):
    with recorder.step():
        loss, gradients = gradient(ms.Tensor(x), ms.Tensor(y))
        optimizer(gradients)
