"""Two dense layers with cross entropy against integer labels.

A classifier with one hidden layer. The loss takes logits and integer class labels, and its
derivative with respect to the logits is softmax minus one-hot, divided by the batch size.
MindSpore's loss accepts int32 labels only, PyTorch's int64 only: hence `y.long()`.

An integer has no derivative: a label cannot be moved a little. The frameworks say so differently.
PyTorch refuses ("only Tensors of floating point dtype can require gradients"), MindSpore answers
with zeros, and so a position list that is off by one is an error in the one and a silent zero
gradient in the other. The gradients by `x` and by the weights agree.
"""

import numpy as np

OUTPUTS = ("loss", "logits")
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
        "x": random.normal(size=(4, 6)).round(2).astype(np.float32),
        "y": np.array([2, 0, 1, 2], np.int32),
    }


def parameters():
    random = np.random.default_rng(1)
    return {
        "fc1.weight": random.normal(size=(5, 6)).round(2).astype(np.float32),
        "fc1.bias": np.array([0.1, -0.2, 0.3, 0.05, -0.15], np.float32),
        "fc2.weight": random.normal(size=(3, 5)).round(2).astype(np.float32),
        "fc2.bias": np.array([0.2, -0.1, 0.0], np.float32),
    }


def mindspore_net():
    from mindspore import nn

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc1 = nn.Dense(6, 5)
            self.relu = nn.ReLU()
            self.fc2 = nn.Dense(5, 3)
            self.loss = nn.CrossEntropyLoss()

        def construct(self, x, y):
            hidden = self.relu(self.fc1(x))
            logits = self.fc2(hidden)
            return self.loss(logits, y), logits

    return Net()


def torch_net():
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc1 = nn.Linear(6, 5)
            self.relu = nn.ReLU()
            self.fc2 = nn.Linear(5, 3)
            self.loss = nn.CrossEntropyLoss()

        def forward(self, x, y):
            hidden = self.relu(self.fc1(x))
            logits = self.fc2(hidden)
            return self.loss(logits, y.long()), logits

    return Net()


def jax_net():
    import jax
    import jax.numpy as jnp

    def net(params, x, y):
        hidden = jax.nn.relu(x @ params["fc1.weight"].T + params["fc1.bias"])
        logits = hidden @ params["fc2.weight"].T + params["fc2.bias"]
        scores = jax.nn.log_softmax(logits)
        return -jnp.take_along_axis(scores, y[:, None], axis=1).mean(), logits

    return net
