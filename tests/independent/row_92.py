"""Row 92: lines of the guides as they are printed, and with the name or the size that they lack."""

import os
import subprocess
import sys
from typing import Any

from tests.independent.attempts import attempt

COUNTED = "import torch; print(torch.cuda._parse_visible_devices())"


def in_torch() -> dict[str, Any]:
    """Whether a fresh process counts other GPUs where a variable is 1."""
    without = _counted({})
    names = ("CUDA_VISIBLE_DEVICE", "CUDA_VISIBLE_DEVICES")
    return {name: _counted({name: "1"}) != without for name in names}


def _counted(variables: dict[str, str]) -> str:
    environment = {**os.environ, **variables}
    if "CUDA_VISIBLE_DEVICES" not in variables:
        environment.pop("CUDA_VISIBLE_DEVICES", None)
    return subprocess.run(
        [sys.executable, "-c", COUNTED], env=environment, capture_output=True, text=True, check=True
    ).stdout


def in_mindspore_tape() -> dict[str, Any]:
    """The classes that the lines make, or the errors."""
    import mindspore as ms
    from mindspore import nn

    def named(line: str) -> str:
        scope = {"nn": nn, "ms": ms, "forword_fn": abs, "forward": abs}
        return type(eval(line, scope)).__name__

    return {
        "conv printed": attempt(named, "nn.Conv2d(1, 3)"),
        "conv meant": attempt(named, "nn.Conv2d(1, 3, 3)"),
        "norm printed": attempt(named, "nn.BatchNorm(3)"),
        "norm meant": attempt(named, "nn.BatchNorm2d(3)"),
        "function printed": attempt(named, "ms.value_and_grad(forward_fn)"),
        "function meant": attempt(named, "ms.value_and_grad(forward)"),
    }
