"""Nets of both frameworks with a mistake whose op and line are known."""

from pathlib import Path
from typing import NamedTuple

from tests.support.scenario_files import Side, normal, scenario_text, written
from tests.support.twin_nets import twins


class Net(NamedTuple):
    """The two sides, the inputs, their names, and what else the scenario says."""

    mindspore: Side
    torch: Side
    inputs: str
    names: str = "x"
    head: str = ""


TWO_LAYERS = """
DRAWN = np.random.default_rng(5)
SHAPES = {"one.weight": (5, 8), "one.bias": 5, "two.weight": (4, 5), "two.bias": 4}
START = {name: DRAWN.uniform(-0.35, 0.35, shape).astype(np.float32) for name, shape in SHAPES.items()}

def parameters():
    return dict(START)
"""


RECURRENT = """
DRAWN = np.random.default_rng(5)
SHAPES = {"into.weight": (3, 3), "onwards.weight": (3, 3)}
START = {it: (DRAWN.standard_normal(shape) / 2).astype(np.float32) for it, shape in SHAPES.items()}
for name in ("into.bias", "onwards.bias"):
    START[name] = (DRAWN.standard_normal(3) / 4).astype(np.float32)

def parameters():
    return dict(START)
"""

NETS = {
    # A tensor that was saved and is overwritten behind the tape.
    "overwrite_exp": Net(
        Side("", "b = ops.exp(x)\nreturn (b * 3).sum()"),
        Side("", "b = torch.exp(x)\ny = (b * 3).sum()\nb.data.mul_(0.5)\nreturn y"),
        'return {"x": np.array([0.1, 0.2, 0.3], np.float32)}',
    ),
    # A parameter that the port holds and leaves out.
    "unread_bias": Net(
        Side(
            "self.up, self.back = nn.Dense(4, 5), nn.Dense(5, 5)",
            """
            hidden = ops.zeros((2, 5))
            for step in range(3):
                given = self.up(x[:, step])
                hidden = ops.tanh(given + ops.matmul(hidden, self.back.weight.swapaxes(0, 1)))
            return (hidden**2).mean()
            """,
        ),
        Side(
            "self.up, self.back = nn.Linear(4, 5), nn.Linear(5, 5)",
            """
            hidden = torch.zeros(2, 5)
            weights = self.up.weight, self.back.weight, self.up.bias, self.back.bias
            for step in range(3):
                hidden = torch.rnn_tanh_cell(x[:, step], hidden, *weights)
            return (hidden**2).mean()
            """,
        ),
        normal(2, 3, 4),
    ),
    # A broadcast that nobody has meant.
    "column_of_a_layer": Net(
        Side("self.fc = nn.Dense(3, 1)", "return ops.abs(self.fc(x) - t).mean()"),
        Side("self.fc = nn.Linear(3, 1)", "return (self.fc(x) - t).abs().mean()"),
        """
        rng = np.random.default_rng(0)
        return {it: rng.normal(size=size).astype(np.float32) for it, size in (("x", (4, 3)), ("t", 4))}
        """,
        "x, t",
        'CONSTANTS = ("t",)',
    ),
    # Two differences that meet in one sum.
    "two_branches": Net(
        *twins(
            "self.one, self.two = nn.Linear(4, 4), nn.Linear(4, 4)",
            "one = F.silu(self.one(x))\ntwo = F.relu(self.two(x))\nreturn (one + two + x).sum()",
            ("F.silu", "ops.mish"),
            ("F.relu", "ops.elu"),
        ),
        normal(3, 4, seed=2),
    ),
    # Backpropagation through time that is cut after two steps, in MindSpore's half after three.
    "truncated": Net(
        *twins(
            "self.into, self.onwards = nn.Linear(3, 3), nn.Linear(3, 3)",
            """
            h = torch.zeros(2, 3)
            loss = 0
            for t in range(4):
                if t == 2:
                    h = h.detach()
                h = torch.tanh(self.into(x[t]) + self.onwards(h))
                loss = loss + (h**2).mean()
            return loss
            """,
            ("torch.zeros(2, 3)", "ops.zeros((2, 3), ms.float32)"),
            ("t == 2", "t == 3"),
            ("h.detach()", "ops.stop_gradient(h)"),
        ),
        normal(4, 2, 3),
        head=RECURRENT,
    ),
    # A layer that one net alone rounds, so coarsely that its own noise covers the difference.
    "layer_in_half": Net(
        Side(
            "self.one, self.two = nn.Dense(8, 5), nn.Dense(5, 4)",
            "return self.two(ops.tanh(self.one(x))).square().mean()",
        ),
        Side(
            "self.one, self.two = nn.Linear(8, 5), nn.Linear(5, 4)",
            """
            hidden = torch.tanh(self.one(x))
            with torch.autocast("cpu", dtype=torch.bfloat16):
                out = self.two(hidden)
            return out.float().square().mean()
            """,
        ),
        normal(6, 8),
        head=TWO_LAYERS,
    ),
    # The root of a variance of 0.
    "nan_std": Net(
        *twins("", "centred = x - x.mean()\nreturn torch.sqrt((centred * centred).mean())"),
        'return {"x": np.full(4, 2.0, np.float32)}',
    ),
}


def file_of(name: str, folder: Path) -> Path:
    """The scenario file of a net."""
    made = NETS[name]
    text = scenario_text(made.inputs, made.mindspore, made.torch, made.names, made.head)
    return written(folder, text, f"{name}.py")


def with_lines(part: str, path: Path) -> str:
    """A part of a sentence in which each ``@{piece}`` is the place of the line that holds the piece."""
    lines = path.read_text(encoding="utf-8").splitlines()
    while "@{" in part:
        before, _, rest = part.partition("@{")
        piece, _, behind = rest.partition("}")
        (number,) = (number for number, line in enumerate(lines, 1) if piece in line)
        part = f"{before}{path.name}:{number}{behind}"
    return part
