"""Scenarios with a net of layers and lines in both frameworks, written from these alone."""

from textwrap import dedent, indent
from typing import NamedTuple

from tests.support.twin_nets import in_mindspore

TEXT = """
import numpy as np

{head}


def inputs():
{inputs}


def mindspore_net():
    import mindspore as ms
    from mindspore import nn, ops

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
{mindspore.layers}

        def construct(self, {names}):
{mindspore.lines}

    return Net()


def torch_net():
    import torch
    from torch import nn
    from torch.nn import functional as F

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
{torch.layers}

        def forward(self, {names}):
{torch.lines}

    return Net()
"""


class Side(NamedTuple):
    """One framework's half of a net: what makes its layers, and what is done with the inputs."""

    layers: str
    lines: str


def twins(layers: str, lines: str, *changes: tuple[str, str]) -> tuple[Side, Side]:
    """MindSpore's side by PyTorch's, which is given, and that: pieces that are changed, and other names."""
    sides = []
    for text in (layers, lines):
        for piece, other in changes:
            text = text.replace(piece, other)
        sides.append(in_mindspore(text))
    return Side(*sides), Side(layers, lines)


def scenario_text(
    inputs: str, mindspore: Side, torch: Side, names: str = "x", head: str = "TRAIN = True"
) -> str:
    """A scenario file; ``inputs`` are the lines of its function, ``head`` is what else it says."""
    return TEXT.format(
        head=dedent(head).strip(),
        inputs=_inside(inputs, 4),
        names=names,
        mindspore=_indented(mindspore),
        torch=_indented(torch),
    )


def normal(*shape: int, seed: int = 3) -> str:
    """Lines of ``inputs`` that draw a tensor "x" of a shape."""
    values = f"np.random.default_rng({seed}).normal(size={shape}).astype(np.float32)"
    return f'return {{"x": {values}}}'


def _indented(side: Side) -> Side:
    return Side(_inside(side.layers or "pass", 12), _inside(side.lines, 12))


def _inside(text: str, spaces: int) -> str:
    return indent(dedent(text).strip("\n").rstrip(), " " * spaces)
