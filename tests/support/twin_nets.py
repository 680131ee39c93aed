"""Nets whose halves are the same but for the frameworks' names: written once, as PyTorch's."""

import re
from textwrap import dedent, indent

from explorer.model.engines import Framework
from tests.support.scenario_files import Side, text_of

IN_MINDSPORE = {
    "nn.Module": "nn.Cell",
    "def forward": "def construct",
    "nn.Linear": "nn.Dense",
    'nn.GELU(approximate="tanh")': "nn.GELU()",
    "nn.LayerNorm(WIDTH)": "nn.LayerNorm((WIDTH,), epsilon=1e-5)",
    "nn.Sequential(": "nn.SequentialCell(",
    "torch.": "ops.",
    "F.": "ops.",
    ", bias=False": ", has_bias=False",
    ", dim=-1)": ", axis=-1)",
    ", dim=1)": ", axis=1)",
    "keepdim=": "keep_dims=",
    ".pow(2)": ".square()",
    ".unsqueeze(": ".expand_dims(",
    ".long()": "",
}
"""What MindSpore's half of a net has in the place of words of PyTorch's."""


def twin(torch: str, head: str = "import numpy as np", **inputs: str) -> str:
    """The text of a scenario file.

    ``torch`` makes PyTorch's ``net``, or its class ``Net``; inputs are expressions, and the file begins
    with ``head``.
    """
    net = "Net()" if "class Net" in torch else "net"
    torch = f"{dedent(torch).strip()}\n\nreturn {net}"
    arrays = ", ".join(f'"{name}": {array}' for name, array in inputs.items())
    halves: dict[Framework, str] = {"mindspore": in_mindspore(torch), "torch": torch}
    return text_of(head, f"return {{{arrays}}}", halves)


def twins(layers: str, lines: str, *changes: tuple[str, str]) -> tuple[Side, Side]:
    """MindSpore's side by PyTorch's, which is given, and that: pieces that are changed, and other names."""
    sides = []
    for text in (layers, lines):
        for piece, other in changes:
            text = text.replace(piece, other)
        sides.append(in_mindspore(text))
    return Side(*sides), Side(layers, lines)


def in_mindspore(torch: str) -> str:
    """MindSpore's half of a net by PyTorch's."""
    for word, other in IN_MINDSPORE.items():
        torch = torch.replace(word, other)
    return torch


def with_changes(torch: str, changes: str) -> str:
    """MindSpore's half where more than words differ, by a text of lines of PyTorch's (-) and its own (+).

    Raises ValueError where the lines of PyTorch's do not stand in its half.
    """
    mindspore = in_mindspore(torch)
    for old, new in re.findall(r"((?:^-.*\n)+)((?:^\+.*\n)*)", changes, re.MULTILINE):
        lines = [line[2:] for line in in_mindspore(old).splitlines()]
        block = r"^( *)" + r"\n\1".join(map(re.escape, lines)) + r"\n"
        found = re.search(block, mindspore, re.MULTILINE)
        if not found:
            raise ValueError(f"these lines do not stand in PyTorch's half:\n{old}")
        own = "".join(f"{line[2:]}\n" for line in new.splitlines())
        mindspore = mindspore.replace(found[0], indent(own, found[1]))
    return mindspore


SQUARE, ROW = "np.array([[0.5, -0.25], [1.0, 2.0]], np.float32)", "np.array([1, 3], np.float32)"

TWINS: dict[str, str] = {
    # Functions of the framework and of the user, each called at two lines with like arguments.
    "called_at_two_lines": twin(
        """
        def scaled(v, k):
            if k > 1:
                return torch.tanh(v) * k
            return torch.sigmoid(v)

        def net(x):
            first = torch.softmax(torch.relu(x), -1)
            second = torch.softmax(torch.relu(x + 1), -1)
            first = scaled(first, 2)
            second = scaled(second, 2)
            low, _ = torch.max(first, 0)
            high, _ = torch.max(second, 0)
            near = torch.norm(low)
            far = torch.norm(high)
            return near * far
        """,
        x="np.array([[1.0, -2.0, 0.5], [0.3, 0.7, -0.1]], np.float32)",
    ),
    # One loss at two lines, its arguments swapped, and a helper that one line calls twice.
    "losses_at_two_lines": twin(
        """
        def bent(v):
            return F.gelu(v * 0.5)

        def net(x, y):
            there = F.cross_entropy(x, torch.softmax(y, -1))
            back = F.cross_entropy(y, torch.softmax(x, -1))
            both = bent(x) + bent(y)
            return there + back + both.sum()
        """,
        x="np.array([[0.4, -1.0, 0.6]], np.float32)",
        y="np.array([[0.2, 0.5, 0.3]], np.float32)",
    ),
    # A module under the name "network", which holds one of the same name, and like activations.
    "module_called_network": twin(
        """
        class Inner(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(2, 2)
                self.act = nn.GELU(approximate="tanh")

            def forward(self, x):
                return self.act(self.fc(x)) + x

        class Outer(nn.Module):
            def __init__(self):
                super().__init__()
                self.network = Inner()
                self.act = nn.GELU(approximate="tanh")

            def forward(self, x):
                return self.act(self.network(x))

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.network = Outer()
                self.act = nn.GELU(approximate="tanh")

            def forward(self, x):
                return self.act(self.network(x)).sum()
        """,
        x=SQUARE,
    ),
    # Blocks of one class in a sequence, each with an activation that holds no parameter.
    "sequence_of_blocks": twin(
        """
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(2, 2)
                self.act = nn.Tanh()

            def forward(self, x):
                return self.act(self.fc(x)) + x

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.features = nn.Sequential(Block(), nn.Tanh(), Block(), nn.Tanh())

            def forward(self, x):
                return self.features(x).sum()
        """,
        x=SQUARE,
    ),
    # A block that makes its activation anew in every forward: a module without a path.
    "made_while_running": twin(
        """
        class Block(nn.Module):
            def forward(self, x):
                act = nn.Tanh()
                return act(x) * x

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.block = Block()

            def forward(self, x):
                return self.block(x).sum()
        """,
        x=SQUARE,
    ),
    # A value and the same one shifted, read together by two operators: addition hands gradients on.
    "used_together_shifted": twin(
        """
        def net(x):
            a = torch.exp(x)
            b = a + 1
            return (a * b + a / b).sum()
        """,
        x=SQUARE,
    ),
    # Two intermediate values, each of which two operators read together with the other one.
    "used_together_twice": twin(
        """
        def net(x):
            a = torch.sin(x)
            b = torch.cos(x)
            return (a * b + a / b).sum()
        """,
        x=SQUARE,
    ),
    # A tensor that is added to through ".data" before it is read again.
    "data_added": twin(
        """
        def net(a):
            grown = torch.exp(a)
            grown.data[:] = grown + 1.0
            return (grown * grown).sum()
        """,
        a="np.array([0.5, -1.0], np.float32)",
    ),
    # Memory that is overwritten in part through ".data" after it was read.
    "data_overwritten": twin(
        """
        def net(a):
            squashed = torch.tanh(a)
            total = squashed.sum()
            squashed.data[1:] = 0.5
            return total
        """,
        a="np.array([1.0, 2.0, 3.0], np.float32)",
    ),
    # A dict as the one thing that a net returns, of a loss and logits.
    "dict_output": twin(
        """
        def net(x):
            square = x * x
            return {"loss": square.sum(), "logits": square}
        """,
        x=ROW,
    ),
    # A dataclass of a loss and logits as the one thing that a net returns.
    "dataclass_output": twin(
        """
        def net(x):
            square = x * x
            return Output(square.sum(), square)
        """,
        """
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass
class Output:
    loss: Any
    logits: Any
""",
        x=ROW,
    ),
    # Arguments that have defaults, of which a scenario gives just the first.
    "optional_argument": twin(
        """
        class Net(nn.Module):
            def forward(self, x, mask=None, scale=3.0):
                return (x * x).sum() * scale if mask is None else (x * mask).sum()
        """,
        x="np.array([1.0, 2.0], np.float32)",
    ),
    # Two branches in training mode, one of which has a dropout.
    "dropout_branch": twin(
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.left = nn.Linear(8, 8)
                self.right = nn.Linear(8, 4)
                self.drop = nn.Dropout(p=0.5)

            def forward(self, x):
                dropped = self.drop(self.left(x))
                clean = torch.tanh(self.right(x)).mean()
                return (dropped * dropped).sum() + clean, clean
        """,
        """
import numpy as np

TRAIN = True
SAME_DROPOUT = False
OUTPUTS = ("loss", "clean")
""",
        x="np.linspace(-1, 2, 24, dtype=np.float32).reshape(3, 8)",
    ),
    # Random numbers are drawn: dropout in training.
    "random_mask": twin(
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.dropout = nn.Dropout(p=0.5)

            def forward(self, x):
                return (self.dropout(x) * x).sum()
        """,
        "import numpy as np\n\nTRAIN = True\nSAME_DROPOUT = False",
        x="np.linspace(0.5, 2.0, 6, dtype=np.float32).reshape(2, 3)",
    ),
    # The product of each column: beside its sum the compiler counts zeros, by another sum.
    "product_of_column": twin(
        """
        def net(x):
            return torch.prod(torch.tanh(x), 0).sum()
        """,
        x="np.array([[0.734375, 1.34375, -1.4375], [0.859375, 0.703125, -1.6875],"
        " [-1.40625, 1.078125, -0.625]], np.float32)",
    ),
    # Five blocks, each with a GELU: by the error function in PyTorch, by its approximation in MindSpore.
    "five_gelus": twin(
        """
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.up = nn.Linear(6, 12)
                self.down = nn.Linear(12, 6)
                self.act = nn.GELU()

            def forward(self, x):
                return x + self.down(self.act(self.up(x)))

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.blocks = nn.Sequential(*(Block() for _ in range(5)))

            def forward(self, x):
                return self.blocks(x).sum()
        """,
        x="np.random.default_rng(0).standard_normal((2, 6)).astype(np.float32)",
    ),
}
