"""Convolution, batch norm, ReLU and max pooling, in training mode.

The block that most image nets are made of, with the defaults that differ written out. MindSpore's
`Conv2d` pads to the "same" size unless told `pad_mode="pad"`, and has no bias unless told
`has_bias=True`. A MindSpore `Cell` starts in inference mode, a PyTorch `Module` in training mode;
`TRAIN = True` sets both to training. The momentum of batch norm is the weight of the *old* running
statistics in MindSpore and of the *new* ones in PyTorch: 0.9 here is 0.1 there.

In training mode batch norm normalises with the statistics of this very batch, so every output
depends on every sample, and the gradient flows through mean and variance too. A bias before batch
norm is subtracted again with the mean: the gradient of `conv.bias` is zero but for rounding, in
every engine.
"""

import numpy as np

OUTPUTS = ("loss", "logits")
TRAIN = True
EXPECTED_DIFFERENCES = [
    {
        "engines": ("torch", "jax"),
        "reason": "PyTorch and JAX refuse to differentiate by integers, MindSpore returns zeros",
        "when": {"position": 1},
    }
]


def inputs():
    random = np.random.default_rng(0)
    return {
        "x": random.normal(size=(2, 3, 8, 8)).round(2).astype(np.float32),
        "y": np.array([2, 0], np.int32),
    }


def parameters():
    random = np.random.default_rng(1)
    return {
        "conv.weight": random.normal(scale=0.3, size=(4, 3, 3, 3)).round(2).astype(np.float32),
        "conv.bias": np.array([0.1, -0.2, 0.3, 0.05], np.float32),
        "bn.weight": np.array([1.0, 0.8, 1.2, 0.9], np.float32),
        "bn.bias": np.array([0.1, 0.2, -0.1, 0.3], np.float32),
        "fc.weight": random.normal(scale=0.2, size=(3, 64)).round(2).astype(np.float32),
        "fc.bias": np.array([0.2, -0.1, 0.0], np.float32),
    }


def mindspore_net():
    from mindspore import nn

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 4, 3, pad_mode="pad", padding=1, has_bias=True)
            self.bn = nn.BatchNorm2d(4, momentum=0.9)
            self.relu = nn.ReLU()
            self.pool = nn.MaxPool2d(2, stride=2)
            self.flatten = nn.Flatten()
            self.fc = nn.Dense(64, 3)
            self.loss = nn.CrossEntropyLoss()

        def construct(self, x, y):
            features = self.relu(self.bn(self.conv(x)))
            logits = self.fc(self.flatten(self.pool(features)))
            return self.loss(logits, y), logits

    return Net()


def torch_net():
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 4, 3, padding=1)
            self.bn = nn.BatchNorm2d(4, momentum=0.1)
            self.relu = nn.ReLU()
            self.pool = nn.MaxPool2d(2)
            self.flatten = nn.Flatten()
            self.fc = nn.Linear(64, 3)
            self.loss = nn.CrossEntropyLoss()

        def forward(self, x, y):
            features = self.relu(self.bn(self.conv(x)))
            logits = self.fc(self.flatten(self.pool(features)))
            return self.loss(logits, y.long()), logits

    return Net()


def jax_net():
    import jax
    import jax.numpy as jnp
    from jax import lax

    def batch_norm(x, scale, bias):
        mean = x.mean((0, 2, 3), keepdims=True)
        variance = x.var((0, 2, 3), keepdims=True)
        normal = (x - mean) * lax.rsqrt(variance + 1e-5)
        return normal * scale[:, None, None] + bias[:, None, None]

    def net(params, x, y):
        image = lax.conv_general_dilated(x, params["conv.weight"], (1, 1), [(1, 1), (1, 1)])
        image = image + params["conv.bias"][:, None, None]
        features = jax.nn.relu(batch_norm(image, params["bn.weight"], params["bn.bias"]))
        window = (1, 1, 2, 2)
        pooled = lax.reduce_window(features, -jnp.inf, lax.max, window, window, "VALID")
        logits = pooled.reshape(len(x), -1) @ params["fc.weight"].T + params["fc.bias"]
        scores = jax.nn.log_softmax(logits)
        return -jnp.take_along_axis(scores, y[:, None], axis=1).mean(), logits

    return net
