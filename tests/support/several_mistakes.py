"""Nets with several mistakes of a port each: the lines that hold them, and how each is explained."""

from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

from tests.support.scenario_files import written
from tests.support.two_sided import Side, normal, scenario_text


class Planted(NamedTuple):
    """One mistake of a net: a piece of each side's line, and what explains it where something does.

    ``explained_by`` is an argument of PyTorch's op, or the name of an operator.
    """

    torch: str
    mindspore: str
    explained_by: str = ""


class Several(NamedTuple):
    """A net in both frameworks and its mistakes; ``shape`` is that of its input.

    Layers are made by ``torch_layers`` and ``mindspore_layers``, and the lines of forward change ``h``.
    """

    shape: tuple[int, ...]
    torch_layers: str
    mindspore_layers: str
    torch: str
    mindspore: str
    mistakes: tuple[Planted, ...]


GELU = Planted("F.gelu(h)", "ops.gelu(h, approximate='tanh')", "approximate")

SEVERAL: dict[str, Several] = {
    "four in a row": Several(
        (4, 6),
        "self.one, self.two, self.norm = nn.Linear(6, 6), nn.Linear(6, 6), nn.LayerNorm(6)",
        "self.one, self.two = nn.Dense(6, 6), nn.Dense(6, 6)\n"
        "self.norm = nn.LayerNorm((6,), epsilon=1e-2)",
        """
        h = self.one(x)
        h = self.norm(h)
        r = h
        h = F.gelu(h)
        h = self.two(h)
        h = F.silu(h)
        h = h + r
        h = torch.clamp(h, min=-0.5, max=0.5)
        """,
        """
        h = self.one(x)
        h = self.norm(h)
        r = h
        h = ops.gelu(h, approximate='tanh')
        h = self.two(h)
        h = ops.relu(h)
        h = h + r
        h = ops.clamp(h, min=-0.5, max=0.7)
        """,
        (
            Planted("self.norm(h)", "self.norm(h)", "eps"),
            GELU,
            Planted("F.silu(h)", "ops.relu(h)", "aten.relu.default"),
            Planted("torch.clamp(h, min=-0.5, max=0.5)", "ops.clamp(h, min=-0.5, max=0.7)", "max"),
        ),
    ),
    "a scale too many and a norm": Several(
        (4, 6),
        "self.one, self.two, self.norm = nn.Linear(6, 6), nn.Linear(6, 6), nn.LayerNorm(6)",
        "self.one, self.two = nn.Dense(6, 6), nn.Dense(6, 6)\n"
        "self.norm = nn.LayerNorm((6,), epsilon=1e-2)",
        """
        h = self.one(x)
        h = torch.tanh(h)
        h = self.two(h)
        h = self.norm(h)
        """,
        """
        h = self.one(x)
        h = h * 0.5
        h = ops.tanh(h)
        h = self.two(h)
        h = self.norm(h)
        """,
        (Planted("", "h * 0.5"), Planted("self.norm(h)", "self.norm(h)", "eps")),
    ),
    "detached and an activation": Several(
        (4, 6),
        "self.one, self.two = nn.Linear(6, 6), nn.Linear(6, 6)",
        "self.one, self.two = nn.Dense(6, 6), nn.Dense(6, 6)",
        """
        h = self.one(x)
        r = torch.tanh(h)
        h = F.elu(self.two(h) + r)
        """,
        """
        h = self.one(x)
        r = ops.stop_gradient(ops.tanh(h))
        h = ops.relu(self.two(h) + r)
        """,
        (
            Planted("torch.tanh(h)", "ops.stop_gradient(ops.tanh(h))"),
            Planted("F.elu(self.two(h) + r)", "ops.relu(self.two(h) + r)", "aten.relu.default"),
        ),
    ),
    "large values": Several(
        (8, 3, 16, 16),
        "self.conv, self.two = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 4, 3, padding=1)",
        "self.conv = nn.Conv2d(3, 8, 3, pad_mode='pad', padding=1, has_bias=True)\n"
        "self.two = nn.Conv2d(8, 4, 3, pad_mode='pad', padding=1, has_bias=True)",
        """
        h = self.conv(x)
        h = F.gelu(h)
        h = self.two(h)
        h = F.leaky_relu(h, 0.01)
        """,
        """
        h = self.conv(x)
        h = ops.gelu(h, approximate='tanh')
        h = self.two(h)
        h = ops.leaky_relu(h, 0.2)
        """,
        (
            GELU,
            Planted("F.leaky_relu(h, 0.01)", "ops.leaky_relu(h, 0.2)", "negative_slope"),
        ),
    ),
}


def net_with_several(net: Several, folder: Path) -> Path:
    """A scenario of a net with its mistakes."""
    halves = [
        Side(layers, f"{dedent(lines).strip()}\nreturn (h * h * h).sum()")
        for layers, lines in (
            (net.mindspore_layers, net.mindspore),
            (net.torch_layers, net.torch),
        )
    ]
    return written(folder, scenario_text(normal(*net.shape), halves[0], halves[1]))
