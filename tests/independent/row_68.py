"""Row 68: which parameters the guide's two filters choose in a net of a convolution and a batch norm."""

from typing import Any


def in_torch() -> dict[str, Any]:
    """The names of those with "conv" in their names, as the guide prints, and of those without."""
    from torch import nn

    net = nn.Module()
    net.conv, net.bn = nn.Conv2d(3, 64, 3), nn.BatchNorm2d(64)
    names = [name for name, _ in net.named_parameters()]
    return {
        "as printed": [name for name in names if "conv" in name],
        "as meant": [name for name in names if "conv" not in name],
    }


def in_mindspore_tape() -> dict[str, Any]:
    """The names without "conv", of all parameters, as the guide prints, and of those that are trained."""
    from mindspore import nn

    class Net(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2d(3, 64, 3)
            self.bn = nn.BatchNorm2d(64)

    net = Net()
    every = [parameter.name for parameter in net.get_parameters()]
    trained = [parameter.name for parameter in net.get_parameters() if parameter.requires_grad]
    return {
        "as printed": [name for name in every if "conv" not in name],
        "as meant": [name for name in trained if "conv" not in name],
    }
