"""A net of convolutions that keeps its images' channels first in PyTorch, and last in JAX, as flax does.

What is square is as long as the channels are many, so that no shape tells the two layouts apart.
"""

import numpy as np

OUTPUTS = ("loss",)


def inputs():
    rng = np.random.default_rng(0)
    return {"image": rng.standard_normal((2, 6, 6, 3)).astype(np.float32)}


def torch_net():
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2d(3, 6, 3, padding=1)
            self.norm1 = nn.GroupNorm(2, 6)
            self.conv2 = nn.Conv2d(6, 4, 3, padding=1)
            self.pool = nn.AvgPool2d(2)
            self.head = nn.Linear(4, 5)

        def forward(self, image):
            x = nn.functional.gelu(self.norm1(self.conv1(image.permute(0, 3, 1, 2))))
            x = self.pool(nn.functional.silu(self.conv2(x)))
            return (self.head(x.mean((2, 3))) ** 2).mean()

    return Net()


def jax_net():
    import jax
    import jax.numpy as jnp

    def conv(x, weight, bias):
        kernel = jnp.transpose(weight, (2, 3, 1, 0))
        names = ("NHWC", "HWIO", "NHWC")
        return (
            jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=names) + bias
        )

    def group_norm(x, weight, bias, groups=2, eps=1e-5):
        split = x.reshape(*x.shape[:3], groups, -1)
        mean = split.mean((1, 2, 4), keepdims=True)
        variance = split.var((1, 2, 4), keepdims=True)
        return ((split - mean) / jnp.sqrt(variance + eps)).reshape(x.shape) * weight + bias

    def net(params, image):
        x = conv(image, params["conv1.weight"], params["conv1.bias"])
        x = group_norm(x, params["norm1.weight"], params["norm1.bias"])
        x = jax.nn.gelu(x, approximate=False)
        x = jax.nn.silu(conv(x, params["conv2.weight"], params["conv2.bias"]))
        x = jax.lax.reduce_window(x, 0.0, jax.lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") / 4
        return ((x.mean((1, 2)) @ params["head.weight"].T + params["head.bias"]) ** 2).mean()

    return net
