"""An autoencoder with a codebook: the gradient passes straight through the nearest code.

The codebook is drawn towards the features, and the features, with a smaller weight, towards it.
"""

OUTPUTS = ("loss", "reconstruction")
SEED = 108
INPUTS = {"x": (4, 6)}


def torch_net():
    class Autoencoder(nn.Module):
        def __init__(self, features=6, dim=3, codes=5):
            super().__init__()
            self.encoder = nn.Sequential(nn.Linear(features, 8), nn.Tanh(), nn.Linear(8, dim))
            self.codebook = nn.Embedding(codes, dim)
            self.decoder = nn.Sequential(nn.Linear(dim, 8), nn.Tanh(), nn.Linear(8, features))

        def forward(self, x):
            z = self.encoder(x)
            table = self.codebook.weight
            apart = z.unsqueeze(1) - table.unsqueeze(0)
            distance = apart.pow(2).sum(2)
            chosen = self.codebook(distance.argmin(dim=1))
            codebook_loss = (chosen - z.detach()).pow(2).mean()
            commitment = (z - chosen.detach()).pow(2).mean()
            straight = z + (chosen - z).detach()
            reconstruction = self.decoder(straight)
            error = (reconstruction - x).pow(2).sum(1).mean()
            loss = error + codebook_loss + 0.25 * commitment
            return loss, reconstruction

    return Autoencoder()
