"""Nets of both frameworks with a mistake whose op and line are known, and some without one."""

from pathlib import Path
from typing import NamedTuple

from tests.support.scenario_files import written
from tests.support.two_sided import Side, normal, scenario_text


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


def recurrent_start(inside: int, into: int, out: int) -> str:
    """The start of a recurrent layer: what is read, and what it hands on."""
    return f"""
    DRAWN = np.random.default_rng(5)
    SHAPES = {{"into.weight": ({out}, {into}), "onwards.weight": ({out}, {inside})}}
    START = {{it: (DRAWN.standard_normal(shape) / 2).astype(np.float32) for it, shape in SHAPES.items()}}
    for name in ("into.bias", "onwards.bias"):
        START[name] = (DRAWN.standard_normal({out}) / 4).astype(np.float32)

    def parameters():
        return dict(START)
    """


DENSE = "self.one, self.two = nn.Dense(8, 5), nn.Dense(5, 4)"
LINEAR = "self.one, self.two = nn.Linear(8, 5), nn.Linear(5, 4)"
TARGET = 'CONSTANTS = ("t",)'

IN_SINGLE = """
hidden = self.one(x)
return self.two(torch.tanh(hidden)).square().mean()
"""

NETS = {
    # A tensor that was saved and is overwritten behind the tape.
    "overwrite_exp": Net(
        Side("", "b = ops.exp(x)\nreturn (b * 3).sum()"),
        Side("", "b = torch.exp(x)\ny = (b * 3).sum()\nb.data.mul_(0.5)\nreturn y"),
        'return {"x": np.array([0.1, 0.2, 0.3], np.float32)}',
    ),
    "overwrite_part": Net(
        Side("", "return ops.sigmoid(x).sum()"),
        Side("", "b = torch.sigmoid(x)\ny = b.sum()\nb.data[1] = 0.0\nreturn y"),
        'return {"x": np.array([1.0, 2.0, 3.0], np.float32)}',
    ),
    # A parameter that the port holds and leaves out.
    "unread_scale": Net(
        Side(
            'self.up, self.scale = nn.Dense(4, 5), ms.Parameter(ops.zeros((5,)), name="scale")',
            "return (ops.tanh(self.up(x)) ** 2).mean()",
        ),
        Side(
            "self.up, self.scale = nn.Linear(4, 5), nn.Parameter(torch.linspace(0.5, 1.5, 5))",
            "return (torch.tanh(self.up(x) * self.scale) ** 2).mean()",
        ),
        normal(2, 4),
    ),
    "unread_scale_behind": Net(
        Side(
            'self.up, self.scale = nn.Dense(4, 5), ms.Parameter(ops.zeros((5,)), name="scale")',
            "return (ops.tanh(self.up(x)) ** 2).mean()",
        ),
        Side(
            "self.up, self.scale = nn.Linear(4, 5), nn.Parameter(torch.linspace(0.5, 1.5, 5))",
            "return (torch.sigmoid(self.up(x)) ** self.scale).mean()",
        ),
        normal(2, 4),
    ),
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
    # Broadcasts.
    "other_axis": Net(
        Side("", "return ops.tanh(x + t.reshape(3, 1)).sum()"),
        Side("", "return torch.tanh(x + t).sum()"),
        """
        rng = np.random.default_rng(0)
        return {it: rng.normal(size=size).astype(np.float32) for it, size in (("x", (3, 3)), ("t", 3))}
        """,
        "x, t",
    ),
    "column_of_a_layer": Net(
        Side("self.fc = nn.Dense(3, 1)", "return ops.abs(self.fc(x) - t).mean()"),
        Side("self.fc = nn.Linear(3, 1)", "return (self.fc(x) - t).abs().mean()"),
        """
        rng = np.random.default_rng(0)
        return {it: rng.normal(size=size).astype(np.float32) for it, size in (("x", (4, 3)), ("t", 4))}
        """,
        "x, t",
        TARGET,
    ),
    "column_and_outer": Net(
        Side("", "return ((x - x.T) ** 2).sum()"),
        Side("", "return ((x - x.T) ** 2).sum()"),
        'return {"x": np.array([[0.5], [1.0], [-2.0]], np.float32)}',
    ),
    # Two differences that meet in one sum.
    "two_branches": Net(
        Side(
            "self.one, self.two = nn.Dense(4, 4), nn.Dense(4, 4)",
            "one = ops.mish(self.one(x))\ntwo = ops.elu(self.two(x))\nreturn (one + two + x).sum()",
        ),
        Side(
            "self.one, self.two = nn.Linear(4, 4), nn.Linear(4, 4)",
            "one = F.silu(self.one(x))\ntwo = F.relu(self.two(x))\nreturn (one + two + x).sum()",
        ),
        normal(3, 4, seed=2),
    ),
    # Backpropagation through time that is cut after two steps, in MindSpore's half after three.
    "truncated": Net(
        Side(
            "self.into, self.onwards = nn.Dense(3, 3), nn.Dense(3, 3)",
            """
            h = ops.zeros((2, 3), ms.float32)
            loss = 0
            for t in range(4):
                if t == 3:
                    h = ops.stop_gradient(h)
                h = ops.tanh(self.into(x[t]) + self.onwards(h))
                loss = loss + (h**2).mean()
            return loss
            """,
        ),
        Side(
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
        ),
        normal(4, 2, 3),
        head=recurrent_start(3, 3, 3),
    ),
    # Gates of an LSTM in the order i, f, g, o, in MindSpore's half in the order i, g, f, o.
    "gates": Net(
        Side(
            "self.into, self.onwards = nn.Dense(4, 12), nn.Dense(3, 12)",
            """
            h, c = ops.zeros((2, 3), ms.float32), ops.zeros((2, 3), ms.float32)
            for t in range(3):
                i, g, f, o = ops.split(self.into(x[:, t]) + self.onwards(h), 3, axis=-1)
                c = ops.sigmoid(f) * c + ops.sigmoid(i) * ops.tanh(g)
                h = ops.sigmoid(o) * ops.tanh(c)
            return (h * h).sum()
            """,
        ),
        Side(
            "self.into, self.onwards = nn.Linear(4, 12), nn.Linear(3, 12)",
            """
            h, c = torch.zeros(2, 3), torch.zeros(2, 3)
            for t in range(3):
                i, f, g, o = (self.into(x[:, t]) + self.onwards(h)).chunk(4, dim=-1)
                c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
                h = torch.sigmoid(o) * torch.tanh(c)
            return (h * h).sum()
            """,
        ),
        normal(2, 3, 4),
        head=recurrent_start(3, 4, 12),
    ),
    # MindSpore fills what output_padding adds with zeros; not all ops up to the next layer of the kind.
    "output_padding": Net(
        Side(
            """
            self.up = nn.Conv2dTranspose(
                2, 2, 3, stride=2, pad_mode="pad", padding=1, output_padding=1, has_bias=True
            )
            self.out = nn.Conv2d(2, 2, 3, pad_mode="pad", padding=1, has_bias=True)
            """,
            "y = self.out(ops.tanh(self.up(x)))\nreturn (y * y).mean()",
        ),
        Side(
            """
            self.up = nn.ConvTranspose2d(2, 2, 3, stride=2, padding=1, output_padding=1)
            self.out = nn.Conv2d(2, 2, 3, padding=1)
            """,
            "y = self.out(torch.tanh(self.up(x)))\nreturn (y * y).mean()",
        ),
        normal(1, 2, 3, 3),
    ),
    # A mask that hides the diagonal too, and is a buffer on the other side.
    "mask_of_diagonal": Net(
        Side(
            "self.mask = ms.Tensor(np.triu(np.ones((4, 4)), 0).astype(bool))",
            """
            weights = ops.softmax(ops.masked_fill(x, self.mask, -1e9), axis=-1)
            return (weights * weights).sum()
            """,
        ),
        Side(
            'self.register_buffer("mask", torch.ones(4, 4).triu(1).bool(), persistent=False)',
            """
            weights = torch.softmax(x.masked_fill(self.mask, -1e9), dim=-1)
            return (weights * weights).sum()
            """,
        ),
        normal(2, 4, 4),
    ),
    # Values that one net alone rounds, so coarsely that its own noise covers the difference.
    "rounded_hidden": Net(
        Side(
            DENSE,
            """
            hidden = ops.tanh(self.one(x)).astype(ms.float16).astype(ms.float32)
            return self.two(hidden).square().mean()
            """,
        ),
        Side(LINEAR, IN_SINGLE),
        normal(6, 8),
        head=TWO_LAYERS,
    ),
    "layer_in_half": Net(
        Side(DENSE, "return self.two(ops.tanh(self.one(x))).square().mean()"),
        Side(
            LINEAR,
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
    "summed_in_half": Net(
        Side(
            DENSE,
            """
            out = self.two(ops.tanh(self.one(x))).square()
            return out.astype(ms.float16).mean().astype(ms.float32)
            """,
        ),
        Side(LINEAR, IN_SINGLE),
        normal(6, 8),
        head=TWO_LAYERS,
    ),
    "half_on_both": Net(
        Side(
            """
            self.one = nn.Dense(8, 5).to_float(ms.float16)
            self.two = nn.Dense(5, 4).to_float(ms.float16)
            """,
            """
            out = self.two(ops.relu(self.one(x).astype(ms.float32)))
            return out.astype(ms.float32).square().mean()
            """,
        ),
        Side(
            LINEAR,
            """
            one, two = self.one, self.two
            hidden = F.linear(x.half(), one.weight.half(), one.bias.half())
            out = F.linear(torch.relu(hidden), two.weight.half(), two.bias.half())
            return out.float().square().mean()
            """,
        ),
        normal(6, 8),
        head=TWO_LAYERS,
    ),
    # Running statistics alone: MindSpore's momentum is the share that is kept.
    "momentum": Net(
        Side(
            """
            self.first = nn.BatchNorm1d(3, momentum=0.1)
            self.second = nn.BatchNorm1d(3, momentum=0.1)
            """,
            "y = self.second(ops.tanh(self.first(x)))\nreturn (y * y * y).sum()",
        ),
        Side(
            """
            self.first = nn.BatchNorm1d(3, momentum=0.1)
            self.second = nn.BatchNorm1d(3, momentum=0.1)
            """,
            "y = self.second(torch.tanh(self.first(x)))\nreturn (y * y * y).sum()",
        ),
        normal(6, 3),
        head="TRAIN = True",
    ),
    # Values that are not finite: 0 * log(0), the root of a variance of 0, a target that holds nan.
    "nan_log": Net(
        Side("", "return -(t * ops.log(x)).sum()"),
        Side("", "return -(t * torch.log(x)).sum()"),
        """
        t = np.array([0.0, 1.0, 0.0], np.float32)
        return {"x": np.array([0.0, 0.5, 0.5], np.float32), "t": t}
        """,
        "x, t",
        TARGET,
    ),
    "nan_std": Net(
        Side("", "centred = x - x.mean()\nreturn ops.sqrt((centred * centred).mean())"),
        Side("", "centred = x - x.mean()\nreturn torch.sqrt((centred * centred).mean())"),
        'return {"x": np.full(4, 2.0, np.float32)}',
    ),
    "nan_target": Net(
        Side("self.fc = nn.Dense(2, 2)", "error = self.fc(x) - t\nreturn (error * error).mean()"),
        Side("self.fc = nn.Linear(2, 2)", "error = self.fc(x) - t\nreturn (error * error).mean()"),
        """
        t = np.array([[0.5, np.nan]], np.float32)
        return {"x": np.array([[1.0, 2.0]], np.float32), "t": t}
        """,
        "x, t",
        TARGET,
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
