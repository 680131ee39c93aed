"""The GAN in JAX, flax and optax."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from recorded_loop import start_of, steps


class Generator(nnx.Module):
    def __init__(self, rngs):
        self.hidden = nnx.Linear(3, 8, rngs=rngs)
        self.out = nnx.Linear(8, 5, rngs=rngs)

    def __call__(self, noise):
        return jnp.tanh(self.out(jax.nn.relu(self.hidden(noise))))


class Critic(nnx.Module):
    def __init__(self, rngs):
        self.hidden = nnx.Linear(5, 8, rngs=rngs)
        self.out = nnx.Linear(8, 1, rngs=rngs)

    def __call__(self, points):
        return self.out(jax.nn.leaky_relu(self.hidden(points), 0.2))


generator, critic = Generator(nnx.Rngs(0)), Critic(nnx.Rngs(1))
nets = {"generator": generator, "critic": critic}
for name, net in nets.items():
    for layer, place in (("hidden", 0), ("out", 2)):
        given = start_of(f"{name}.{place}")
        getattr(net, layer).kernel.value = given["kernel"]
        getattr(net, layer).bias.value = given["bias"]

optimizer_g = nnx.Optimizer(generator, optax.adam(2e-3, b1=0.5))
optimizer_d = nnx.Optimizer(critic, optax.adam(4e-3, b1=0.5))


def bce(logits, labels):
    return optax.sigmoid_binary_cross_entropy(logits, labels).mean()


def loss_of_critic(critic, points, fake):
    real_logits, fake_logits = critic(points), critic(fake)
    real = bce(real_logits, jnp.ones_like(real_logits))
    return real + bce(fake_logits, jnp.zeros_like(fake_logits))


def loss_of_generator(generator, critic, noise):
    logits = critic(generator(noise))
    return bce(logits, jnp.ones_like(logits))


@nnx.jit
def train_step(generator, critic, optimizer_g, optimizer_d, noise, points):
    fake = generator(noise)
    loss_d, gradients_d = nnx.value_and_grad(loss_of_critic)(critic, points, fake)
    optimizer_d.update(gradients_d)
    loss_g, gradients_g = nnx.value_and_grad(loss_of_generator)(generator, critic, noise)
    optimizer_g.update(gradients_g)
    return loss_d, loss_g


for noise, points in steps("noise", "points", model=nets):
    train_step(generator, critic, optimizer_g, optimizer_d, noise, points)
