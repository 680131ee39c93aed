"""EMA of the weights in PyTorch."""

import torch
from recorded_loop import in_torch, steps
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 8), nn.ELU(), nn.LayerNorm(8), nn.Linear(8, 3))
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2, weight_decay=0.05)
average = AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(0.95))
loss_of = nn.SmoothL1Loss()

for x, y in steps("features", "targets", to=in_torch):
    optimizer.zero_grad()
    loss_of(net(x), y).backward()
    optimizer.step()
    average.update_parameters(net)
