"""Accumulation of passes with a scaled loss in PyTorch."""

import torch
from recorded_loop import in_torch, steps
from torch import nn

MICRO = 3

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 8), nn.SiLU(), nn.Linear(8, 3))
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2, weight_decay=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
loss_of = nn.CrossEntropyLoss()

for x, y in steps("overflowing", "labels", to=in_torch):
    optimizer.zero_grad()
    for micro in range(MICRO):
        part = slice(3 * micro, 3 * micro + 3)
        loss = loss_of(net(x[part]), y[part]) / MICRO
        scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(net.parameters(), 0.5)
    scaler.step(optimizer)
    scaler.update()
