"""A user's own package with a net in both frameworks, as files outside the repository."""

from pathlib import Path

PACKAGE = "ported_nets"

RIGHT = f"{PACKAGE}.models:torch_net"
WRONG = f"{PACKAGE}.models:wrong_torch_net"
MINDSPORE = f"{PACKAGE}.models:mindspore_net"

WRONG_LINE = 14
"""The line of torch_models.py in which the wrong port parts from the net: it takes another gelu."""

FILES = {
    "__init__.py": "",
    "sizes.py": "HIDDEN = 4\n",
    "models.py": """\
from ported_nets.sizes import HIDDEN


def mindspore_net():
    from ported_nets.mindspore_models import Net

    return Net(HIDDEN)


def torch_net():
    from ported_nets.torch_models import Net

    return Net(HIDDEN)


def wrong_torch_net():
    from ported_nets.torch_models import Net

    return Net(HIDDEN, approximate="tanh")
""",
    "mindspore_models.py": """\
from mindspore import nn, ops


class Net(nn.Cell):
    def __init__(self, hidden):
        super().__init__()
        self.first = nn.Dense(3, hidden)
        self.last = nn.Dense(hidden, 1)

    def construct(self, x, y):
        return ops.mse_loss(self.last(ops.gelu(self.first(x))), y)
""",
    "torch_models.py": """\
from torch import nn
from torch.nn import functional


class Net(nn.Module):
    def __init__(self, hidden, approximate="none"):
        super().__init__()
        self.first = nn.Linear(3, hidden)
        self.last = nn.Linear(hidden, 1)
        self.approximate = approximate

    def forward(self, x, y):
        hidden = self.first(x)
        hidden = functional.gelu(hidden, approximate=self.approximate)
        return functional.mse_loss(self.last(hidden), y)
""",
}


def write_package(folder: Path) -> Path:
    """Write the package into ``folder``, which is returned."""
    package = folder / PACKAGE
    package.mkdir(parents=True)
    for name, text in FILES.items():
        (package / name).write_text(text, encoding="utf-8")
    return folder
