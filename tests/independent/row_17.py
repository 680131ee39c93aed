"""Row 17: the gradients of one batch of eight, and of four micro-batches added up."""

from typing import Any

from tests.independent.small_net import batches, errors, start, trained

PARTS = 4


def in_torch() -> dict[str, Any]:
    """Where the loss is a mean, where it is a sum, and with batch norm in training."""
    return {
        "mean": _gradients("mean", in_training=False),
        "sum": _gradients("sum", in_training=False),
        "batch norm": _gradients("mean", in_training=True),
    }


def _gradients(reduction: str, *, in_training: bool) -> dict[str, Any]:
    import torch

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
    return {name: _by_name(weights, gradients) for name, gradients in figures.items()}


def _by_name(weights: dict[str, Any], gradients: Any) -> dict[str, Any]:
    return {name: gradient.tolist() for name, gradient in zip(weights, gradients, strict=True)}
