"""A generator and a discriminator in PyTorch: two nets, two optimizers, three passes a step, all recorded.

`python two_nets_in_torch.py OUT [MISTAKE]`
"""

import sys

import numpy as np
import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits as loss_of

import explorer


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 5))

    def forward(self, z):
        return self.main(z)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(5, 4), nn.LeakyReLU(0.2), nn.Linear(4, 1))

    def forward(self, x):
        return self.main(x)


def started(net, seed):
    draws = np.random.default_rng(seed)
    for weight in net.parameters():
        values = draws.standard_normal(tuple(weight.shape)).astype(np.float32)
        weight.data.copy_(torch.from_numpy(values))
    return net


def main(out, mistake=""):
    generator, discriminator = started(Generator(), 1), started(Discriminator(), 2)
    first, second = (
        torch.optim.SGD(net.parameters(), 0.1, momentum=0.9) for net in (discriminator, generator)
    )
    if mistake == "closure":
        first = torch.optim.LBFGS(discriminator.parameters(), 0.1, max_iter=2)
    recorder = explorer.recorder(training=True, out=out + "/run.training")
    draws = np.random.default_rng(3)
    for _ in range(5):
        x, z = (torch.from_numpy(draws.standard_normal((6, n)).astype(np.float32)) for n in (5, 3))
        with recorder.step():
            fake = generator(z)

            def of_discriminator(x=x, fake=fake):
                first.zero_grad()
                real = discriminator(x)
                loss_of(real, torch.ones_like(real)).backward()
                made = discriminator(fake.detach())
                loss = loss_of(made, torch.zeros_like(made))
                loss.backward()
                return loss

            if mistake == "closure":
                first.step(of_discriminator)
            else:
                for _update in range(1 + (mistake == "twice")):
                    of_discriminator()
                    first.step()
            if mistake != "not zeroed":
                second.zero_grad()
            made = discriminator(fake)
            if mistake == "not reduced":
                loss = loss_of(made, torch.ones_like(made), reduction="none")
                loss.backward(torch.ones_like(loss))
            else:
                reduction = "sum" if mistake == "summed" else "mean"
                loss_of(made, torch.ones_like(made), reduction=reduction).backward()
            second.step()
    recorder.write()
    print(recorder.number)


if __name__ == "__main__":
    main(*sys.argv[1:])
