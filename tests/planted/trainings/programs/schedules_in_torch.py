"""A warm-up and a cosine in PyTorch."""

import torch
from recorded_loop import in_torch, steps
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, SequentialLR

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

for x, y in steps("features", "labels", to=in_torch):
    loss = loss_of(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
