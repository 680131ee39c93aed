"""A library of mistakes of ports: a layer or function that was given something else than the other side's.

Each is MindSpore's line, PyTorch's, the shape of what they read, and the arguments of PyTorch's op that
explain the difference, or the operator that does (None: nothing that is tried does, and nothing is said).
"""

from pathlib import Path
from typing import NamedTuple

from explorer.model.graph import Arguments
from tests.support.scenario_files import written


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
    "eps of layer norm": Mistake(
        "nn.LayerNorm((6,), epsilon=1e-2)", "nn.LayerNorm((6,))", VOLUME, {"eps": 1e-2}
    ),
    "eps of group norm": Mistake(
        "nn.GroupNorm(1, 3, eps=1e-2)", "nn.GroupNorm(1, 3)", IMAGE, {"eps": 1e-2}
    ),
    "number of groups": Mistake(
        "nn.GroupNorm(3, 6)", "nn.GroupNorm(2, 6)", (4, 6, 2, 4), {"group": 3}
    ),
    "gelu by tanh": Mistake("nn.GELU()", "nn.GELU()", MATRIX, {"approximate": "tanh"}),
    "gelu by erf": Mistake(
        "nn.GELU(approximate=False)",
        "nn.GELU(approximate='tanh')",
        MATRIX,
        {"approximate": "none"},
    ),
    "axis of softmax": Mistake(
        "ops.softmax(h, axis=0)", "torch.softmax(h, dim=1)", MATRIX, {"dim": 0}
    ),
    "axis of log softmax": Mistake(
        "ops.log_softmax(h, axis=-1)", "torch.log_softmax(h, dim=0)", MATRIX, {"dim": 1}
    ),
    "axis of a running sum": Mistake(
        "ops.cumsum(h, axis=0)", "torch.cumsum(h, dim=1)", MATRIX, {"dim": 0}
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
    "alpha of elu": Mistake("nn.ELU()", "nn.ELU(alpha=0.5)", MATRIX, {"alpha": 1.0}),
    "bound of hardtanh": Mistake(
        "nn.Hardtanh(min_val=-1.0)", "nn.Hardtanh(min_val=-0.5)", MATRIX, {"min_val": -1.0}
    ),
    "bound of clamp": Mistake(
        "ops.clamp(h, min=-0.5, max=0.7)", "torch.clamp(h, min=-0.5, max=0.5)", MATRIX, {"max": 0.7}
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
    "padding of a convolution": Mistake(
        "nn.Conv2d(3, 4, 3, pad_mode='valid', has_bias=True)",
        "nn.Conv2d(3, 4, 3, padding=1)",
        (2, 3, 8, 8),
        {"padding": (0, 0)},
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
    "the last for the greatest": Mistake(
        "h[:, -1]", "torch.amax(h, dim=1)", VOLUME, {}, other_op="aten.select.int"
    ),
    "softmax for its logarithm": Mistake(
        "ops.log_softmax(h, axis=1)",
        "torch.softmax(h, dim=1)",
        MATRIX,
        {},
        other_op="aten._log_softmax.default",
    ),
    "a scale that no argument makes": Mistake("h * 3.0", "h * 2.0 + h.detach()", MATRIX, None),
    "nothing": Mistake("nn.GELU(approximate=False)", "nn.GELU()", MATRIX, None),
}

TEXT = """
import numpy as np

TRAIN = True


def inputs():
    values = np.random.default_rng(3).normal(size={shape}).astype(np.float32)
    return {{"x": values}}


def mindspore_net():
    from mindspore import nn, ops

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc = nn.Dense({last}, {last})
            {mindspore_layer}

        def construct(self, x):
            h = self.fc(x)
            y = {mindspore}
            return (y * y).sum()

    return Net()


def torch_net():
    import torch
    from torch import nn
    from torch.nn import functional as F

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear({last}, {last})
            {torch_layer}

        def forward(self, x):
            h = self.fc(x)
            y = {torch}
            return (y * y).sum()

    return Net()
"""


def net_with(mistake: Mistake, folder: Path) -> Path:
    """A scenario file with a mistake."""
    layers, calls = [], []
    for code in (mistake.mindspore, mistake.torch):
        is_layer = code.startswith("nn.")
        layers.append(f"self.layer = {code}" if is_layer else "pass")
        calls.append("self.layer(h)" if is_layer else code)
    text = TEXT.format(
        shape=mistake.shape,
        last=mistake.shape[-1],
        mindspore_layer=layers[0],
        mindspore=calls[0],
        torch_layer=layers[1],
        torch=calls[1],
    )
    return written(folder, text, "mistaken.py")
