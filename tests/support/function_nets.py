"""Scenario files with a net in PyTorch alone: a function or a module, given by its lines and inputs."""

from pathlib import Path
from textwrap import indent

from tests.support.scenario_files import written

TEXT = """
import numpy as np

{declared}


def inputs():
    return {{{inputs}}}


def torch_net():
    import torch

{net}
"""

FUNCTION = """
{before}

def net({names}):
{body}

return net
"""

MODULE = """
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
{layers}

    def forward(self, {names}):
{body}

return Net()
"""


def function_net(
    folder: Path,
    body: str,
    *,
    declared: str = "",
    before: str = "",
    file: str = "net.py",
    **inputs: str,
) -> Path:
    """The file of a net; inputs are expressions, ``before`` is what stands before the function."""
    net = FUNCTION.format(
        before=before.strip("\n"),
        names=", ".join(inputs),
        body=indent(body.strip("\n"), " " * 4),
    )
    return _written(folder, net, declared, file, inputs)


def module_net(
    folder: Path,
    layers: str,
    body: str,
    *,
    declared: str = "",
    file: str = "net.py",
    **inputs: str,
) -> Path:
    """The file of a net whose ``layers`` are the lines that make them, and ``body`` its forward."""
    net = MODULE.format(
        layers=indent(layers.strip("\n"), " " * 8),
        names=", ".join(inputs),
        body=indent(body.strip("\n"), " " * 8),
    )
    return _written(folder, net, declared, file, inputs)


def _written(folder: Path, net: str, declared: str, file: str, inputs: dict[str, str]) -> Path:
    arrays = ", ".join(f'"{name}": {array}' for name, array in inputs.items())
    net = indent(net.strip("\n"), " " * 4)
    return written(folder, TEXT.format(declared=declared, inputs=arrays, net=net), file)
