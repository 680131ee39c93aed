"""The accumulation in MindSpore."""

import mindspore as ms
from mindspore import nn, ops
from mindspore.experimental import optim
from recorded_loop import started, steps

MICRO = 3

net = started(nn.SequentialCell(nn.Dense(6, 8), nn.SiLU(), nn.Dense(8, 3)))
optimizer = optim.AdamW(net.trainable_params(), lr=1e-2, weight_decay=0.1)
scaler = ms.amp.DynamicLossScaler(1024, 2, 2000)
loss_function = nn.CrossEntropyLoss()


def loss_of(x, y):
    return scaler.scale(loss_function(net(x), y) / MICRO)


gradient = ms.value_and_grad(loss_of, None, optimizer.parameters)

for x, y in steps("overflowing", "labels", to=ms.Tensor):
    sums = tuple(ops.zeros_like(parameter) for parameter in optimizer.parameters)
    for micro in range(MICRO):
        part = slice(3 * micro, 3 * micro + 3)
        loss, gradients = gradient(x[part], y[part])
        sums = tuple(total + one for total, one in zip(sums, gradients))
    sums = scaler.unscale(sums)
    is_finite = ms.amp.all_finite(sums)
    if is_finite:
        optimizer(ops.clip_by_global_norm(sums, 0.5))
    scaler.adjust(is_finite)
