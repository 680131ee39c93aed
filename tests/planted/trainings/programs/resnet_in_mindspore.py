"""The ResNet with OneCycle in MindSpore."""

import math

import mindspore as ms
from mindspore import nn, ops
from recorded_loop import started, steps


def conv(inputs):
    return nn.Conv2d(inputs, 4, 3, pad_mode="pad", padding=1)


class ResNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.stem, self.bn0 = conv(2), nn.BatchNorm2d(4, momentum=0.9)
        self.conv1, self.bn1 = conv(4), nn.BatchNorm2d(4, momentum=0.9)
        self.conv2, self.bn2 = conv(4), nn.BatchNorm2d(4, momentum=0.9)
        self.fc = nn.Dense(4, 4)

    def construct(self, x):
        x = ops.relu(self.bn0(self.stem(x)))
        branch = self.bn2(self.conv2(ops.relu(self.bn1(self.conv1(x)))))
        return self.fc(ops.relu(x + branch).mean((2, 3)))


def between(first, last, share):
    return last + (first - last) / 2 * (1 + math.cos(math.pi * share))


def one_cycle(most, total):
    up = 0.3 * total - 1
    for step in range(total):
        if step <= up:
            yield between(most / 25, most, step / up)
        else:
            yield between(most, most / 25 / 1e4, (step - up) / (total - 1 - up))


net = started(ResNet())
net.set_train()
rates = list(one_cycle(0.2, 6))
# (Without groups, nn.Momentum would leave out the decay of gamma and beta.)
groups = [{"params": net.trainable_params(), "weight_decay": 5e-4}]
optimizer = nn.Momentum(groups, rates, 0.9)
loss_function = nn.CrossEntropyLoss(label_smoothing=0.1)


def loss_of(x, y):
    return loss_function(net(x), y)


gradient = ms.value_and_grad(loss_of, None, optimizer.parameters)

for x, y in steps("images", "classes"):
    loss, gradients = gradient(ms.Tensor(x), ms.Tensor(y))
    optimizer(gradients)
