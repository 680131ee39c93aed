"""A user's own package with a net in both frameworks, as files outside the repository."""

from pathlib import Path

PACKAGE = "ported_nets"
OTHER_PACKAGE = "other_nets"
"""A second one, whose file has the last name of one in the first."""

RIGHT = f"{PACKAGE}.models:torch_net"
WRONG = f"{PACKAGE}.models:wrong_torch_net"
MINDSPORE = f"{PACKAGE}.models:mindspore_net"

BROKEN = f"{PACKAGE}.torch.models:broken_net"
MISSING = f"{PACKAGE}.torch.models:no_such_net"

MINDSPORE_TWIN = f"{PACKAGE}.mindspore.models:net"
OTHER_TWIN = f"{OTHER_PACKAGE}.torch.models:net"

BROKEN_LINE = 14
"""The line of torch/models.py in which a net cannot be made."""

TWIN_LINE = 6
"""The line with what the nets of both twins do; they part there."""

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
    "torch/models.py": """\
from torch import nn


class Net(nn.Module):
    def forward(self, x, y):
        return nn.functional.mse_loss(nn.functional.gelu(x).mean(1, keepdim=True), y)


def net():
    return Net()


def broken_net():
    from ported_nets.sizes import NO_SUCH_SIZE
""",
    "mindspore/models.py": """\
from mindspore import nn, ops


class Net(nn.Cell):
    def construct(self, x, y):
        return ops.mse_loss(ops.gelu(x).mean(1, keep_dims=True), y)


def net():
    return Net()
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

OTHER_FILES = {
    "__init__.py": "",
    "torch/models.py": FILES["torch/models.py"].replace("functional.gelu", "functional.silu"),
}


def write_package(folder: Path) -> Path:
    """Write both packages into ``folder``, which is returned."""
    for package, files in ((PACKAGE, FILES), (OTHER_PACKAGE, OTHER_FILES)):
        for name, text in files.items():
            path = folder / package / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return folder
