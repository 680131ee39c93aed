"""A small residual net that trains, ported from PyTorch to flax.linen, which keeps channels last."""

import numpy as np

OUTPUTS = ("loss",)
TRAIN = True


def inputs():
    rng = np.random.default_rng(0)
    image = rng.standard_normal((2, 12, 12, 3)).astype(np.float32)
    return {"image": image, "label": np.array([1, 3])}


def torch_net():
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = nn.Conv2d(3, 8, 3, 1, 1, bias=False)
            self.norm = nn.BatchNorm2d(8)
            self.pool = nn.MaxPool2d(3, 2, 1)
            self.conv = nn.Conv2d(8, 16, 3, 2, 1, bias=False)
            self.norms = nn.ModuleList([nn.BatchNorm2d(16), nn.BatchNorm2d(16)])
            self.down = nn.Conv2d(8, 16, 1, 2, bias=False)
            self.fc = nn.Linear(16, 5)

        def forward(self, image, label):
            x = self.norm(self.stem(image.permute(0, 3, 1, 2))).relu()
            x = self.pool(x)
            shortcut = self.norms[1](self.down(x))
            y = self.norms[0](self.conv(x))
            x = (y + shortcut).relu()
            return nn.functional.cross_entropy(self.fc(x.mean((2, 3))), label)

    return Net()


def jax_net():
    import jax
    import jax.numpy as jnp
    from flax import linen as nn

    one = ((1, 1), (1, 1))

    class Net(nn.Module):
        def setup(self):
            self.stem = nn.Conv(8, (3, 3), padding=one, use_bias=False)
            self.norm = nn.BatchNorm()
            self.conv = nn.Conv(16, (3, 3), 2, padding=one, use_bias=False)
            self.norms = [nn.BatchNorm(epsilon=1e-5), nn.BatchNorm()]
            self.down = nn.Conv(16, (1, 1), 2, padding="VALID", use_bias=False)
            self.fc = nn.Dense(5)

        def __call__(self, image, label, train=False):
            x = nn.relu(self.norm(self.stem(image), use_running_average=not train))
            x = nn.max_pool(x, (3, 3), (2, 2), padding=one)
            shortcut = self.norms[1](self.down(x), use_running_average=not train)
            y = self.norms[0](self.conv(x), use_running_average=not train)
            x = nn.relu(y + shortcut)
            scores = jax.nn.log_softmax(self.fc(x.mean((1, 2))))
            return -jnp.take_along_axis(scores, label[:, None], axis=1).mean()

    return Net()
