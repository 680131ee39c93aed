"""A gated MLP over tokens: half of the channels, mixed along the tokens, multiplies the other half."""

OUTPUTS = ("loss", "logits")
CONSTANTS = ("label",)
SEED = 110
INPUTS = {"image": (2, 3, 8, 8), "label": "np.array([1, 3], np.int32)"}


def torch_net():
    class SpatialGate(nn.Module):
        def __init__(self, half, tokens):
            super().__init__()
            self.norm = nn.LayerNorm(half, eps=1e-6)
            self.along = nn.Linear(tokens, tokens)

        def forward(self, x):
            u, v = x.chunk(2, dim=2)
            v = self.norm(v).transpose(1, 2)
            v = self.along(v).transpose(1, 2)
            return u * (v + 1.0)

    class Net(nn.Module):
        def __init__(self, dim=6, hidden=12, tokens=4, classes=4):
            super().__init__()
            self.patches = nn.Conv2d(3, dim, 4, stride=4)
            self.norm = nn.LayerNorm(dim, eps=1e-6)
            self.fc1 = nn.Linear(dim, hidden)
            self.gate = SpatialGate(hidden // 2, tokens)
            self.fc2 = nn.Linear(hidden // 2, dim)
            self.last = nn.LayerNorm(dim, eps=1e-6)
            self.head = nn.Linear(dim, classes)

        def forward(self, image, label):
            x = self.patches(image)
            x = x.flatten(2).transpose(1, 2)
            h = F.gelu(self.fc1(self.norm(x)))
            x = x + self.fc2(self.gate(h))
            pooled = self.last(x).mean(1)
            logits = self.head(pooled)
            loss = F.cross_entropy(logits / 0.7, label.long())
            return loss, logits

    return Net()
