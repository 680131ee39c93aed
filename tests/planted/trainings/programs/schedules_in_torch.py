"""A warm-up and a cosine in PyTorch. python schedules_in_torch.py OUT BATCHES"""

import sys

import numpy as np
import torch
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, SequentialLR

import explorer

out, batches = sys.argv[1:]
data = np.load(batches)

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 8), nn.Sigmoid(), nn.LayerNorm(8), nn.Linear(8, 3))
decayed = [weight for weight in net.parameters() if weight.ndim > 1]
others = [weight for weight in net.parameters() if weight.ndim == 1]
groups = [{"params": decayed, "weight_decay": 0.05}, {"params": others, "weight_decay": 0.0}]
optimizer = torch.optim.SGD(groups, lr=0.2, momentum=0.9, nesterov=True)
warm_up = LinearLR(optimizer, start_factor=0.25, total_iters=3)
cosine = CosineAnnealingLR(optimizer, T_max=3)
schedule = SequentialLR(optimizer, [warm_up, cosine], milestones=[3])
loss_of = nn.CrossEntropyLoss()

recorder = explorer.recorder(training=True, out=out)
for x, y in zip(data["features"], data["labels"]):
    x, y = torch.from_numpy(x), torch.from_numpy(y).long()
    with recorder.step():
        loss = loss_of(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
