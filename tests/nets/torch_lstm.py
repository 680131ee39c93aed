"""An LSTM with dropout over the last step."""

import numpy as np

OUTPUTS = ("loss", "logits")
TRAIN = True


def inputs():
    random = np.random.default_rng(0)
    return {"x": random.normal(size=(2, 4, 6)).astype(np.float32), "y": np.array([0, 1])}


def torch_net():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = nn.LSTM(6, 5, batch_first=True)
            self.drop = nn.Dropout(0.5)
            self.fc = nn.Linear(5, 2)

        def forward(self, x, y):
            steps, _ = self.lstm(x)
            logits = self.fc(self.drop(steps[:, -1]))
            return torch.nn.functional.cross_entropy(logits, y), logits

    return Net()
