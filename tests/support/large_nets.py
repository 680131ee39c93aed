"""Families of nets of any size, as the text of scenario files: both frameworks' net, one start."""

from pathlib import Path
from typing import NamedTuple

from tests.support.scenario_files import written

HEAD = '''"""{title}: {blocks} blocks of width {width}."""

import numpy as np

BLOCKS, WIDTH, ROWS = {blocks}, {width}, {rows}


def orthogonal(random):
    return np.linalg.qr(random.normal(size=(WIDTH, WIDTH)))[0].astype(np.float32)


def small(random, *shape):
    return (random.normal(size=shape) * 0.1).astype(np.float32)

'''
"""Weights are orthogonal, or divided by the depth: no value of the forward vanishes or explodes.

Each tanh makes the gradient a little smaller: its norm is 6e-18 at the input of 625 such layers.
"""

MLP = """
def inputs():
    return {"x": np.random.default_rng(0).normal(size=(ROWS, WIDTH)).astype(np.float32)}


def parameters():
    random = np.random.default_rng(1)
    arrays = {}
    for block in range(BLOCKS):
        arrays[f"layers.{block}.weight"] = orthogonal(random)
        arrays[f"layers.{block}.bias"] = small(random, WIDTH)
    return arrays


def mindspore_net():
    from mindspore import nn, ops

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.layers = nn.CellList([nn.Dense(WIDTH, WIDTH) for _ in range(BLOCKS)])

        def construct(self, x):
            for layer in self.layers:
                x = ops.tanh(layer(x))
            return (x * x).sum()

    return Net()


def torch_net():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(BLOCKS))

        def forward(self, x):
            for layer in self.layers:
                x = torch.tanh(layer(x))
            return (x * x).sum()

    return Net()
"""

RESIDUAL = """
def inputs():
    return {"x": np.random.default_rng(0).normal(size=(ROWS, WIDTH)).astype(np.float32)}


def parameters():
    random = np.random.default_rng(1)
    arrays = {}
    for block in range(BLOCKS):
        arrays[f"blocks.{block}.up.weight"] = orthogonal(random)
        arrays[f"blocks.{block}.up.bias"] = small(random, WIDTH)
        arrays[f"blocks.{block}.down.weight"] = orthogonal(random) / np.float32(BLOCKS**0.5)
        arrays[f"blocks.{block}.down.bias"] = small(random, WIDTH) / np.float32(BLOCKS**0.5)
    return arrays


def mindspore_net():
    from mindspore import nn, ops

    class Block(nn.Cell):
        def __init__(self):
            super().__init__()
            self.up = nn.Dense(WIDTH, WIDTH)
            self.down = nn.Dense(WIDTH, WIDTH)

        def construct(self, x):
            return x + self.down(ops.relu(self.up(x)))

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.blocks = nn.SequentialCell([Block() for _ in range(BLOCKS)])

        def construct(self, x):
            x = self.blocks(x)
            return (x * x).sum()

    return Net()


def torch_net():
    import torch
    from torch import nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.up = nn.Linear(WIDTH, WIDTH)
            self.down = nn.Linear(WIDTH, WIDTH)

        def forward(self, x):
            return x + self.down(torch.relu(self.up(x)))

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = nn.Sequential(*[Block() for _ in range(BLOCKS)])

        def forward(self, x):
            x = self.blocks(x)
            return (x * x).sum()

    return Net()
"""

TRANSFORMER = """
def inputs():
    return {"x": np.random.default_rng(0).normal(size=(2, ROWS, WIDTH)).astype(np.float32)}


def parameters():
    random = np.random.default_rng(1)
    arrays = {}
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
    return arrays


def mindspore_net():
    from mindspore import nn, ops

    class Block(nn.Cell):
        def __init__(self):
            super().__init__()
            self.norm1 = nn.LayerNorm((WIDTH,), epsilon=1e-5)
            self.norm2 = nn.LayerNorm((WIDTH,), epsilon=1e-5)
            self.query = nn.Dense(WIDTH, WIDTH)
            self.key = nn.Dense(WIDTH, WIDTH)
            self.value = nn.Dense(WIDTH, WIDTH)
            self.project = nn.Dense(WIDTH, WIDTH)
            self.up = nn.Dense(WIDTH, WIDTH)
            self.down = nn.Dense(WIDTH, WIDTH)

        def construct(self, x):
            y = self.norm1(x)
            query, key, value = self.query(y), self.key(y), self.value(y)
            scores = ops.matmul(query, key.swapaxes(1, 2)) * WIDTH**-0.5
            x = x + self.project(ops.matmul(ops.softmax(scores, axis=-1), value))
            return x + self.down(ops.relu(self.up(self.norm2(x))))

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.blocks = nn.SequentialCell([Block() for _ in range(BLOCKS)])

        def construct(self, x):
            x = self.blocks(x)
            return (x * x).sum()

    return Net()


def torch_net():
    import torch
    from torch import nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1 = nn.LayerNorm(WIDTH)
            self.norm2 = nn.LayerNorm(WIDTH)
            self.query = nn.Linear(WIDTH, WIDTH)
            self.key = nn.Linear(WIDTH, WIDTH)
            self.value = nn.Linear(WIDTH, WIDTH)
            self.project = nn.Linear(WIDTH, WIDTH)
            self.up = nn.Linear(WIDTH, WIDTH)
            self.down = nn.Linear(WIDTH, WIDTH)

        def forward(self, x):
            y = self.norm1(x)
            query, key, value = self.query(y), self.key(y), self.value(y)
            scores = query @ key.transpose(1, 2) * WIDTH**-0.5
            x = x + self.project(torch.softmax(scores, -1) @ value)
            return x + self.down(torch.relu(self.up(self.norm2(x))))

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = nn.Sequential(*[Block() for _ in range(BLOCKS)])

        def forward(self, x):
            x = self.blocks(x)
            return (x * x).sum()

    return Net()
"""

RECURRENT = """
def inputs():
    return {"x": np.random.default_rng(0).normal(size=(BLOCKS, ROWS, WIDTH)).astype(np.float32)}


def parameters():
    random = np.random.default_rng(1)
    return {
        "enter.weight": orthogonal(random),
        "enter.bias": small(random, WIDTH),
        "again.weight": orthogonal(random),
        "again.bias": small(random, WIDTH),
    }


def mindspore_net():
    from mindspore import nn, ops

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.enter = nn.Dense(WIDTH, WIDTH)
            self.again = nn.Dense(WIDTH, WIDTH)

        def construct(self, x):
            state = self.enter(x[0])
            for step in range(1, BLOCKS):
                state = ops.tanh(self.enter(x[step]) + self.again(state))
            return (state * state).sum()

    return Net()


def torch_net():
    import torch
    from torch import nn

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

    return Net()
"""


class Family(NamedTuple):
    """A family: its title, the text of its nets, and how many nodes of PyTorch's tape a block adds."""

    title: str
    text: str
    nodes: int


FAMILIES = {
    "mlp": Family("A deep multilayer perceptron", MLP, 16),
    "residual": Family("A stack of residual blocks", RESIDUAL, 32),
    "transformer": Family("A stack of transformer blocks", TRANSFORMER, 161),
    "recurrent": Family("A recurrent net, unrolled", RECURRENT, 30),
}


def blocks_of(family: str, nodes: int) -> int:
    """The number of blocks at which a family's graph on PyTorch's tape has about ``nodes`` nodes."""
    return max(2, round(nodes / FAMILIES[family].nodes))


def large_net(family: str, nodes: int, width: int = 8, rows: int = 4) -> str:
    """The text of a scenario of about ``nodes`` nodes; its values have ``rows`` × ``width`` elements."""
    title, text, _ = FAMILIES[family]
    head = HEAD.format(title=title, blocks=blocks_of(family, nodes), width=width, rows=rows)
    return head + text


def written_net(folder: Path, family: str, nodes: int, width: int = 8, rows: int = 4) -> Path:
    """The file of a scenario of about ``nodes`` nodes, in ``folder``."""
    text = large_net(family, nodes, width, rows)
    return written(folder, text, f"{family}_{nodes}.py")
