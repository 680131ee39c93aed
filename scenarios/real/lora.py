"""A low-rank adapter beside a frozen layer.

Modelled on LoRA (Hu et al., "Low-rank adaptation of large language models", 2021): the weight of a
pretrained layer stays as it is, and a product of two thin matrices, scaled by alpha / rank, is added
to it and trained.

Watch what is frozen: `requires_grad` is False on the base weight in both frameworks, so that it has no
gradient at all, and the bias of this layer stays trainable. In published code the second matrix starts
at zero, which makes the first one's gradient zero; here it has been trained a little.
"""

import numpy as np

OUTPUTS = ("loss", "logits")
CONSTANTS = ("label",)


def inputs():
    random = np.random.default_rng(34)
    return {
        "x": random.normal(size=(3, 6)).astype(np.float32),
        "label": np.array([1, 0, 2], np.int32),
    }


def mindspore_net():
    import mindspore as ms
    from mindspore import Parameter, nn, ops
    from mindspore.common.initializer import HeUniform, Normal, initializer

    class LoRALinear(nn.Cell):
        def __init__(self, in_features, out_features, rank=2, alpha=8):
            super().__init__()
            self.base = nn.Dense(in_features, out_features)
            self.base.weight.requires_grad = False
            self.lora_a = Parameter(initializer(HeUniform(), (rank, in_features), ms.float32))
            self.lora_b = Parameter(initializer(Normal(0.1), (out_features, rank), ms.float32))
            self.scaling = alpha / rank

        def construct(self, x):
            update = ops.matmul(ops.matmul(x, self.lora_a.T), self.lora_b.T)
            return self.base(x) + update * self.scaling

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc1 = LoRALinear(6, 8)
            self.fc2 = nn.Dense(8, 3)

        def construct(self, x, label):
            logits = self.fc2(ops.relu(self.fc1(x)))
            return ops.cross_entropy(logits, label), logits

    return Net()


def torch_net():
    import math

    import torch
    from torch import nn
    from torch.nn import functional as F

    class LoRALinear(nn.Module):
        def __init__(self, in_features, out_features, rank=2, alpha=8):
            super().__init__()
            self.base = nn.Linear(in_features, out_features)
            self.base.weight.requires_grad_(False)
            self.lora_a = nn.Parameter(torch.empty(rank, in_features))
            self.lora_b = nn.Parameter(torch.randn(out_features, rank) * 0.1)
            nn.init.kaiming_uniform_(self.lora_a, a=math.sqrt(5))
            self.scaling = alpha / rank

        def forward(self, x):
            update = x @ self.lora_a.T @ self.lora_b.T
            return self.base(x) + update * self.scaling

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc1 = LoRALinear(6, 8)
            self.fc2 = nn.Linear(8, 3)

        def forward(self, x, label):
            logits = self.fc2(F.relu(self.fc1(x)))
            return F.cross_entropy(logits, label.long()), logits

    return Net()


def jax_net():
    import jax
    import jax.numpy as jnp

    def lora_linear(params, name, x, rank=2, alpha=8):
        frozen = jax.lax.stop_gradient(params[f"{name}.base.weight"])
        update = x @ params[f"{name}.lora_a"].T @ params[f"{name}.lora_b"].T
        return x @ frozen.T + params[f"{name}.base.bias"] + update * (alpha / rank)

    def net(params, x, label):
        hidden = jax.nn.relu(lora_linear(params, "fc1", x))
        logits = hidden @ params["fc2.weight"].T + params["fc2.bias"]
        scores = jax.nn.log_softmax(logits)
        return -jnp.take_along_axis(scores, label[:, None], axis=1).mean(), logits

    return net
