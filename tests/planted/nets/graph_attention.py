"""A graph net of two kinds of layer: one with a normalised adjacency, one with attention of two heads."""

import numpy as np

OUTPUTS = ("loss", "logits")
CONSTANTS = ("adjacency", "label", "known")


def inputs():
    random = np.random.default_rng(203)
    edges = np.array(
        [
            [0, 1, 1, 0, 0, 0],
            [1, 0, 0, 1, 0, 0],
            [1, 0, 0, 0, 1, 1],
            [0, 1, 0, 0, 0, 0],
            [0, 0, 1, 0, 0, 1],
            [0, 0, 1, 0, 1, 0],
        ],
        np.float32,
    )
    return {
        "x": random.normal(size=(6, 5)).astype(np.float32),
        "adjacency": edges,
        "label": np.array([0, 1, 2, 0, 1, 2], np.int32),
        "known": np.array([1, 1, 0, 1, 0, 1], np.float32),
    }


def torch_net():
    class Convolution(nn.Module):
        def __init__(self, features, hidden):
            super().__init__()
            self.linear = nn.Linear(features, hidden)

        def forward(self, x, adjacency):
            looped = adjacency + torch.eye(adjacency.shape[0])
            degree = looped.sum(1)
            scale = degree.rsqrt()
            spread = scale.unsqueeze(1) * looped * scale.unsqueeze(0)
            return spread @ self.linear(x)

    class Attention(nn.Module):
        def __init__(self, features, hidden, heads=2):
            super().__init__()
            self.heads = heads
            self.hidden = hidden
            self.linear = nn.Linear(features, heads * hidden, bias=False)
            self.source = nn.Linear(hidden, 1, bias=False)
            self.target = nn.Linear(hidden, 1, bias=False)

        def forward(self, x, adjacency):
            n = x.shape[0]
            h = self.linear(x).view(n, self.heads, self.hidden).permute(1, 0, 2)
            scores = self.source(h) + self.target(h).transpose(1, 2)
            scores = F.leaky_relu(scores, 0.2)
            linked = adjacency + torch.eye(n)
            scores = scores.masked_fill(linked == 0, -1e9)
            weights = torch.softmax(scores, dim=2)
            mixed = weights @ h
            return mixed.permute(1, 0, 2).reshape(n, -1)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = Convolution(5, 6)
            self.attn = Attention(6, 4)
            self.head = nn.Linear(8, 3)

        def forward(self, x, adjacency, label, known):
            h = F.relu(self.conv(x, adjacency))
            h = F.elu(self.attn(h, adjacency))
            logits = self.head(h)
            each = F.cross_entropy(logits, label.long(), reduction="none")
            loss = (each * known).sum() / known.sum()
            return loss, logits

    return Net()
