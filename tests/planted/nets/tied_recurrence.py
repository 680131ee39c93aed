"""A plain recurrent autoencoder that reads and writes with one weight, with discounted errors."""

OUTPUTS = ("loss", "written")
SEED = 113
INPUTS = {"x": (2, 4, 5)}


def torch_net():
    class Autoencoder(nn.Module):
        def __init__(self, features=5, hidden=4):
            super().__init__()
            self.hidden = hidden
            self.read = nn.Linear(features, hidden)
            self.turn = nn.Linear(hidden, hidden, bias=False)
            self.bias = nn.Parameter(torch.zeros(features))
            discounts = torch.full((1, 4), 0.8)
            discounts = torch.cumprod(discounts, dim=1) / 0.8
            self.register_buffer("discounts", discounts, persistent=False)

        def forward(self, x):
            h = x.new_zeros(x.shape[0], self.hidden)
            for step in range(x.shape[1]):
                h = torch.tanh(self.read(x[:, step]) + self.turn(h))
            written = []
            for _ in range(x.shape[1]):
                written.append(h @ self.read.weight + self.bias)
                h = torch.tanh(self.turn(h))
            written = torch.stack(written, dim=1)
            errors = (written - x.flip(1)).pow(2).mean(2)
            running = errors.cumsum(1) - errors
            loss = (self.discounts * errors).sum(1).mean() + 0.1 * running.mean()
            return loss, written

    return Autoencoder()
