"""A detection head with focal and box losses.

Modelled on RetinaNet (Lin et al., "Focal loss for dense object detection", 2017): one shared
convolution, a branch that says what stands at each place and one that says where, a focal loss for
the first and an L1 loss, on places with an object only, for the second.

Watch what the losses divide by, the number of places with an object and not the number of places, and
which of the two classes gets the weight alpha. The head's bias starts where a rare object is expected,
at −log((1 − 0.01) / 0.01), so that the first gradients are small.
"""

import numpy as np

OUTPUTS = ("loss", "scores")
CONSTANTS = ("objects", "boxes")


def inputs():
    random = np.random.default_rng(35)
    return {
        "features": random.normal(size=(2, 4, 4, 4)).astype(np.float32),
        "objects": (random.uniform(size=(2, 1, 4, 4)) > 0.7).astype(np.int32),
        "boxes": random.normal(size=(2, 4, 4, 4)).astype(np.float32),
    }


def mindspore_net():
    import math

    import mindspore as ms
    from mindspore import nn, ops

    class Head(nn.Cell):
        def __init__(self, channels=4):
            super().__init__()
            prior = -math.log((1 - 0.01) / 0.01)
            self.tower = nn.Conv2d(channels, channels, 3, pad_mode="same", has_bias=True)
            self.score = nn.Conv2d(channels, 1, 3, pad_mode="same", has_bias=True, bias_init=prior)
            self.box = nn.Conv2d(channels, 4, 3, pad_mode="same", has_bias=True)

        def construct(self, x):
            x = ops.relu(self.tower(x))
            return self.score(x), self.box(x)

    class Detector(nn.Cell):
        def __init__(self, alpha=0.25, gamma=2.0):
            super().__init__()
            self.head = Head()
            self.alpha = alpha
            self.gamma = gamma

        def focal(self, scores, target):
            p = ops.sigmoid(scores)
            weight = ops.ones_like(scores)
            ce = ops.binary_cross_entropy_with_logits(scores, target, weight, weight, "none")
            p_t = p * target + (1 - p) * (1 - target)
            alpha_t = self.alpha * target + (1 - self.alpha) * (1 - target)
            return (alpha_t * ops.pow(1 - p_t, self.gamma) * ce).sum()

        def construct(self, features, objects, boxes):
            target = objects.astype(ms.float32)
            scores, predicted = self.head(features)
            count = ops.maximum(target.sum(), ms.Tensor(1.0, ms.float32))
            loss_box = (ops.abs(predicted - boxes) * target).sum() / count
            return self.focal(scores, target) / count + loss_box, scores

    return Detector()


def torch_net():
    import math

    import torch
    from torch import nn
    from torch.nn import functional as F

    class Head(nn.Module):
        def __init__(self, channels=4):
            super().__init__()
            prior = -math.log((1 - 0.01) / 0.01)
            self.tower = nn.Conv2d(channels, channels, 3, padding=1)
            self.score = nn.Conv2d(channels, 1, 3, padding=1)
            self.box = nn.Conv2d(channels, 4, 3, padding=1)
            nn.init.constant_(self.score.bias, prior)

        def forward(self, x):
            x = F.relu(self.tower(x))
            return self.score(x), self.box(x)

    class Detector(nn.Module):
        def __init__(self, alpha=0.25, gamma=2.0):
            super().__init__()
            self.head = Head()
            self.alpha = alpha
            self.gamma = gamma

        def focal(self, scores, target):
            p = torch.sigmoid(scores)
            ce = F.binary_cross_entropy_with_logits(scores, target, reduction="none")
            p_t = p * target + (1 - p) * (1 - target)
            alpha_t = self.alpha * target + (1 - self.alpha) * (1 - target)
            return (alpha_t * (1 - p_t) ** self.gamma * ce).sum()

        def forward(self, features, objects, boxes):
            target = objects.float()
            scores, predicted = self.head(features)
            count = target.sum().clamp(min=1.0)
            loss_box = (torch.abs(predicted - boxes) * target).sum() / count
            return self.focal(scores, target) / count + loss_box, scores

    return Detector()


def jax_net():
    import jax
    import jax.numpy as jnp
    from jax import lax

    def conv(params, name, x):
        x = lax.conv_general_dilated(x, params[f"{name}.weight"], (1, 1), "SAME")
        return x + params[f"{name}.bias"][:, None, None]

    def focal(scores, target, alpha=0.25, gamma=2.0):
        p = jax.nn.sigmoid(scores)
        log_p, log_not_p = jax.nn.log_sigmoid(scores), jax.nn.log_sigmoid(-scores)
        ce = -(target * log_p + (1 - target) * log_not_p)
        p_t = p * target + (1 - p) * (1 - target)
        alpha_t = alpha * target + (1 - alpha) * (1 - target)
        return (alpha_t * (1 - p_t) ** gamma * ce).sum()

    def net(params, features, objects, boxes):
        target = objects.astype(features.dtype)
        x = jax.nn.relu(conv(params, "head.tower", features))
        scores, predicted = conv(params, "head.score", x), conv(params, "head.box", x)
        count = jnp.maximum(target.sum(), 1.0)
        loss_box = (jnp.abs(predicted - boxes) * target).sum() / count
        return focal(scores, target) / count + loss_box, scores

    return net
