"""One linear layer used twice.

`fc(tanh(fc(x)))`: the layer stands in two places of the program but has one weight and one bias.
The gradient of a shared parameter is the **sum** of the gradients of its uses, and in the gradient
graph that sum is a node of its own: an `AddN` or `Add` in MindSpore's graph, an accumulation into
the parameter's leaf on a tape. Recurrent nets, tied embeddings and siamese nets are this case at
length.

Float64 throughout, so that the engines and the central differences can be compared to many digits.
"""

import numpy as np


def inputs():
    return {"x": np.array([[0.5, -1.0, 0.25], [1.5, 0.75, -0.5]], np.float64)}


def parameters():
    return {
        "fc.weight": np.array(
            [[0.5, -0.25, 0.75], [-1.0, 0.5, 0.25], [0.25, 1.0, -0.5]], np.float64
        ),
        "fc.bias": np.array([0.1, -0.2, 0.3], np.float64),
    }


def mindspore_net():
    import mindspore as ms
    from mindspore import nn, ops

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc = nn.Dense(3, 3, dtype=ms.float64)

        def construct(self, x):
            once = ops.tanh(self.fc(x))
            twice = self.fc(once)
            return (twice * twice).sum()

    return Net()


def torch_net():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(3, 3, dtype=torch.float64)

        def forward(self, x):
            once = torch.tanh(self.fc(x))
            twice = self.fc(once)
            return (twice * twice).sum()

    return Net()


def jax_net():
    import jax.numpy as jnp

    def net(params, x):
        def fc(x):
            return x @ params["fc.weight"].T + params["fc.bias"]

        once = jnp.tanh(fc(x))
        twice = fc(once)
        return (twice * twice).sum()

    return net
