"""Row 51: the gradients of the sum of squares of what several operators return, in float64."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.independent import drawn
from tests.independent.attempts import attempt


def in_mindspore() -> dict[str, Any]:
    """What the second derivatives raise of operators that have none."""
    import mindspore as ms
    from mindspore import nn

    image = np.arange(9.0, dtype=np.float32).reshape(1, 1, 3, 3)
    labels = ms.Tensor(CLASSES, ms.int32)
    layers = {
        "max pool, same": (nn.MaxPool2d(2, 2, pad_mode="same"), image),
        "max pool, valid": (nn.MaxPool2d(2, 2, pad_mode="valid"), image),
        "average pool, valid": (nn.AvgPool2d(2, 2, pad_mode="valid"), drawn.PICTURES),
        "gelu, tanh": (nn.GELU(approximate=True), np.linspace(-4, 4, 33, dtype=np.float32)),
        "layer norm": (nn.LayerNorm((4,), epsilon=1e-5), drawn.LAYER),
    }
    figures = {}
    for name, (layer, values) in layers.items():
        figures[name] = attempt(_second_in_mindspore, layer, ms.Tensor(values))

    loss = nn.CrossEntropyLoss()

    def of_classes(logits: Any) -> Any:
        return loss(logits, labels)

    logits = ms.Tensor(LOGITS.astype(np.float32))
    figures["cross entropy, classes"] = attempt(_second_in_mindspore, of_classes, logits)
    return figures


def _second_in_mindspore(function: Any, x: Any) -> Any:
    import mindspore as ms

    def squares(x: Any) -> Any:
        return (function(x) ** 2).sum()

    gradient_of = ms.grad(squares)

    def summed_gradient(x: Any) -> Any:
        return gradient_of(x).sum()

    return ms.grad(summed_gradient)(x).asnumpy().tolist()


LOGITS = np.array([[2.0, -1.0, 0.5], [0.0, 3.0, -2.0]])
CLASSES = (0, 2)


def in_torch() -> dict[str, Any]:
    """By operator, first with respect to each operand, then of that one's sum by the input."""
    import torch
    from torch.nn import functional

    image = np.arange(9.0).reshape(1, 1, 3, 3) / 10
    norm = (drawn.BATCH, drawn.SCALE, drawn.SHIFT)
    axes = np.arange(24.0).reshape(1, 2, 3, 4) / 10
    pairs: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
        "transpose": (_reversed_axes, (axes,)),
        "batch norm, training": (_batch_norm_training, norm),
        "batch norm, inference": (_batch_norm_inference, norm),
        "max pool, same": (_max_pool_same, (image,)),
        "max pool, valid": (_max_pool, (image,)),
        "average pool, valid": (_average_pool, (drawn.PICTURES,)),
        "convolution, same": (
            _convolution_same,
            (drawn.PICTURES, drawn.SAME_WEIGHT, drawn.SAME_BIAS),
        ),
        "convolution, valid": (
            _strided_convolution,
            (drawn.PICTURES, drawn.VALID_WEIGHT, drawn.VALID_BIAS),
        ),
        "dense": (functional.linear, (drawn.ROWS, drawn.ROWS_WEIGHT, drawn.ROWS_BIAS)),
        "cross entropy, classes": (_cross_entropy, (LOGITS,)),
        "cross entropy, one-hot": (_cross_entropy, (LOGITS,)),
        "layer norm": (_layer_norm, (drawn.LAYER, drawn.LAYER_WEIGHT, drawn.LAYER_BIAS)),
        "gelu, exact": (_gelu, (np.linspace(-4, 4, 33),)),
        "gelu, tanh": (_gelu_tanh, (np.linspace(-4, 4, 33),)),
        "dropout, p = 0": (_same, (drawn.PICTURES,)),
        "dropout, inference": (_same, (drawn.PICTURES,)),
    }
    figures = {}
    for name, (operator, arrays) in pairs.items():
        operands = [torch.tensor(values).double().requires_grad_() for values in arrays]
        figures[name] = _gradients(operator, operands)
    return figures


def _gradients(operator: Callable[..., Any], operands: list[Any]) -> dict[str, Any]:
    import torch

    total = (operator(*operands) ** 2).sum()
    first = torch.autograd.grad(total, operands, create_graph=True)
    (second,) = torch.autograd.grad(first[0].sum(), operands[0])
    return {"first": [gradient.tolist() for gradient in first], "second": second.tolist()}


def _strided_convolution(x: Any, weight: Any, bias: Any) -> Any:
    from torch.nn import functional

    return functional.conv2d(x, weight, bias, stride=2)


def _batch_norm_training(x: Any, scale: Any, shift: Any) -> Any:
    mean = x.mean((0, 2, 3), keepdim=True)
    return _normal(x, mean, ((x - mean) ** 2).mean((0, 2, 3), keepdim=True), scale, shift)


def _batch_norm_inference(x: Any, scale: Any, shift: Any) -> Any:
    import torch

    mean, variance = (torch.tensor(each) for each in (drawn.OLD_MEAN, drawn.OLD_VARIANCE))
    return _normal(x, mean[:, None, None], variance[:, None, None], scale, shift)


def _normal(x: Any, mean: Any, variance: Any, scale: Any, shift: Any) -> Any:
    return (x - mean) / (variance + 1e-5).sqrt() * scale[:, None, None] + shift[:, None, None]


def _max_pool_same(x: Any) -> Any:
    from torch.nn import functional

    padded = functional.pad(x, (0, 1, 0, 1), value=-np.inf)
    return padded.reshape(1, 1, 2, 2, 2, 2).amax((3, 5))


def _convolution_same(x: Any, weight: Any, bias: Any) -> Any:
    from torch.nn import functional

    return functional.conv2d(functional.pad(x, (0, 1, 0, 1)), weight, bias)


def _cross_entropy(logits: Any) -> Any:
    rows = logits - logits.exp().sum(1, keepdim=True).log()
    return -(rows[0, CLASSES[0]] + rows[1, CLASSES[1]]) / 2


def _gelu_tanh(x: Any) -> Any:
    import torch

    return x / 2 * (1 + torch.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def _reversed_axes(x: Any) -> Any:
    return x.permute(3, 2, 1, 0)


def _max_pool(x: Any) -> Any:
    return x[:, :, :2, :2].amax((2, 3))


def _average_pool(x: Any) -> Any:
    return x.reshape(2, 2, 3, 2, 3, 2).mean((3, 5))


def _layer_norm(x: Any, weight: Any, bias: Any) -> Any:
    centred = x - x.mean(1, keepdim=True)
    variance = (centred**2).mean(1, keepdim=True)
    return centred / (variance + 1e-5).sqrt() * weight + bias


def _gelu(x: Any) -> Any:
    import torch

    return x * (1 + torch.erf(x / np.sqrt(2))) / 2


def _same(x: Any) -> Any:
    return x
