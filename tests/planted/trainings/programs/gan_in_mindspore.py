"""The GAN in MindSpore."""

import mindspore as ms
from mindspore import nn, ops
from mindspore.experimental import optim
from recorded_loop import started, steps

generator = nn.SequentialCell(nn.Dense(3, 8), nn.ReLU(), nn.Dense(8, 5), nn.Tanh())
critic = nn.SequentialCell(nn.Dense(5, 8), nn.LeakyReLU(0.2), nn.Dense(8, 1))
nets = {"generator": generator, "critic": critic}
for name, net in nets.items():
    own = [parameter.name for parameter in net.get_parameters()]
    started(net, {one: f"{name}.{one}" for one in own})
# (As PyTorch's Adam, which nn.Adam is not: it adds eps to another root.)
settings = {"betas": (0.5, 0.999), "weight_decay": 0.0}
optimizer_g = optim.AdamW(generator.trainable_params(), lr=2e-3, **settings)
optimizer_d = optim.AdamW(critic.trainable_params(), lr=4e-3, **settings)


def bce(logits, labels):
    return ops.binary_cross_entropy_with_logits(
        logits, labels, ops.ones_like(logits), ops.ones_like(logits)
    )


def of_critic(points, fake):
    real_logits, fake_logits = critic(points), critic(fake)
    real = bce(real_logits, ops.ones_like(real_logits))
    return real + bce(fake_logits, ops.zeros_like(fake_logits))


def of_generator(noise):
    logits = critic(generator(noise))
    return bce(logits, ops.ones_like(logits))


grad_d = ms.value_and_grad(of_critic, None, optimizer_d.parameters)
grad_g = ms.value_and_grad(of_generator, None, optimizer_g.parameters)

for noise, points in steps("noise", "points", to=ms.Tensor, model=nets):
    fake = ops.stop_gradient(generator(noise))
    _, gradients = grad_d(points, fake)
    optimizer_d(gradients)
    _, gradients = grad_g(noise)
    optimizer_g(gradients)
