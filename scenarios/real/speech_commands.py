"""A convolutional keyword spotter over raw sound.

Modelled on the M5 net of Dai et al., "Very deep convolutional neural networks for raw waveforms"
(2016): convolutions over time with batch norm and pooling, a mean over all that is left of time, and
one linear layer.

Watch the first stride, which is wide, so that an error of one in the padding shifts everything behind
it, and the two means: over time in the net, over the batch in the loss. MindSpore keeps the weight of a
1-d convolution with four dimensions. Batch norms are in training mode.
"""

import numpy as np

OUTPUTS = ("loss", "log_probs")
CONSTANTS = ("label",)
TRAIN = True


def inputs():
    random = np.random.default_rng(19)
    return {
        "wave": random.normal(size=(3, 1, 24)).astype(np.float32),
        "label": np.array([1, 0, 2], np.int32),
    }


def mindspore_net():
    from mindspore import nn, ops

    class M5(nn.Cell):
        def __init__(self, channels=4, num_classes=3):
            super().__init__()
            self.conv1 = nn.Conv1d(1, channels, 5, stride=2, pad_mode="valid", has_bias=True)
            self.bn1 = nn.BatchNorm1d(channels)
            self.pool1 = nn.MaxPool1d(2, stride=2)
            self.conv2 = nn.Conv1d(
                channels, 2 * channels, 3, pad_mode="pad", padding=1, has_bias=True
            )
            self.bn2 = nn.BatchNorm1d(2 * channels)
            self.fc = nn.Dense(2 * channels, num_classes)

        def construct(self, wave, label):
            x = self.pool1(ops.relu(self.bn1(self.conv1(wave))))
            x = ops.relu(self.bn2(self.conv2(x)))
            log_probs = ops.log_softmax(self.fc(x.mean(2)), axis=1)
            return ops.nll_loss(log_probs, label), log_probs

    return M5()


def torch_net():
    from torch import nn
    from torch.nn import functional as F

    class M5(nn.Module):
        def __init__(self, channels=4, num_classes=3):
            super().__init__()
            self.conv1 = nn.Conv1d(1, channels, 5, stride=2)
            self.bn1 = nn.BatchNorm1d(channels)
            self.pool1 = nn.MaxPool1d(2)
            self.conv2 = nn.Conv1d(channels, 2 * channels, 3, padding=1)
            self.bn2 = nn.BatchNorm1d(2 * channels)
            self.fc = nn.Linear(2 * channels, num_classes)

        def forward(self, wave, label):
            x = self.pool1(F.relu(self.bn1(self.conv1(wave))))
            x = F.relu(self.bn2(self.conv2(x)))
            log_probs = F.log_softmax(self.fc(x.mean(2)), dim=1)
            return F.nll_loss(log_probs, label.long()), log_probs

    return M5()


def jax_net():
    import jax
    import jax.numpy as jnp
    from jax import lax

    def conv(params, name, x, stride=1, padding=0):
        x = lax.conv_general_dilated(x, params[f"{name}.weight"], (stride,), [(padding, padding)])
        return x + params[f"{name}.bias"][:, None]

    def norm_relu(params, name, x):
        mean, variance = x.mean((0, 2), keepdims=True), x.var((0, 2), keepdims=True)
        normal = (x - mean) * lax.rsqrt(variance + 1e-5)
        weight, bias = params[f"{name}.weight"], params[f"{name}.bias"]
        return jax.nn.relu(normal * weight[:, None] + bias[:, None])

    def net(params, wave, label):
        x = norm_relu(params, "bn1", conv(params, "conv1", wave, stride=2))
        x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2), (1, 1, 2), "VALID")
        x = norm_relu(params, "bn2", conv(params, "conv2", x, padding=1))
        log_probs = x.mean(2) @ params["fc.weight"].T + params["fc.bias"]
        log_probs = jax.nn.log_softmax(log_probs)
        return -jnp.take_along_axis(log_probs, label[:, None], axis=1).mean(), log_probs

    return net
