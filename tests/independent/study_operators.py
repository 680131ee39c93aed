"""The study of operators: what the same relu, written in several ways, has for a gradient at 0."""

from typing import Any


def in_torch() -> dict[str, Any]:
    """By PyTorch's tape, relu6 at its two corners beside them."""
    import torch

    figures = {}
    for name, function in {
        "relu": torch.relu,
        "maximum": _maximum,
        "clamp": _clamp,
        "where": _where,
    }.items():
        x = torch.tensor([0.0], requires_grad=True)
        function(x).sum().backward()
        figures[name] = x.grad.tolist()
    x = torch.tensor([0.0, 6.0], requires_grad=True)
    torch.nn.functional.relu6(x).sum().backward()
    figures["relu6"] = x.grad.tolist()
    return figures


def _maximum(x: Any) -> Any:
    import torch

    return torch.maximum(x, torch.zeros_like(x))


def _clamp(x: Any) -> Any:
    return x.clamp(min=0)


def _where(x: Any) -> Any:
    import torch

    return torch.where(x > 0, x, torch.zeros_like(x))


def in_mindspore_tape() -> dict[str, Any]:
    """Relu and relu6 by MindSpore's tape."""
    import mindspore as ms
    from mindspore import ops

    def relu(x: Any) -> Any:
        return ops.relu(x).sum()

    def relu6(x: Any) -> Any:
        return ops.relu6(x).sum()

    at_zero, at_both = ms.Tensor([0.0]), ms.Tensor([0.0, 6.0])
    return {
        "relu": ms.grad(relu)(at_zero).asnumpy().tolist(),
        "relu6": ms.grad(relu6)(at_both).asnumpy().tolist(),
    }
