"""A library of mistakes of ports: a layer or function that was given something else than the other side's.

Each is MindSpore's line, PyTorch's, the shape of what they read, and the arguments of PyTorch's op that
explain the difference, or the operator that does (None: nothing that is tried does, and nothing is said).
"""

from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

from explorer.model.graph import Arguments
from tests.support.scenario_files import written
from tests.support.two_sided import Side, normal, scenario_text, twins


class Mistake(NamedTuple):
    """``mindspore`` and ``torch`` make a layer or are an expression of ``h``."""

    mindspore: str
    torch: str
    shape: tuple[int, ...]
    explained_by: Arguments | None
    other_op: str = ""


MATRIX, VOLUME, IMAGE = (4, 6), (4, 3, 6), (4, 3, 6, 6)

MISTAKES: dict[str, Mistake] = {
    "eps of batch norm": Mistake(
        "nn.BatchNorm2d(3, eps=1e-2)", "nn.BatchNorm2d(3)", IMAGE, {"eps": 1e-2}
    ),
    "momentum the other way round": Mistake(
        "nn.BatchNorm2d(3, momentum=0.1)",
        "nn.BatchNorm2d(3, momentum=0.1)",
        IMAGE,
        {"momentum": 0.9},
    ),
    "eps of batch norm without statistics": Mistake(
        "nn.BatchNorm2d(3)",
        "nn.BatchNorm2d(3, eps=1e-3, track_running_stats=False)",
        IMAGE,
        {"eps": 1e-5},
    ),
    "number of groups": Mistake(
        "nn.GroupNorm(3, 6)", "nn.GroupNorm(2, 6)", (4, 6, 2, 4), {"group": 3}
    ),
    "gelu by tanh": Mistake("nn.GELU()", "nn.GELU()", MATRIX, {"approximate": "tanh"}),
    "axis of softmax": Mistake(
        "ops.softmax(h, axis=0)", "torch.softmax(h, dim=1)", MATRIX, {"dim": 0}
    ),
    "padding counted": Mistake(
        "nn.AvgPool2d(3, 1, pad_mode='pad', padding=1, count_include_pad=False)",
        "nn.AvgPool2d(3, 1, padding=1)",
        IMAGE,
        {"count_include_pad": False},
    ),
    "slope of leaky relu": Mistake(
        "nn.LeakyReLU(alpha=0.2)", "nn.LeakyReLU()", MATRIX, {"negative_slope": 0.2}
    ),
    "standard deviation of a sample": Mistake(
        "ops.std(h, axis=1, ddof=0)", "torch.std(h, dim=1)", MATRIX, {"correction": 0}
    ),
    "aligned corners": Mistake(
        "ops.interpolate(h, size=(8, 12), mode='bilinear', align_corners=True)",
        "F.interpolate(h, size=(8, 12), mode='bilinear')",
        (2, 3, 4, 6),
        {"align_corners": True},
    ),
    "dilation with its padding": Mistake(
        "nn.Conv2d(3, 4, 3, pad_mode='pad', padding=1, has_bias=True)",
        "nn.Conv2d(3, 4, 3, padding=2, dilation=2)",
        (2, 3, 8, 8),
        {"padding": (1, 1), "dilation": (1, 1)},
    ),
    "another activation": Mistake(
        "nn.ReLU()", "nn.SiLU()", MATRIX, {}, other_op="aten.relu.default"
    ),
    "a sum for a mean": Mistake(
        "ops.sum(h, dim=1)", "torch.mean(h, dim=1)", MATRIX, {}, other_op="aten.sum.dim_IntList"
    ),
    "the first for the mean": Mistake(
        "h[:, 0]", "torch.mean(h, dim=1)", VOLUME, {}, other_op="aten.select.int"
    ),
    "a scale that no argument makes": Mistake("h * 3.0", "h * 2.0 + h.detach()", MATRIX, None),
    "nothing": Mistake("nn.GELU(approximate=False)", "nn.GELU()", MATRIX, None),
}

BY_HAND: dict[str, Mistake] = {
    "gelu by erf": Mistake(
        "nn.GELU()", "h * 0.5 * (1 + torch.erf(h / 2**0.5))", MATRIX, {}, other_op="ops.gelu"
    ),
    "axis of softmax": Mistake(
        "ops.softmax(h, axis=0)",
        "torch.exp(h) / torch.exp(h).sum(1, keepdim=True)",
        MATRIX,
        {"axis": (1,)},
    ),
    "axis of log softmax": Mistake(
        "nn.LogSoftmax(axis=0)",
        "h - torch.logsumexp(h, 1, keepdim=True)",
        MATRIX,
        {"axis": 1},
    ),
    "eps of layer norm": Mistake(
        "nn.LayerNorm((6,), epsilon=1e-2)",
        "(h - h.mean(-1, keepdim=True)) / torch.sqrt(h.var(-1, correction=0, keepdim=True) + 1e-5)",
        VOLUME,
        {"epsilon": 1e-5},
    ),
    "axis of a norm": Mistake(
        "ops.L2Normalize(axis=0)(h)", "F.normalize(h, dim=1)", MATRIX, {"axis": (1,)}
    ),
    "the axis that is right": Mistake(
        "ops.softmax(h, axis=1)", "torch.exp(h) / torch.exp(h).sum(1, keepdim=True)", MATRIX, None
    ),
    "eps of another formula": Mistake(
        "nn.LayerNorm((6,), epsilon=1e-2)",
        "(h - h.mean(-1, keepdim=True)) / (h.std(-1, correction=0, keepdim=True) + 0.3)",
        VOLUME,
        None,
    ),
}
"""Those where PyTorch's side is written in several ops, explained by MindSpore's op or function."""


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
        (
            GELU,
            Planted("F.leaky_relu(h, 0.01)", "ops.leaky_relu(h, 0.2)", "negative_slope"),
        ),
        (("padding=1", "pad_mode='pad', padding=1, has_bias=True"),),
    ),
}


def net_with_several(net: Several, folder: Path) -> Path:
    """A scenario of a net with its mistakes."""
    pieces = [(planted.torch, planted.mindspore) for planted in net.mistakes if planted.torch]
    lines = f"{dedent(net.lines).strip()}\nreturn (h * h * h).sum()"
    sides = twins(net.layers, lines, *net.changes, *pieces)
    return written(folder, scenario_text(normal(*net.shape), *sides))
