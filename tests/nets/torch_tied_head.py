"""An output head that is the embedding, and a weight of which only the second name is read."""

import numpy as np


def inputs():
    return {"x": np.array([[1, 2, 3], [-1, 0, 2]], np.float32)}


def torch_net():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.wte = nn.Embedding(4, 3)
            self.head = nn.Linear(3, 4, bias=False)
            self.head.weight = self.wte.weight
            self.spare = nn.Linear(4, 4, bias=False)
            self.mix = nn.Linear(4, 4, bias=False)
            self.mix.weight = self.spare.weight

        def forward(self, x):
            hidden = self.head(x + self.wte(torch.tensor([1, 2])))
            return self.mix(hidden).square().sum()

    return Net()
