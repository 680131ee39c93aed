"""A variational autoencoder with a normal likelihood, a bounded variance and a weight on the divergence."""

OUTPUTS = ("loss", "mean")
CONSTANTS = ("noise",)
SEED = 122
INPUTS = {"x": (4, 6), "noise": (4, 3)}


def torch_net():
    class VAE(nn.Module):
        def __init__(self, features=6, hidden=8, dim=3):
            super().__init__()
            self.encode = nn.Linear(features, hidden)
            self.parts = nn.Linear(hidden, 2 * dim)
            self.decode = nn.Linear(dim, hidden)
            self.out = nn.Linear(hidden, features)

        def forward(self, x, noise):
            hidden = F.elu(self.encode(x))
            mu, logvar = self.parts(hidden).chunk(2, dim=1)
            logvar = torch.clamp(logvar, min=-0.2, max=0.2)
            z = mu + torch.exp(0.5 * logvar) * noise
            mean = self.out(F.mish(self.decode(z)))
            error = 0.5 * (x - mean).pow(2) / 0.25
            likelihood = error.sum(1).mean()
            divergence = 0.5 * (mu.pow(2) + torch.exp(logvar) - logvar - 1.0)
            loss = likelihood + 4.0 * divergence.sum(1).mean()
            return loss, mean

    return VAE()
