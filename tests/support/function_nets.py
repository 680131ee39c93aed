"""Scenario files whose net in PyTorch is a function, given by its body and by its inputs."""

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

{before}

    def net({names}):
{body}

    return net
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
    arrays = [f'"{name}": {array}' for name, array in inputs.items()]
    text = TEXT.format(
        declared=declared,
        inputs=", ".join(arrays),
        names=", ".join(inputs),
        before=indent(before.strip("\n"), " " * 4),
        body=indent(body.strip("\n"), " " * 8),
    )
    return written(folder, text, file)
