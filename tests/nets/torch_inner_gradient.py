"""A derivative inside of the forward: the loss is the square of a field's slope."""

import numpy as np


def inputs():
    return {"x": np.array([[0.5], [-1], [2]], np.float32)}


def torch_net():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.tensor([[1.0, -2.0]]))
            self.v = nn.Parameter(torch.tensor([[0.5], [3.0]]))

        def forward(self, x):
            x.requires_grad_()
            field = torch.tanh(x @ self.w) @ self.v
            (slope,) = torch.autograd.grad(field.sum(), x, create_graph=True)
            return (slope**2).mean()

    return Net()
