"""A small ResNet with OneCycle in PyTorch."""

import torch
from recorded_loop import in_torch, steps
from torch import nn


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.bn0 = nn.Conv2d(2, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4)
        self.conv1, self.bn1 = nn.Conv2d(4, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4)
        self.conv2, self.bn2 = nn.Conv2d(4, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4)
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        x = torch.relu(self.bn0(self.stem(x)))
        branch = self.bn2(self.conv2(torch.relu(self.bn1(self.conv1(x)))))
        return self.fc(torch.relu(x + branch).mean((2, 3)))


torch.manual_seed(0)
net = ResNet()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4)
schedule = torch.optim.lr_scheduler.OneCycleLR(
    optimizer, max_lr=0.2, total_steps=6, cycle_momentum=False
)
loss_of = nn.CrossEntropyLoss(label_smoothing=0.1)

for x, y in steps("images", "classes", to=in_torch):
    optimizer.zero_grad()
    loss_of(net(x), y).backward()
    optimizer.step()
    schedule.step()
