"""A library of mistakes of ports: a layer or function that was given something else than the other side's."""

from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

import msgspec

from explorer.model.graph import Arguments
from tests.support.scenario_files import Side, normal, scenario_text, written
from tests.support.twin_nets import twins


class Mistake(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``mindspore`` and ``torch`` make a layer or are an expression of ``h``, of the shape.

    The difference is explained by arguments of an op or by ``other_op``, or by nothing that is tried.
    """

    mindspore: str
    torch: str
    shape: tuple[int, ...]
    explained_by: Arguments = {}
    other_op: str = ""

    @property
    def is_explained(self) -> bool:
        return bool(self.explained_by or self.other_op)


TABLE = Path(__file__).with_suffix(".toml").read_bytes()

TABLES = msgspec.toml.decode(TABLE, type=dict[str, dict[str, Mistake]])

MISTAKES, BY_HAND = TABLES["of_one_op"], TABLES["by_hand"]


def net_with(mistake: Mistake, folder: Path) -> Path:
    """A scenario file with a mistake."""
    last = mistake.shape[-1]
    halves = []
    for code, dense in ((mistake.mindspore, "nn.Dense"), (mistake.torch, "nn.Linear")):
        is_layer = code.startswith("nn.")
        layers = f"self.fc = {dense}({last}, {last})"
        call = "self.layer(h)" if is_layer else code
        halves.append(
            Side(
                f"{layers}\nself.layer = {code}" if is_layer else layers,
                f"h = self.fc(x)\ny = {call}\nreturn (y * y).sum()",
            )
        )
    text = scenario_text(normal(*mistake.shape), halves[0], halves[1])
    return written(folder, text, "mistaken.py")


# Nets with several mistakes of a port each


class Planted(NamedTuple):
    """One mistake of a net: a piece of each side's line, and what explains it where something does.

    ``explained_by`` is an argument of PyTorch's op, or the name of an operator.
    """

    torch: str
    mindspore: str
    explained_by: str = ""


class Several(NamedTuple):
    """A net in both frameworks and its mistakes; ``shape`` is that of its input.

    ``layers`` and ``lines``, which change ``h``, are PyTorch's; ``changes`` make MindSpore's of them, as the
    pieces of the mistakes do.
    """

    shape: tuple[int, ...]
    layers: str
    lines: str
    mistakes: tuple[Planted, ...]
    changes: tuple[tuple[str, str], ...] = ()


GELU = Planted("F.gelu(h)", "ops.gelu(h, approximate='tanh')", "approximate")
NORM = Planted("self.norm(h)", "self.norm(h)", "eps")
OTHER_EPS = "nn.LayerNorm(6)", "nn.LayerNorm((6,), epsilon=1e-2)"
NORMED = "self.one, self.two, self.norm = nn.Linear(6, 6), nn.Linear(6, 6), nn.LayerNorm(6)"

SEVERAL: dict[str, Several] = {
    "four in a row": Several(
        (4, 6),
        NORMED,
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
        (
            NORM,
            GELU,
            Planted("F.silu(h)", "ops.relu(h)", "aten.relu.default"),
            Planted("torch.clamp(h, min=-0.5, max=0.5)", "ops.clamp(h, min=-0.5, max=0.7)", "max"),
        ),
        (OTHER_EPS,),
    ),
    "a scale too many and a norm": Several(
        (4, 6),
        NORMED,
        """
        h = self.one(x)
        h = torch.tanh(h)
        h = self.two(h)
        h = self.norm(h)
        """,
        (Planted("", "h * 0.5"), NORM),
        (OTHER_EPS, ("h = torch.tanh(h)", "h = h * 0.5\nh = ops.tanh(h)")),
    ),
    "detached and an activation": Several(
        (4, 6),
        "self.one, self.two = nn.Linear(6, 6), nn.Linear(6, 6)",
        """
        h = self.one(x)
        r = torch.tanh(h)
        h = F.elu(self.two(h) + r)
        """,
        (
            Planted("torch.tanh(h)", "ops.stop_gradient(ops.tanh(h))"),
            Planted("F.elu(self.two(h) + r)", "ops.relu(self.two(h) + r)", "aten.relu.default"),
        ),
    ),
    "large values": Several(
        (8, 3, 16, 16),
        "self.conv, self.two = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 4, 3, padding=1)",
        """
        h = self.conv(x)
        h = F.gelu(h)
        h = self.two(h)
        h = F.leaky_relu(h, 0.01)
        """,
        (GELU, Planted("F.leaky_relu(h, 0.01)", "ops.leaky_relu(h, 0.2)", "negative_slope")),
        (("padding=1", "pad_mode='pad', padding=1, has_bias=True"),),
    ),
}


def net_with_several(net: Several, folder: Path) -> Path:
    """A scenario of a net with its mistakes."""
    pieces = [(planted.torch, planted.mindspore) for planted in net.mistakes if planted.torch]
    lines = f"{dedent(net.lines).strip()}\nreturn (h * h * h).sum()"
    sides = twins(net.layers, lines, *net.changes, *pieces)
    return written(folder, scenario_text(normal(*net.shape), *sides))
