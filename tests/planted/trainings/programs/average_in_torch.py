"""EMA of the weights in PyTorch. python average_in_torch.py OUT BATCHES"""

import sys

import numpy as np
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

import explorer

out, batches = sys.argv[1:]
data = np.load(batches)

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 8), nn.ELU(), nn.LayerNorm(8), nn.Linear(8, 3))
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2, weight_decay=0.05)
average = AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(0.95))
loss_of = nn.SmoothL1Loss()

recorder = explorer.recorder(training=True, out=out)
for x, y in zip(data["features"], data["targets"]):
    x, y = torch.from_numpy(x), torch.from_numpy(y)
    with recorder.step():
        optimizer.zero_grad()
        loss_of(net(x), y).backward()
        optimizer.step()
        average.update_parameters(net)
