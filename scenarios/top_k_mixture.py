"""A mixture of experts with top-k gates.

Four experts, of which each row of `x` takes the two with the highest scores, weighted by a softmax over these two.
The selection is a step function: the derivative flows through the scores chosen, and through the experts chosen, and
the indices have none. An expert that no row chose gets a gradient of exactly zero, and so does its gate, so that it
cannot become better by training: the reason why such nets add a loss that balances the load.

The gradient graph shows how: backward of top-k *scatters* two gradients into four places that hold zeros otherwise,
and backward of the gathering does the same for the experts' answers. MindSpore spells the two `ops.topk` and
`ops.gather_elements`, PyTorch `torch.topk` and `torch.gather`; both sort descending. Where two scores tie, which one
is chosen is up to the framework, and with it where the gradient goes: there is no tie in these numbers.
"""

import numpy as np


def inputs():
    return {"x": np.array([[1.0, -0.5, 2.0], [0.5, 1.5, -1.0]], np.float32)}


def parameters():
    return {
        "gate": np.array([[0.5, -0.25, 0.75, -0.5], [-1.0, 0.5, 0.25, -0.75], [0.75, 1.0, -0.5, -0.2]], np.float32),
        "experts": np.array([[0.2, 0.4, -0.6, 0.8], [1.0, -0.5, 0.5, 0.25], [-0.3, 0.7, 0.1, -0.9]], np.float32),
    }


def mindspore_net():
    import mindspore as ms
    from mindspore import nn, ops

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.gate = ms.Parameter(ops.zeros((3, 4)))
            self.experts = ms.Parameter(ops.zeros((3, 4)))

        def construct(self, x):
            scores, chosen = ops.topk(ops.matmul(x, self.gate), 2)
            weights = ops.softmax(scores)
            answers = ops.tanh(ops.matmul(x, self.experts))
            return (weights * ops.gather_elements(answers, 1, chosen)).sum()

    return Net()


def torch_net():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.gate = nn.Parameter(torch.zeros(3, 4))
            self.experts = nn.Parameter(torch.zeros(3, 4))

        def forward(self, x):
            scores, chosen = torch.topk(torch.matmul(x, self.gate), 2)
            weights = torch.softmax(scores, -1)
            answers = torch.tanh(torch.matmul(x, self.experts))
            return (weights * torch.gather(answers, 1, chosen)).sum()

    return Net()
