"""The warm-up and the cosine in MindSpore."""

import math

import mindspore as ms
from mindspore import nn
from recorded_loop import started, steps

layers = nn.Dense(6, 8), nn.Sigmoid(), nn.LayerNorm([8], epsilon=1e-5), nn.Dense(8, 3)
net = started(nn.SequentialCell(*layers))


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

for x, y in steps("features", "labels"):
    loss, gradients = gradient(ms.Tensor(x), ms.Tensor(y))
    optimizer(gradients)
