"""The inputs that both frameworks' training steps share, in numpy: start, batches, gradients."""

from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]

STEPS = 5
RATE = 0.1
"""The learning rate of every step."""

OWN_RATE = 0.5
"""The learning rate of a group that has its own."""

OWN_MOMENTUM = 0.9
"""The momentum that an optimizer is to report."""

SHAPES = {
    "conv.weight": (2, 1, 3, 3),
    "conv.bias": (2,),
    "norm.weight": (2,),
    "norm.bias": (2,),
    "norm.running_mean": (2,),
    "norm.running_var": (2,),
    "fc.weight": (1, 8),
    "fc.bias": (1,),
}
"""The net of the routes by PyTorch's names.

Convolution 1→2 (3×3), batch norm, relu, linear 8→1, on 4×4 pictures.
"""

CONSTANT_STARTS = {
    "norm.weight": 1.0,
    "norm.bias": 0.0,
    "norm.running_mean": 0.0,
    "norm.running_var": 1.0,
}
"""What batch norm starts from in both frameworks; all else is drawn."""

BATCH = 8
MICRO_BATCHES = 4
"""How many samples a batch has that is accumulated, and from how many parts."""

WEIGHT = np.array([1.0, -2.0, 0.5], np.float32)
"""Where the weight starts on which update rules are compared."""

DECAYED = ("fc.weight", "fc.bias", "norm.gamma", "norm.beta")
"""The weights that a decay is tried on, by MindSpore's names: it tells gamma and beta by them."""

OPTIMIZER_METHODS = (
    "state_dict",
    "load_state_dict",
    "get_lr",
    "get_last_lr",
    "param_groups",
    "add_param_group",
)
"""The methods and attributes by which an optimizer of either framework may report its state."""


def loads_own_state(optimizer: Any) -> bool:
    """Load an optimizer's own state into it; True, for what it raises is another answer."""
    optimizer.load_state_dict(optimizer.state_dict())
    return True


def start() -> dict[str, FloatArray]:
    """The starting values of the net by PyTorch's names."""
    draw = np.random.default_rng(0)
    values = {}
    for name, shape in SHAPES.items():
        # Drawn for every name, so that a constant start does not shift the draws of the others.
        drawn = draw.uniform(-0.5, 0.5, shape).astype(np.float32)
        values[name] = drawn
        if name in CONSTANT_STARTS:
            values[name] = np.full_like(drawn, CONSTANT_STARTS[name])
    return values


def batches(count: int = STEPS, size: int = 4) -> list[tuple[FloatArray, FloatArray]]:
    """``count`` batches: pictures, shape ``(size, 1, 4, 4)``, and targets, shape ``(size, 1)``."""
    draw = np.random.default_rng(1)
    pairs = []
    for _ in range(count):
        pictures = draw.normal(size=(size, 1, 4, 4)).astype(np.float32)
        targets = draw.normal(size=(size, 1)).astype(np.float32)
        pairs.append((pictures, targets))
    return pairs


def gradients(count: int = STEPS) -> list[FloatArray]:
    """``count`` gradients of WEIGHT's shape, as if so many backward passes had computed them."""
    draw = np.random.default_rng(2)
    return [draw.normal(size=WEIGHT.size).astype(np.float32) for _ in range(count)]


MINIMUM = (1.0, 2.0)
"""Where the function that is minimized is 0."""

NEAR_MINIMUM = 1e-3
"""Up to this distance, in each coordinate, a minimum is found."""
