"""What both frameworks' steps are given: one start, batches, gradients, and optimizers by their
settings; plain numpy.
"""

from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float32]

STEPS = 5
RATE = 0.1
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
"""The net of the routes by PyTorch's names: convolution 1→2 (3×3), batch norm, relu, linear 8→1, on
4×4 pictures.
"""

FIXED = {"norm.weight": 1.0, "norm.bias": 0.0, "norm.running_mean": 0.0, "norm.running_var": 1.0}

MINDSPORE_NAMES = {
    "norm.gamma": "norm.weight",
    "norm.beta": "norm.bias",
    "norm.moving_mean": "norm.running_mean",
    "norm.moving_variance": "norm.running_var",
}


def start() -> dict[str, Values]:
    """The starting values of the net by PyTorch's names."""
    draw = np.random.default_rng(0)
    drawn = {
        name: draw.uniform(-0.5, 0.5, shape).astype(np.float32) for name, shape in SHAPES.items()
    }
    return {
        name: np.full(SHAPES[name], FIXED[name], np.float32) if name in FIXED else value
        for name, value in drawn.items()
    }


def batches(count: int = STEPS, size: int = 4) -> list[tuple[Values, Values]]:
    """Pictures and targets."""
    draw = np.random.default_rng(1)
    pairs = ((draw.normal(size=(size, 1, 4, 4)), draw.normal(size=(size, 1))) for _ in range(count))
    return [
        (pictures.astype(np.float32), targets.astype(np.float32)) for pictures, targets in pairs
    ]


def gradients(count: int = STEPS) -> list[Values]:
    """Gradients for a weight of three, as if five backward passes had given them."""
    draw = np.random.default_rng(2)
    return [draw.normal(size=3).astype(np.float32) for _ in range(count)]


WEIGHT = np.array([1.0, -2.0, 0.5], np.float32)
"""Where the weight of the optimizer comparison starts."""

Form = tuple[str, dict[str, Any]]
"""The name of an optimizer and its settings, learning rate included."""


class Update(msgspec.Struct, frozen=True, kw_only=True):
    """One update rule by the settings that should make it the same: mindspore.nn,
    mindspore.experimental.optim, torch.optim.
    """

    name: str
    nn: Form | None = None
    experimental: Form | None = None
    torch: Form | None = None


def _update(name: str, nn: Form | None, both: Form | None, torch: Form | None = None) -> Update:
    """An update whose experimental form is written as PyTorch's, unless ``torch`` says otherwise."""
    return Update(name=name, nn=nn, experimental=both, torch=torch or both)


OURS: dict[str, Any] = {"learning_rate": RATE}
THEIRS: dict[str, Any] = {"lr": RATE}

UPDATES: tuple[Update, ...] = (
    _update("SGD", ("SGD", OURS), ("SGD", THEIRS)),
    _update(
        "SGD with momentum",
        ("SGD", {**OURS, "momentum": 0.9}),
        ("SGD", {**THEIRS, "momentum": 0.9}),
    ),
    _update(
        "momentum, fused",
        ("Momentum", {**OURS, "momentum": 0.9}),
        None,
        ("SGD", {**THEIRS, "momentum": 0.9}),
    ),
    _update(
        "momentum with dampening",
        ("SGD", {**OURS, "momentum": 0.9, "dampening": 0.5}),
        ("SGD", {**THEIRS, "momentum": 0.9, "dampening": 0.5}),
    ),
    _update(
        "Nesterov momentum",
        ("SGD", {**OURS, "momentum": 0.9, "nesterov": True}),
        ("SGD", {**THEIRS, "momentum": 0.9, "nesterov": True}),
    ),
    _update(
        "SGD with weight decay",
        ("SGD", {**OURS, "weight_decay": 0.1}),
        ("SGD", {**THEIRS, "weight_decay": 0.1}),
    ),
    _update("Adam", ("Adam", OURS), ("Adam", THEIRS)),
    _update(
        "Adam with weight decay",
        ("Adam", {**OURS, "weight_decay": 0.1}),
        ("Adam", {**THEIRS, "weight_decay": 0.1}),
    ),
    _update(
        "Adam, AMSGrad",
        ("Adam", {**OURS, "use_amsgrad": True}),
        ("Adam", {**THEIRS, "amsgrad": True}),
    ),
    _update(
        "AdamW",
        ("AdamWeightDecay", {**OURS, "eps": 1e-8, "weight_decay": 0.1}),
        ("AdamW", {**THEIRS, "weight_decay": 0.1}),
    ),
    _update("Adamax", ("AdaMax", OURS), ("Adamax", THEIRS)),
    _update("NAdam", None, ("NAdam", THEIRS)),
    _update("RAdam", None, ("RAdam", THEIRS)),
    _update(
        "Adagrad",
        ("Adagrad", {**OURS, "accum": 0.1}),
        ("Adagrad", {**THEIRS, "initial_accumulator_value": 0.1}),
    ),
    _update("Adadelta", ("Adadelta", OURS), ("Adadelta", {**THEIRS, "eps": 1e-6})),
    _update(
        "RMSprop",
        ("RMSProp", {**OURS, "decay": 0.9, "epsilon": 1e-8}),
        ("RMSprop", {**THEIRS, "alpha": 0.9}),
    ),
    _update(
        "Rprop",
        ("Rprop", {**OURS, "step_sizes": (1e-6, 50.0)}),
        ("Rprop", {**THEIRS, "step_sizes": (1e-6, 50.0)}),
    ),
    _update("ASGD", ("ASGD", OURS), ("ASGD", THEIRS)),
    _update("FTRL", ("FTRL", OURS), None),
    _update("Lamb", ("Lamb", OURS), None),
    _update("proximal Adagrad", ("ProximalAdagrad", OURS), None),
    _update(
        "AdaFactor",
        ("AdaFactor", {"learning_rate": RATE, "scale_parameter": False, "relative_step": False}),
        None,
    ),
)


def forms(where: str) -> dict[str, Form]:
    """The settings of one place ("nn", "experimental", "torch") by the name of the update."""
    return {each.name: found for each in UPDATES if (found := getattr(each, where))}
