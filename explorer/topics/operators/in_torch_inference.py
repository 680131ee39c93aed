"""A small net in PyTorch with given weights: the same outputs at every call in inference mode, and
in training mode?
"""

import torch
from torch import Tensor, nn

from explorer.model.measurement import Ask, Found
from explorer.topics.in_torch import numbers
from explorer.topics.operators.data import NET, PICTURES
from explorer.topics.operators.in_torch_styles import placed, styled


class Net(nn.Module):  # type: ignore[misc]  # torch's own types are skipped
    """Convolution, batch norm, relu, max pool, dropout, dense."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3)
        self.norm = nn.BatchNorm2d(4)
        self.pool = nn.MaxPool2d(2, 2)
        self.dropout = nn.Dropout(p=0.5)
        self.dense = nn.Linear(16, 3)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.pool(torch.relu(self.norm(self.conv(x))))
        output: Tensor = self.dense(self.dropout(hidden).reshape(x.shape[0], -1))
        return output


@placed
def inference(ask: Ask) -> Found:
    """Outputs of three calls in inference mode, then of two in training mode, in the style asked
    for.
    """
    torch.manual_seed(0)
    net, pictures = Net(), torch.tensor(PICTURES)
    net.load_state_dict({name: torch.tensor(start) for name, start in NET.items()}, strict=False)
    run = styled(net, ask.options["style"])
    net.eval()
    calm = [numbers(run(pictures)) for _ in range(3)]
    net.train()
    return Found({"inference": calm, "training": [numbers(run(pictures)) for _ in range(2)]})
