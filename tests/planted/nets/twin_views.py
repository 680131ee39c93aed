"""Two views through one encoder with batch norm and dropout; each predicts the other's detached code."""

OUTPUTS = ("loss", "similarity")
TRAIN = True
SEED = 121
INPUTS = {"one": (4, 5), "other": (4, 5)}


def torch_net():
    class Encoder(nn.Module):
        def __init__(self, features=5, dim=6):
            super().__init__()
            self.fc1 = nn.Linear(features, dim)
            self.bn = nn.BatchNorm1d(dim, eps=1e-5, momentum=0.1)
            self.dropout = nn.Dropout(p=0.25)
            self.fc2 = nn.Linear(dim, dim)

        def forward(self, x):
            h = F.relu(self.bn(self.fc1(x)))
            return self.fc2(self.dropout(h))

    class Twins(nn.Module):
        def __init__(self, dim=6):
            super().__init__()
            self.encoder = Encoder(5, dim)
            self.predictor = nn.Linear(dim, dim)

        def closeness(self, p, z):
            p = p / p.norm(dim=1, keepdim=True)
            z = z / z.norm(dim=1, keepdim=True)
            return (p * z).sum(1)

        def forward(self, one, other):
            z1 = self.encoder(one)
            z2 = self.encoder(other)
            p1 = self.predictor(z1)
            p2 = self.predictor(z2)
            first = self.closeness(p1, z2.detach())
            second = self.closeness(p2, z1.detach())
            similarity = first + second
            loss = (2.0 - similarity).mean()
            return loss, similarity

    return Twins()
