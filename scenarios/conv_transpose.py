"""A transposed convolution.

The upsampling half of segmentation nets and generators, here from 3×3 to 5×5. It is the **adjoint**
of a convolution: its forward is what the backward of a convolution computes, and its backward by
`x` is a plain convolution with the same kernel. So the derivative with respect to `x` of
`sum(image²)` is the convolution of `2·image`, and MindSpore's graph shows a `Conv2D` in that place.

The defaults are what goes wrong in a port. MindSpore's `Conv2dTranspose` has `pad_mode="same"`,
which makes 6×6 of 3×3 at stride 2, and no bias; PyTorch's `ConvTranspose2d` has `padding=0`, which
makes 7×7, and a bias. With `pad_mode="pad"` both compute `(n − 1)·stride − 2·padding + kernel`,
that is 5. Both keep the weight as (in, out, height, width), the other way round than that of a
convolution.
"""

import numpy as np


def inputs():
    random = np.random.default_rng(0)
    return {"x": random.normal(size=(1, 2, 3, 3)).round(2).astype(np.float32)}


def parameters():
    random = np.random.default_rng(1)
    return {
        "up.weight": random.normal(scale=0.3, size=(2, 3, 3, 3)).round(2).astype(np.float32),
        "up.bias": np.array([0.1, -0.2, 0.3], np.float32),
    }


def mindspore_net():
    from mindspore import nn

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.up = nn.Conv2dTranspose(
                2, 3, 3, stride=2, pad_mode="pad", padding=1, has_bias=True
            )

        def construct(self, x):
            image = self.up(x)
            return (image * image).sum()

    return Net()


def torch_net():
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.up = nn.ConvTranspose2d(2, 3, 3, stride=2, padding=1)

        def forward(self, x):
            image = self.up(x)
            return (image * image).sum()

    return Net()


def jax_net():
    from jax import lax

    def net(params, x):
        # Each side is padded by kernel - 1 - padding = 1; the kernel is that of the convolution.
        image = lax.conv_transpose(
            x,
            params["up.weight"],
            strides=(2, 2),
            padding=[(1, 1), (1, 1)],
            dimension_numbers=("NCHW", "OIHW", "NCHW"),
            transpose_kernel=True,
        )
        image = image + params["up.bias"][:, None, None]
        return (image * image).sum()

    return net
