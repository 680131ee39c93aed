"""A face classifier with a margin on the angle.

Modelled on ArcFace (Deng et al., 2018): features and class weights on the unit sphere, the angle to
the right class made larger by a margin before the softmax, and everything scaled by a constant.

Watch the scale, 64 in the paper and 16 here, and the cut: cosines are kept inside ±(1 − 1e-7), for
the derivative of the arc cosine has no bound there. The margin is added to the angle of the right
class only.
"""

import numpy as np

OUTPUTS = ("loss", "cosine")
CONSTANTS = ("label",)


def inputs():
    random = np.random.default_rng(41)
    return {
        "x": random.normal(size=(3, 6)).astype(np.float32),
        "label": np.array([2, 0, 3], np.int32),
    }


def mindspore_net():
    import mindspore as ms
    from mindspore import Parameter, nn, ops
    from mindspore.common.initializer import XavierUniform, initializer

    class ArcFace(nn.Cell):
        def __init__(self, features=5, classes=4, scale=16.0, margin=0.5):
            super().__init__()
            self.backbone = nn.SequentialCell(
                nn.Dense(6, 8), nn.PReLU(8, 0.25), nn.Dense(8, features)
            )
            self.weight = Parameter(initializer(XavierUniform(), (classes, features), ms.float32))
            self.normalize = ops.L2Normalize(axis=1, epsilon=1e-12)
            self.classes = classes
            self.scale = scale
            self.margin = margin

        def construct(self, x, label):
            x = self.normalize(self.backbone(x))
            w = self.normalize(self.weight)
            cosine = ops.matmul(x, w.T)
            theta = ops.acos(ops.clamp(cosine, -1 + 1e-7, 1 - 1e-7))
            on, off = ms.Tensor(1.0, ms.float32), ms.Tensor(0.0, ms.float32)
            right = ops.one_hot(label, self.classes, on, off)
            logits = ops.cos(theta + self.margin * right)
            return ops.cross_entropy(self.scale * logits, label), cosine

    return ArcFace()


def torch_net():
    import torch
    from torch import nn
    from torch.nn import functional as F

    class ArcFace(nn.Module):
        def __init__(self, features=5, classes=4, scale=16.0, margin=0.5):
            super().__init__()
            self.backbone = nn.Sequential(nn.Linear(6, 8), nn.PReLU(8), nn.Linear(8, features))
            self.weight = nn.Parameter(torch.empty(classes, features))
            nn.init.xavier_uniform_(self.weight)
            self.classes = classes
            self.scale = scale
            self.margin = margin

        def forward(self, x, label):
            cosine = F.linear(F.normalize(self.backbone(x)), F.normalize(self.weight))
            theta = torch.acos(cosine.clamp(-1 + 1e-7, 1 - 1e-7))
            right = F.one_hot(label.long(), self.classes).float()
            logits = torch.cos(theta + self.margin * right)
            return F.cross_entropy(self.scale * logits, label.long()), cosine

    return ArcFace()


def jax_net():
    import jax
    import jax.numpy as jnp

    def normalize(x):
        return x / jnp.maximum(jnp.linalg.norm(x, axis=1, keepdims=True), 1e-12)

    def net(params, x, label, scale=16.0, margin=0.5):
        x = x @ params["backbone.0.weight"].T + params["backbone.0.bias"]
        x = jnp.where(x > 0, x, params["backbone.1.weight"] * x)
        x = x @ params["backbone.2.weight"].T + params["backbone.2.bias"]
        cosine = normalize(x) @ normalize(params["weight"]).T
        theta = jnp.arccos(jnp.clip(cosine, -1 + 1e-7, 1 - 1e-7))
        right = jax.nn.one_hot(label, 4, dtype=x.dtype)
        scores = jax.nn.log_softmax(scale * jnp.cos(theta + margin * right))
        return -(scores * right).sum(1).mean(), cosine

    return net
