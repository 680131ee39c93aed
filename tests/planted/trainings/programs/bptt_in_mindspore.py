"""Truncated BPTT with an LSTM in MindSpore."""

import mindspore as ms
from mindspore import nn, ops
from recorded_loop import started, steps


class Forecaster(nn.Cell):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 6, batch_first=True)
        self.head = nn.Dense(6, 1)

    def construct(self, x, state):
        output, state = self.lstm(x, state)
        return self.head(output), state


net = started(Forecaster())
optimizer = nn.SGD(net.trainable_params(), 0.1, momentum=0.9)
loss_function = nn.MSELoss()


def loss_of(x, state, y):
    prediction, state = net(x, state)
    return loss_function(prediction, y), state


gradient = ms.value_and_grad(loss_of, None, optimizer.parameters, has_aux=True)

state = (ops.zeros((1, 4, 6)), ops.zeros((1, 4, 6)))
for step, (x, y) in enumerate(steps("series", "next_values")):
    if step == 4:  # the next epoch begins
        state = (ops.zeros((1, 4, 6)), ops.zeros((1, 4, 6)))
    (loss, last), gradients = gradient(ms.Tensor(x), state, ms.Tensor(y))
    gradients = ops.clip_by_global_norm(gradients, 0.25)
    optimizer(gradients)
    state = tuple(map(ops.stop_gradient, last))
