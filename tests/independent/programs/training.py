"""The figures of the claims on training steps."""

import inspect
from typing import Any

import numpy as np

from tests.independent.attempts import attempt, plain
from tests.independent.small_net import batches, errors, start, trained

# Row 16: clipping the gradients [3, 4] and [12], whose norm is 13.
CLIPPED = ([3.0, 4.0], [12.0])


def row_16_closed_form() -> dict[str, Any]:
    """Each gradient times the norm allowed, over the norm, where that is less than 1."""
    norm = float(np.sqrt(sum(np.square(gradient).sum() for gradient in CLIPPED)))
    figures: dict[str, Any] = {"norm": norm}
    for allowed in (1.0, 5.0, 20.0):
        share = min(1.0, allowed / norm)
        clipped = [(share * np.array(gradient)).tolist() for gradient in CLIPPED]
        figures[f"to {allowed}"] = clipped
    return figures


def row_16_in_mindspore_tape(ms: Any) -> dict[str, Any]:
    """What clip_by_global_norm makes of them by default."""
    gradients = tuple(ms.Tensor(gradient, ms.float32) for gradient in CLIPPED)
    clipped = ms.ops.clip_by_global_norm(gradients)
    norm = inspect.signature(ms.ops.clip_by_global_norm).parameters["clip_norm"].default
    return {
        "by default": plain(clipped),
        "default": norm,
    }


# Row 17: the gradients of one batch of eight, and of four micro-batches added up.
PARTS = 4


def row_17_in_torch(torch: Any) -> dict[str, Any]:
    """Where the loss is a mean, where it is a sum, and with batch norm in training."""
    return {
        "mean": _gradients(torch, "mean", in_training=False),
        "sum": _gradients(torch, "sum", in_training=False),
        "batch norm": _gradients(torch, "mean", in_training=True),
    }


def _gradients(torch: Any, reduction: str, *, in_training: bool) -> dict[str, Any]:
    values = start()
    weights = trained(values)
    ((pictures, targets),) = batches(1, 8)
    size = len(pictures) // PARTS

    def of(first: int, count: int) -> Any:
        part = slice(first, first + count)
        squares = errors(values, pictures[part], targets[part], in_training=in_training) ** 2
        loss = squares.mean() if reduction == "mean" else squares.sum()
        return torch.autograd.grad(loss, list(weights.values()))

    whole = of(0, len(pictures))
    added = [torch.zeros_like(gradient) for gradient in whole]
    for part in range(PARTS):
        for total, gradient in zip(added, of(part * size, size), strict=True):
            total += gradient
    divided = [total / PARTS for total in added]
    figures = {"whole": whole, "added": added, "divided": divided}
    return {
        name: dict(zip(weights, plain(gradients), strict=True))
        for name, gradients in figures.items()
    }


# Rows 19, 20 and 52: five steps of SGD at a rate of 0.1, written out, and as a guide prints them: the net
# and its loss run, and GradWrap runs both again.
STEPS, RATE = 5, 0.1


def row_19_in_torch(torch: Any) -> dict[str, Any]:
    """The loss of every step and all values after it, with one forward a step and with two."""
    losses, after_each = _trained(torch, forwards=1)
    _, after_two = _trained(torch, forwards=2)
    return {"losses": losses, "after each": after_each, "two forwards": after_two}


def _trained(torch: Any, forwards: int) -> tuple[list[float], list[dict[str, Any]]]:
    values = start()
    losses, after = [], []
    for pictures, targets in batches(STEPS, 4):
        for _ in range(forwards):
            # Each forward moves batch norm's running statistics; the gradient is the last one's.
            loss = (errors(values, pictures, targets, in_training=True) ** 2).mean()
        losses.append(loss.item())
        weights = list(trained(values).values())
        gradients = torch.autograd.grad(loss, weights)
        with torch.no_grad():
            for weight, gradient in zip(weights, gradients, strict=True):
                weight -= RATE * gradient
        after.append({name: value.tolist() for name, value in values.items()})
    return losses, after


# Row 69: what a convolution with a kernel of 3 makes of a picture of 64 by 32.
PICTURE = np.zeros((1, 3, 64, 32), np.float32)


def row_69_closed_form() -> dict[str, Any]:
    """The shape with zeros added so that it stays, and the shape without."""
    return {"same": [1, 64, 64, 32], "valid": [1, 64, 64 - 3 + 1, 32 - 3 + 1]}


def row_69_in_torch(torch: Any) -> dict[str, Any]:
    """What comes of the other framework's label."""

    def loss() -> float:
        label = torch.zeros(1, 64, 64, 32)
        return float(((torch.nn.Conv2d(3, 64, 3)(torch.tensor(PICTURE)) - label) ** 2).mean())

    return {"other label": attempt(loss)}


def row_69_in_mindspore_tape(ms: Any) -> dict[str, Any]:
    """What comes of the other framework's label."""

    def loss() -> float:
        label = ms.Tensor(np.zeros((1, 64, 62, 30), np.float32))
        return float(ms.nn.MSELoss()(ms.nn.Conv2d(3, 64, 3)(ms.Tensor(PICTURE)), label))

    return {"other label": attempt(loss)}


# Row 83: five steps of momentum on Σ(w·x − 1)² at x = (0.5, 1.5), from w = (1, 2).
SLOPES, BEFORE = (0.5, 1.5), (1.0, 2.0)
MOMENTUM = 0.9


def row_83_closed_form() -> dict[str, Any]:
    """The losses before each step, and weight, velocity and count after the last."""
    x, weight, velocity = np.array(SLOPES), np.array(BEFORE), np.zeros(2)
    losses = []
    for _ in range(STEPS):
        errors = weight * x - 1
        losses.append(float((errors**2).sum()))
        velocity = MOMENTUM * velocity + 2 * errors * x
        weight = weight - RATE * velocity
    return {
        "losses": losses,
        "weight": weight.tolist(),
        "moments": [velocity.tolist()],
        "steps counted": [STEPS],
    }
