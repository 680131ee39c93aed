"""Truncated BPTT with an LSTM in PyTorch."""

import torch
from recorded_loop import in_torch, steps
from torch import nn


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 6, batch_first=True)
        self.head = nn.Linear(6, 1)

    def forward(self, x, state):
        output, state = self.lstm(x, state)
        return self.head(output), state


torch.manual_seed(0)
net = Forecaster()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
loss_of = nn.MSELoss()

state = (torch.zeros(1, 4, 6), torch.zeros(1, 4, 6))
for step, (x, y) in enumerate(steps("series", "next_values", to=in_torch)):
    if step == 4:  # the next epoch begins
        state = (torch.zeros(1, 4, 6), torch.zeros(1, 4, 6))
    prediction, state = net(x, state)
    loss = loss_of(prediction, y)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 0.25)
    optimizer.step()
    state = tuple(one.detach() for one in state)
