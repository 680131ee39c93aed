"""One training step of a denoising diffusion model.

Modelled on DDPM (Ho et al., "Denoising diffusion probabilistic models", 2020): an image is mixed with
noise by a schedule, a small convolutional net with group norm and SiLU sees the mixture and a
sinusoidal embedding of the time, and must say what the noise was.

Watch the schedule's square roots, of the cumulated product and of one less it, and the group norm,
whose groups are of neighbouring channels. The time is added after the first convolution, as one number
a channel. Times and noise are inputs, so that both frameworks have the same.
"""

import numpy as np

CONSTANTS = ("noise", "time")


def inputs():
    random = np.random.default_rng(33)
    return {
        "image": random.normal(size=(2, 1, 6, 6)).astype(np.float32),
        "noise": random.normal(size=(2, 1, 6, 6)).astype(np.float32),
        "time": np.array([3, 12], np.int32),
    }


def mindspore_net():
    import math

    import mindspore as ms
    from mindspore import nn, ops

    class ResBlock(nn.Cell):
        def __init__(self, channels, time_dim, groups=2):
            super().__init__()
            self.norm1 = nn.GroupNorm(groups, channels)
            self.conv1 = nn.Conv2d(channels, channels, 3, pad_mode="pad", padding=1, has_bias=True)
            self.time_proj = nn.Dense(time_dim, channels)
            self.norm2 = nn.GroupNorm(groups, channels)
            self.conv2 = nn.Conv2d(channels, channels, 3, pad_mode="pad", padding=1, has_bias=True)

        def construct(self, x, time):
            h = self.conv1(ops.silu(self.norm1(x)))
            h = h + self.time_proj(ops.silu(time))[:, :, None, None]
            h = self.conv2(ops.silu(self.norm2(h)))
            return x + h

    class Denoiser(nn.Cell):
        def __init__(self, channels=4, time_dim=8, steps=20):
            super().__init__()
            self.time_dim = time_dim
            betas = np.linspace(1e-4, 0.2, steps, dtype=np.float32)
            self.alpha_bar = ms.Tensor(np.cumprod(1.0 - betas))
            self.time_mlp = nn.Dense(time_dim, time_dim)
            self.conv_in = nn.Conv2d(1, channels, 3, pad_mode="pad", padding=1, has_bias=True)
            self.block = ResBlock(channels, time_dim)
            self.conv_out = nn.Conv2d(channels, 1, 3, pad_mode="pad", padding=1, has_bias=True)

        def time_embedding(self, time):
            half = self.time_dim // 2
            freqs = ops.exp(ops.arange(half).astype(ms.float32) * (-math.log(10000.0) / (half - 1)))
            angles = time.astype(ms.float32).expand_dims(1) * freqs.expand_dims(0)
            return ops.cat((ops.sin(angles), ops.cos(angles)), axis=1)

        def construct(self, image, noise, time):
            alpha_bar = ops.gather(self.alpha_bar, time, 0).view(-1, 1, 1, 1)
            noisy = ops.sqrt(alpha_bar) * image + ops.sqrt(1.0 - alpha_bar) * noise
            t = self.time_mlp(self.time_embedding(time))
            predicted = self.conv_out(ops.silu(self.block(self.conv_in(noisy), t)))
            return ops.mse_loss(predicted, noise)

    return Denoiser()


def torch_net():
    import math

    import torch
    from torch import nn
    from torch.nn import functional as F

    class ResBlock(nn.Module):
        def __init__(self, channels, time_dim, groups=2):
            super().__init__()
            self.norm1 = nn.GroupNorm(groups, channels)
            self.conv1 = nn.Conv2d(channels, channels, 3, padding=1)
            self.time_proj = nn.Linear(time_dim, channels)
            self.norm2 = nn.GroupNorm(groups, channels)
            self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)

        def forward(self, x, time):
            h = self.conv1(F.silu(self.norm1(x)))
            h = h + self.time_proj(F.silu(time))[:, :, None, None]
            h = self.conv2(F.silu(self.norm2(h)))
            return x + h

    class Denoiser(nn.Module):
        def __init__(self, channels=4, time_dim=8, steps=20):
            super().__init__()
            self.time_dim = time_dim
            betas = torch.linspace(1e-4, 0.2, steps)
            self.register_buffer("alpha_bar", torch.cumprod(1.0 - betas, dim=0), persistent=False)
            self.time_mlp = nn.Linear(time_dim, time_dim)
            self.conv_in = nn.Conv2d(1, channels, 3, padding=1)
            self.block = ResBlock(channels, time_dim)
            self.conv_out = nn.Conv2d(channels, 1, 3, padding=1)

        def time_embedding(self, time):
            half = self.time_dim // 2
            order = torch.arange(half, device=time.device)
            freqs = torch.exp(order.float() * (-math.log(10000.0) / (half - 1)))
            angles = time.float()[:, None] * freqs[None, :]
            return torch.cat([angles.sin(), angles.cos()], dim=1)

        def forward(self, image, noise, time):
            alpha_bar = self.alpha_bar[time].view(-1, 1, 1, 1)
            noisy = alpha_bar.sqrt() * image + (1.0 - alpha_bar).sqrt() * noise
            t = self.time_mlp(self.time_embedding(time))
            predicted = self.conv_out(F.silu(self.block(self.conv_in(noisy), t)))
            return F.mse_loss(predicted, noise)

    return Denoiser()


def jax_net():
    import jax
    import jax.numpy as jnp
    from jax import lax

    alpha_bar = np.cumprod(1.0 - np.linspace(1e-4, 0.2, 20)).astype(np.float32)

    def dense(params, name, x):
        return x @ params[f"{name}.weight"].T + params[f"{name}.bias"]

    def conv(params, name, x):
        x = lax.conv_general_dilated(x, params[f"{name}.weight"], (1, 1), "SAME")
        return x + params[f"{name}.bias"][:, None, None]

    def group_norm(params, name, x, groups=2):
        grouped = x.reshape(len(x), groups, -1)
        centred = grouped - grouped.mean(-1, keepdims=True)
        normal = centred * lax.rsqrt(grouped.var(-1, keepdims=True) + 1e-5)
        weight, bias = params[f"{name}.weight"], params[f"{name}.bias"]
        return normal.reshape(x.shape) * weight[:, None, None] + bias[:, None, None]

    def block(params, x, time):
        h = conv(params, "block.conv1", jax.nn.silu(group_norm(params, "block.norm1", x)))
        h = h + dense(params, "block.time_proj", jax.nn.silu(time))[:, :, None, None]
        h = conv(params, "block.conv2", jax.nn.silu(group_norm(params, "block.norm2", h)))
        return x + h

    def time_embedding(time, dim=8):
        half = dim // 2
        freqs = np.exp(np.arange(half) * (-np.log(10000.0) / (half - 1))).astype(np.float32)
        angles = time.astype(np.float32)[:, None] * freqs
        return jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], axis=1)

    def net(params, image, noise, time):
        alpha = jnp.asarray(alpha_bar)[time].reshape(-1, 1, 1, 1)
        noisy = jnp.sqrt(alpha) * image + jnp.sqrt(1.0 - alpha) * noise
        t = dense(params, "time_mlp", time_embedding(time))
        h = block(params, conv(params, "conv_in", noisy), t)
        predicted = conv(params, "conv_out", jax.nn.silu(h))
        return ((predicted - noise) ** 2).mean()

    return net
