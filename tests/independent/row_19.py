"""Row 19: five steps of SGD at a rate of 0.1, written out."""

from typing import Any

from tests.independent.small_net import batches, errors, start, trained

STEPS, RATE = 5, 0.1


def in_torch() -> dict[str, Any]:
    """The loss of every step, and all values after it."""
    losses: list[float] = []
    return {"after each": trained_values(1, losses), "losses": losses}


def trained_values(forwards: int, losses: list[float] | None = None) -> list[dict[str, Any]]:
    """All values after each step, where the net runs ``forwards`` times at each."""
    import torch

    values = start()
    after = []
    for pictures, targets in batches(STEPS, 4):
        for _ in range(forwards):
            # Each forward moves batch norm's running statistics; the gradient is the last one's.
            loss = (errors(values, pictures, targets, in_training=True) ** 2).mean()
        if losses is not None:
            losses.append(loss.item())
        weights = list(trained(values).values())
        gradients = torch.autograd.grad(loss, weights)
        with torch.no_grad():
            for weight, gradient in zip(weights, gradients, strict=True):
                weight -= RATE * gradient
        after.append({name: value.tolist() for name, value in values.items()})
    return after
