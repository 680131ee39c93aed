"""A denoiser that predicts the velocity: cosine schedule, time by sine and cosine, norm with a shift."""

import math

CONSTANTS = ("noise", "time")
SEED = 115
INPUTS = {"image": (2, 2, 5, 5), "noise": (2, 2, 5, 5), "time": "np.array([0.3, 0.8], np.float32)"}


def torch_net():
    class Denoiser(nn.Module):
        def __init__(self, channels=4, time_dim=6):
            super().__init__()
            self.time_dim = time_dim
            self.first = nn.Conv2d(2, channels, 3, padding=1)
            self.norm = nn.GroupNorm(2, channels, eps=1e-5)
            self.modulate = nn.Linear(time_dim, 2 * channels)
            self.last = nn.Conv2d(channels, 2, 3, padding=1)

        def embed(self, time):
            half = self.time_dim // 2
            steps = torch.arange(half) / (half - 1)
            freqs = torch.exp(-math.log(100.0) * steps)
            angles = 10.0 * time.unsqueeze(1) * freqs.unsqueeze(0)
            return torch.cat([angles.sin(), angles.cos()], dim=1)

        def forward(self, image, noise, time):
            angle = (0.5 * math.pi * time).view(-1, 1, 1, 1)
            alpha = angle.cos()
            sigma = angle.sin()
            noisy = alpha * image + sigma * noise
            velocity = alpha * noise - sigma * image
            changes = self.modulate(F.silu(self.embed(time)))[:, :, None, None]
            scale, shift = changes.chunk(2, dim=1)
            h = self.norm(self.first(noisy))
            h = h * (1.0 + scale) + shift
            predicted = self.last(F.silu(h))
            each = (predicted - velocity).pow(2).mean((1, 2, 3))
            weight = torch.clamp(alpha.flatten() ** 2 / sigma.flatten() ** 2, max=2.0)
            return (weight * each).mean()

    return Denoiser()
