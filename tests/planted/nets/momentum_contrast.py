"""Momentum contrast: a query against the key of a slower encoder and the keys of a queue.

The slower encoder is a mixture of its own weights and of the query's, and gets no gradient.
"""

import numpy as np

OUTPUTS = ("loss", "logits")
CONSTANTS = ("queue",)


def inputs():
    random = np.random.default_rng(111)
    queue = random.normal(size=(4, 6)).astype(np.float32)
    return {
        "one": random.normal(size=(3, 5)).astype(np.float32),
        "other": random.normal(size=(3, 5)).astype(np.float32),
        "queue": queue / np.linalg.norm(queue, axis=0, keepdims=True),
    }


def torch_net():
    class Contrast(nn.Module):
        def __init__(self, features=5, dim=4):
            super().__init__()
            self.query = nn.Linear(features, dim)
            self.slow = nn.Linear(features, dim)
            self.temperature = 0.2

        def forward(self, one, other, queue):
            q = torch.tanh(self.query(one))
            q = q / torch.sqrt(q.pow(2).sum(1, keepdim=True) + 1e-6)
            weight = 0.9 * self.slow.weight + 0.1 * self.query.weight
            bias = 0.9 * self.slow.bias + 0.1 * self.query.bias
            k = torch.tanh(other @ weight.T + bias)
            k = k / torch.sqrt(k.pow(2).sum(1, keepdim=True) + 1e-6)
            k = k.detach()
            positive = (q * k).sum(1, keepdim=True)
            negative = q @ queue
            logits = torch.cat([positive, negative], dim=1) / self.temperature
            label = torch.zeros(q.shape[0], dtype=torch.long)
            loss = F.cross_entropy(logits, label)
            return loss, logits

    return Contrast()
