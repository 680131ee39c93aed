"""A convolutional autoencoder.

Modelled on the deconvolutional decoders of Zeiler et al. ("Deconvolutional networks", 2010) as they
are written today: two convolutions with stride make the image small, two transposed ones make it
large again, and the loss is the mean squared error against the input itself.

Watch the size on the way up. A kernel of 4 with stride 2 and padding 1 doubles it exactly. With a
kernel of 3 PyTorch asks for `output_padding=1`, which MindSpore (2.10) takes with `pad_mode="pad"` and
fills with zeros: the last row and column of each channel are then no output of the convolution at
all. The input has two gradients, as input and as target.
"""

import numpy as np

OUTPUTS = ("loss", "reconstruction")


def inputs():
    random = np.random.default_rng(13)
    return {"image": random.uniform(size=(2, 1, 8, 8)).astype(np.float32)}


def mindspore_net():
    from mindspore import nn

    class Autoencoder(nn.Cell):
        def __init__(self):
            super().__init__()
            self.encoder = nn.SequentialCell(
                nn.Conv2d(1, 3, 3, stride=2, pad_mode="pad", padding=1, has_bias=True),
                nn.ELU(),
                nn.Conv2d(3, 4, 3, stride=2, pad_mode="pad", padding=1, has_bias=True),
            )
            self.decoder = nn.SequentialCell(
                nn.Conv2dTranspose(4, 3, 4, stride=2, pad_mode="pad", padding=1, has_bias=True),
                nn.ELU(),
                nn.Conv2dTranspose(3, 1, 4, stride=2, pad_mode="pad", padding=1, has_bias=True),
                nn.Sigmoid(),
            )
            self.loss = nn.MSELoss()

        def construct(self, image):
            reconstruction = self.decoder(self.encoder(image))
            return self.loss(reconstruction, image), reconstruction

    return Autoencoder()


def torch_net():
    from torch import nn

    class Autoencoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = nn.Sequential(
                nn.Conv2d(1, 3, 3, stride=2, padding=1),
                nn.ELU(),
                nn.Conv2d(3, 4, 3, stride=2, padding=1),
            )
            self.decoder = nn.Sequential(
                nn.ConvTranspose2d(4, 3, 4, stride=2, padding=1),
                nn.ELU(),
                nn.ConvTranspose2d(3, 1, 4, stride=2, padding=1),
                nn.Sigmoid(),
            )
            self.loss = nn.MSELoss()

        def forward(self, image):
            reconstruction = self.decoder(self.encoder(image))
            return self.loss(reconstruction, image), reconstruction

    return Autoencoder()


def jax_net():
    import jax
    from jax import lax

    def conv(params, name, x):
        weight, bias = params[f"{name}.weight"], params[f"{name}.bias"]
        x = lax.conv_general_dilated(x, weight, (2, 2), [(1, 1), (1, 1)])
        return x + bias[:, None, None]

    def conv_transpose(params, name, x):
        weight, bias = params[f"{name}.weight"], params[f"{name}.bias"]
        # Each side is padded by kernel - 1 - padding = 2.
        x = lax.conv_transpose(
            x,
            weight,
            strides=(2, 2),
            padding=[(2, 2), (2, 2)],
            dimension_numbers=("NCHW", "OIHW", "NCHW"),
            transpose_kernel=True,
        )
        return x + bias[:, None, None]

    def net(params, image):
        code = jax.nn.elu(conv(params, "encoder.0", image))
        code = conv(params, "encoder.2", code)
        x = jax.nn.elu(conv_transpose(params, "decoder.0", code))
        reconstruction = jax.nn.sigmoid(conv_transpose(params, "decoder.2", x))
        return ((reconstruction - image) ** 2).mean(), reconstruction

    return net
