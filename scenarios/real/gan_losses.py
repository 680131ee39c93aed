"""The two losses of a GAN.

Modelled on DCGAN (Radford et al., 2015) with dense layers for convolutions: a generator with ReLU
and tanh, a discriminator with leaky ReLU of slope 0.2, and the losses of the original paper
(Goodfellow et al., 2014) in the form that does not saturate.

Watch the cut. The discriminator's loss sees the fake without its history, the generator's sees it
with: one `detach` in PyTorch, one `stop_gradient` in MindSpore, and without it the generator gets a
second gradient of the opposite sign. Here both losses come out of one forward, side by side.
"""

import numpy as np

OUTPUTS = ("loss_d", "loss_g")


def inputs():
    random = np.random.default_rng(11)
    return {
        "noise": random.normal(size=(3, 4)).astype(np.float32),
        "real": random.normal(size=(3, 6)).astype(np.float32),
    }


def mindspore_net():
    from mindspore import nn, ops

    class Generator(nn.Cell):
        def __init__(self):
            super().__init__()
            self.main = nn.SequentialCell(
                nn.Dense(4, 8),
                nn.ReLU(),
                nn.Dense(8, 6),
                nn.Tanh(),
            )

        def construct(self, z):
            return self.main(z)

    class Discriminator(nn.Cell):
        def __init__(self):
            super().__init__()
            self.main = nn.SequentialCell(
                nn.Dense(6, 8),
                nn.LeakyReLU(0.2),
                nn.Dense(8, 1),
            )

        def construct(self, x):
            return self.main(x).view(-1)

    class GAN(nn.Cell):
        def __init__(self):
            super().__init__()
            self.generator = Generator()
            self.discriminator = Discriminator()
            self.criterion = nn.BCEWithLogitsLoss()

        def construct(self, noise, real):
            fake = self.generator(noise)
            on_real = self.discriminator(real)
            on_fake = self.discriminator(ops.stop_gradient(fake))
            loss_real = self.criterion(on_real, ops.ones_like(on_real))
            loss_fake = self.criterion(on_fake, ops.zeros_like(on_fake))
            loss_d = (loss_real + loss_fake) / 2
            on_fake = self.discriminator(fake)
            loss_g = self.criterion(on_fake, ops.ones_like(on_fake))
            return loss_d + loss_g, loss_g

    return GAN()


def torch_net():
    import torch
    from torch import nn

    class Generator(nn.Module):
        def __init__(self):
            super().__init__()
            self.main = nn.Sequential(
                nn.Linear(4, 8),
                nn.ReLU(True),
                nn.Linear(8, 6),
                nn.Tanh(),
            )

        def forward(self, z):
            return self.main(z)

    class Discriminator(nn.Module):
        def __init__(self):
            super().__init__()
            self.main = nn.Sequential(
                nn.Linear(6, 8),
                nn.LeakyReLU(0.2, inplace=True),
                nn.Linear(8, 1),
            )

        def forward(self, x):
            return self.main(x).view(-1)

    class GAN(nn.Module):
        def __init__(self):
            super().__init__()
            self.generator = Generator()
            self.discriminator = Discriminator()
            self.criterion = nn.BCEWithLogitsLoss()

        def forward(self, noise, real):
            fake = self.generator(noise)
            on_real = self.discriminator(real)
            on_fake = self.discriminator(fake.detach())
            loss_real = self.criterion(on_real, torch.ones_like(on_real))
            loss_fake = self.criterion(on_fake, torch.zeros_like(on_fake))
            loss_d = (loss_real + loss_fake) / 2
            on_fake = self.discriminator(fake)
            loss_g = self.criterion(on_fake, torch.ones_like(on_fake))
            return loss_d + loss_g, loss_g

    return GAN()


def jax_net():
    import jax
    import jax.numpy as jnp

    def dense(params, name, x):
        return x @ params[f"{name}.weight"].T + params[f"{name}.bias"]

    def generator(params, z):
        hidden = jax.nn.relu(dense(params, "generator.main.0", z))
        return jnp.tanh(dense(params, "generator.main.2", hidden))

    def discriminator(params, x):
        hidden = jax.nn.leaky_relu(dense(params, "discriminator.main.0", x), 0.2)
        return dense(params, "discriminator.main.2", hidden).reshape(-1)

    def net(params, noise, real):
        fake = generator(params, noise)
        on_real = discriminator(params, real)
        on_fake = discriminator(params, jax.lax.stop_gradient(fake))
        loss_real = -jax.nn.log_sigmoid(on_real).mean()
        loss_fake = -jax.nn.log_sigmoid(-on_fake).mean()
        loss_d = (loss_real + loss_fake) / 2
        loss_g = -jax.nn.log_sigmoid(discriminator(params, fake)).mean()
        return loss_d + loss_g, loss_g

    return net
