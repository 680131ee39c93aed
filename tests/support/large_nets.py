"""Families of nets of any size, as the text of scenario files: both frameworks' net, one start."""

from pathlib import Path
from textwrap import indent
from typing import NamedTuple

from tests.support.scenario_files import written
from tests.support.twin_nets import twin

HEAD = '''"""{title}: {blocks} blocks of width {width}."""

import numpy as np

BLOCKS, WIDTH, ROWS = {blocks}, {width}, {rows}


def orthogonal(random):
    return np.linalg.qr(random.normal(size=(WIDTH, WIDTH)))[0].astype(np.float32)


def small(random, *shape):
    return (random.normal(size=shape) * 0.1).astype(np.float32)


def parameters():
    random = np.random.default_rng(1)
    arrays = {{}}
{start}
    return arrays
'''
"""Weights are orthogonal, or divided by the depth: no value of the forward vanishes or explodes.

Each tanh makes the gradient a little smaller: its norm is 6e-18 at the input of 625 such layers.
"""

BLOCKS = """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
{layers}

    def forward(self, x):
{lines}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(*[Block() for _ in range(BLOCKS)])

    def forward(self, x):
        x = self.blocks(x)
        return (x * x).sum()
"""

RECURRENT = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = nn.Linear(WIDTH, WIDTH)
        self.again = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        state = self.enter(x[0])
        for step in range(1, BLOCKS):
            state = torch.tanh(self.enter(x[step]) + self.again(state))
        return (state * state).sum()
"""


def blocks(lines: str, *layers: str) -> str:
    """A stack of blocks with these layers and norms, each of which computes ``lines`` of ``x``."""
    made = []
    for name in layers:
        kind = "nn.LayerNorm(WIDTH)" if name.startswith("norm") else "nn.Linear(WIDTH, WIDTH)"
        made.append(f"self.{name} = {kind}")
    return BLOCKS.format(
        layers=indent("\n".join(made), " " * 8), lines=indent(lines.strip(), " " * 8)
    )


class Family(NamedTuple):
    """A family of nets.

    ``net`` is the text of PyTorch's half, ``start`` fills ``arrays`` with the parameters, ``nodes`` is how
    many nodes of PyTorch's tape a block adds.
    """

    title: str
    net: str
    start: str
    nodes: int
    shape: str = "(ROWS, WIDTH)"


FAMILIES = {
    "mlp": Family(
        "A deep multilayer perceptron",
        blocks("return torch.tanh(self.layer(x))", "layer"),
        """
for block in range(BLOCKS):
    arrays[f"blocks.{block}.layer.weight"] = orthogonal(random)
    arrays[f"blocks.{block}.layer.bias"] = small(random, WIDTH)
""",
        16,
    ),
    "residual": Family(
        "A stack of residual blocks",
        blocks("return x + self.down(torch.relu(self.up(x)))", "up", "down"),
        """
for block in range(BLOCKS):
    arrays[f"blocks.{block}.up.weight"] = orthogonal(random)
    arrays[f"blocks.{block}.up.bias"] = small(random, WIDTH)
    arrays[f"blocks.{block}.down.weight"] = orthogonal(random) / np.float32(BLOCKS**0.5)
    arrays[f"blocks.{block}.down.bias"] = small(random, WIDTH) / np.float32(BLOCKS**0.5)
""",
        32,
    ),
    "transformer": Family(
        "A stack of transformer blocks",
        blocks(
            """
y = self.norm1(x)
query, key, value = self.query(y), self.key(y), self.value(y)
scores = torch.matmul(query, key.swapaxes(1, 2)) * WIDTH**-0.5
x = x + self.project(torch.matmul(torch.softmax(scores, -1), value))
return x + self.down(torch.relu(self.up(self.norm2(x))))
""",
            *("norm1", "norm2", "query", "key", "value", "project", "up", "down"),
        ),
        """
for block in range(BLOCKS):
    for name in ("query", "key", "value", "up"):
        arrays[f"blocks.{block}.{name}.weight"] = orthogonal(random)
        arrays[f"blocks.{block}.{name}.bias"] = small(random, WIDTH)
    for name in ("project", "down"):
        arrays[f"blocks.{block}.{name}.weight"] = orthogonal(random) / np.float32(BLOCKS**0.5)
        arrays[f"blocks.{block}.{name}.bias"] = small(random, WIDTH) / np.float32(BLOCKS**0.5)
    for name in ("norm1", "norm2"):
        arrays[f"blocks.{block}.{name}.weight"] = 1 + small(random, WIDTH)
        arrays[f"blocks.{block}.{name}.bias"] = small(random, WIDTH)
""",
        161,
        "(2, ROWS, WIDTH)",
    ),
    "recurrent": Family(
        "A recurrent net, unrolled",
        RECURRENT,
        """
for name in ("enter", "again"):
    arrays[f"{name}.weight"] = orthogonal(random)
    arrays[f"{name}.bias"] = small(random, WIDTH)
""",
        30,
        "(BLOCKS, ROWS, WIDTH)",
    ),
}


def written_net(folder: Path, family: str, nodes: int, width: int = 8, rows: int = 4) -> Path:
    """The file of a scenario of about ``nodes`` nodes; its values have ``rows`` × ``width`` elements."""
    made = FAMILIES[family]
    head = HEAD.format(
        title=made.title,
        blocks=max(2, round(nodes / made.nodes)),
        width=width,
        rows=rows,
        start=indent(made.start.strip(), " " * 4),
    )
    x = f"np.random.default_rng(0).normal(size={made.shape}).astype(np.float32)"
    text = twin(made.net, head, x=x)
    return written(folder, text, f"{family}_{nodes}.py")
