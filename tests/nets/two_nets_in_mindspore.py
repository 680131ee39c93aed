"""The training of two_nets_in_torch.py in MindSpore, where each optimizer has a list of rates and a pass.

`python two_nets_in_mindspore.py OUT [MISTAKE]`
"""

import sys

import mindspore as ms
import numpy as np
from mindspore import nn, ops

import explorer

ms.set_context(mode=ms.PYNATIVE_MODE)


class Generator(nn.Cell):
    def __init__(self):
        super().__init__()
        self.main = nn.SequentialCell(nn.Dense(3, 4), nn.Tanh(), nn.Dense(4, 5))

    def construct(self, z):
        return self.main(z)


class Discriminator(nn.Cell):
    def __init__(self, slope):
        super().__init__()
        self.main = nn.SequentialCell(nn.Dense(5, 4), nn.LeakyReLU(slope), nn.Dense(4, 1))

    def construct(self, x):
        return self.main(x)


def started(net, seed):
    draws = np.random.default_rng(seed)
    for weight in net.trainable_params():
        weight.set_data(ms.Tensor(draws.standard_normal(weight.shape).astype(np.float32)))
    return net


def main(out, mistake=""):
    generator = started(Generator(), 1)
    discriminator = started(Discriminator(0.01 if mistake == "slope" else 0.2), 2)
    updates = 2 if mistake == "twice" else 1
    rates = [0.1] * 5 * updates
    first, second = (
        nn.Momentum(net.trainable_params(), rates, 0.9) for net in (discriminator, generator)
    )
    loss_of = ops.BCEWithLogitsLoss()
    ones = ms.ops.ones((1,), ms.float32)

    def of_discriminator(x, fake):
        real, made = discriminator(x), discriminator(fake)
        return loss_of(real, ops.ones_like(real), ones, ones) + loss_of(
            made, ops.zeros_like(made), ones, ones
        )

    def of_generator(z):
        made = discriminator(generator(z))
        return loss_of(made, ops.ones_like(made), ones, ones)

    discriminate = ms.value_and_grad(of_discriminator, None, first.parameters)
    generate = ms.value_and_grad(of_generator, None, second.parameters)
    recorder = explorer.recorder(training=True, out=out + "/run.training")
    draws = np.random.default_rng(3)
    for _ in range(5):
        x, z = (ms.Tensor(draws.standard_normal((6, n)).astype(np.float32)) for n in (5, 3))
        with recorder.step():
            fake = ops.stop_gradient(generator(z))
            for _update in range(updates):
                _, gradients = discriminate(x, fake)
                first(gradients)
            _, gradients = generate(z)
            second(gradients)
    recorder.write()
    print(recorder.number)


if __name__ == "__main__":
    main(*sys.argv[1:])
