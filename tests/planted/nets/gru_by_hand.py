"""A bidirectional GRU by hand: the reset gate acts on the product with the state, as in both frameworks."""

OUTPUTS = ("loss", "states")
CONSTANTS = ("target",)
SEED = 105
INPUTS = {"x": (2, 4, 3), "target": (2, 4, 2)}


def torch_net():
    class GRUCell(nn.Module):
        def __init__(self, features, hidden):
            super().__init__()
            self.from_input = nn.Linear(features, 3 * hidden)
            self.from_state = nn.Linear(hidden, 3 * hidden)

        def forward(self, x, h):
            xr, xz, xn = self.from_input(x).chunk(3, dim=1)
            hr, hz, hn = self.from_state(h).chunk(3, dim=1)
            r = torch.sigmoid(xr + hr)
            z = torch.sigmoid(xz + hz)
            n = torch.tanh(xn + r * hn)
            return (1.0 - z) * n + z * h

    class BiGRU(nn.Module):
        def __init__(self, features=3, hidden=4, outputs=2):
            super().__init__()
            self.hidden = hidden
            self.ahead = GRUCell(features, hidden)
            self.back = GRUCell(features, hidden)
            self.head = nn.Linear(2 * hidden, outputs)

        def run(self, cell, x):
            h = x.new_zeros(x.shape[0], self.hidden)
            states = []
            for step in range(x.shape[1]):
                h = cell(x[:, step], h)
                states.append(h)
            return torch.stack(states, dim=1)

        def forward(self, x, target):
            ahead = self.run(self.ahead, x)
            back = self.run(self.back, x.flip(1))
            back = back.flip(1)
            states = torch.cat([ahead, back], dim=2)
            out = self.head(states)
            loss = F.l1_loss(out, target)
            return loss, states

    return BiGRU()
