"""A GAN in PyTorch."""

import torch
from recorded_loop import in_torch, steps
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits as bce

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 5), nn.Tanh())
critic = nn.Sequential(nn.Linear(5, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
nets = {"generator": generator, "critic": critic}
optimizer_g = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.999))
optimizer_d = torch.optim.Adam(critic.parameters(), lr=4e-3, betas=(0.5, 0.999))

for noise, points in steps("noise", "points", to=in_torch, model=nets):
    fake = generator(noise)

    optimizer_d.zero_grad()
    real_logits = critic(points)
    fake_logits = critic(fake.detach())
    loss_d = bce(real_logits, torch.ones_like(real_logits)) + bce(
        fake_logits, torch.zeros_like(fake_logits)
    )
    loss_d.backward()
    optimizer_d.step()

    optimizer_g.zero_grad()
    logits = critic(fake)
    loss_g = bce(logits, torch.ones_like(logits))
    loss_g.backward()
    optimizer_g.step()
