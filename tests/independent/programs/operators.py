"""The figures of the claims on operators."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.independent import drawn
from tests.independent.attempts import attempt, plain


# Row 40: inference through convolution, batch norm, relu, max pooling and a dense layer, in float64.
def row_40_closed_form() -> dict[str, Any]:
    """The output, by numpy alone."""
    pictures: npt.NDArray[np.float64] = drawn.PICTURES.astype(float)
    windows = np.lib.stride_tricks.sliding_window_view(pictures, (1, 1, 3, 3))[..., 0, 0, :, :]
    maps = np.einsum("nchwij,ocij->nohw", windows, drawn.CONV_WEIGHT) + _per_map(drawn.CONV_BIAS)
    normal = (maps - _per_map(drawn.NORM_MEAN)) / np.sqrt(_per_map(drawn.NORM_VARIANCE) + 1e-5)
    positive = np.maximum(normal * _per_map(drawn.NORM_WEIGHT) + _per_map(drawn.NORM_BIAS), 0)
    pooled = positive.reshape(2, 4, 2, 2, 2, 2).max(axis=(3, 5))
    output = pooled.reshape(2, 16) @ drawn.DENSE_WEIGHT.T + drawn.DENSE_BIAS
    return {"output": output.tolist()}


def _per_map(values: Any) -> Any:
    return values.astype(float)[:, None, None]


# Row 41: dropout of 20,000 ones: the share that is kept, and what a kept one becomes.
COUNT = 20_000


def row_41_closed_form() -> dict[str, Any]:
    """A survivor is divided by the probability to be kept."""
    return {"of 0.7": {"kept": 0.7, "survivor": 1 / 0.7}}


def row_41_in_torch(torch: Any) -> dict[str, Any]:
    """With 0.3 alone."""
    torch.manual_seed(1)
    return {"alone": _share(torch.nn.Dropout(0.3)(torch.ones(COUNT)))}


def row_41_in_mindspore_tape(ms: Any) -> dict[str, Any]:
    """With 0.3 alone."""
    ms.set_seed(1)
    ones = ms.Tensor(np.ones(COUNT, np.float32))
    return {"alone": _share(ms.nn.Dropout(0.3).set_train()(ones).asnumpy())}


def _share(dropped: Any) -> dict[str, float]:
    values = np.array(dropped)
    return {"kept": float((values != 0).mean()), "survivor": float(values.max())}


# Row 42: batch norm by the batch's statistics and by the running ones, written out in float64.
NORM = (drawn.BATCH, drawn.SCALE, drawn.SHIFT)


def row_42_in_torch(torch: Any) -> dict[str, Any]:
    """Outputs, running statistics, and the gradients with respect to input, scale and shift."""
    figures = {}
    for name, by_the_batch in {"batch": True, "running": False}.items():
        operands = [torch.tensor(each).double().requires_grad_() for each in NORM]
        x, scale, shift = operands
        mean = torch.tensor(drawn.OLD_MEAN)[:, None, None]
        variance = torch.tensor(drawn.OLD_VARIANCE)[:, None, None]
        running = [drawn.OLD_MEAN.tolist(), drawn.OLD_VARIANCE.tolist()]
        if by_the_batch:
            mean = x.mean((0, 2, 3), keepdim=True)
            variance = x.var((0, 2, 3), correction=0, keepdim=True)
            running = [
                (0.9 * drawn.OLD_MEAN + 0.1 * mean.flatten().detach().numpy()).tolist(),
                (0.9 * drawn.OLD_VARIANCE + 0.1 * x.var((0, 2, 3)).detach().numpy()).tolist(),
            ]
        output = _normal(x, mean, variance, scale, shift)
        weighted = (output * torch.tensor(drawn.COTANGENT)).sum()
        gradients = torch.autograd.grad(weighted, operands)
        figures[name] = {
            "output": output.tolist(),
            "running": running,
            "gradients": plain(gradients),
        }
    return figures


def _normal(x: Any, mean: Any, variance: Any, scale: Any, shift: Any) -> Any:
    return (x - mean) / (variance + 1e-5).sqrt() * scale[:, None, None] + shift[:, None, None]


# Row 43: the running statistics after one step of batch norm, by the share of the old ones that stays.
def row_43_closed_form() -> dict[str, Any]:
    """The share of the old ones plus the rest of the batch's mean and unbiased variance."""
    batch = drawn.BATCH.astype(float)
    mean, variance = batch.mean((0, 2, 3)), batch.var((0, 2, 3), ddof=1)
    figures = {}
    for kept in (0.0, 0.1, 0.5, 0.9, 0.99, 1.0):
        means = kept * drawn.OLD_MEAN + (1 - kept) * mean
        variances = kept * drawn.OLD_VARIANCE + (1 - kept) * variance
        figures[f"keeping {kept}"] = [means.tolist(), variances.tolist()]
    return figures


# Row 44: reversing the axes of a tensor of shape (1, 2, 3, 4), and swapping the outer two.
def row_44_closed_form() -> dict[str, Any]:
    """Shapes and elements by numpy's indices."""
    values = np.arange(24.0).reshape(1, 2, 3, 4)
    reversed_axes = [values[0, b, c, d] for d in range(4) for c in range(3) for b in range(2)]
    swapped = [values[0, b, c, d] for d in range(4) for b in range(2) for c in range(3)]
    return {
        "reversed": {"shape": [4, 3, 2, 1], "elements": [float(value) for value in reversed_axes]},
        "swapped": {"shape": [4, 2, 3, 1], "elements": [float(value) for value in swapped]},
    }


# Rows 45, 46 and 87: the greatest of each window of two by two, two apart, in the numbers 0 to 8, or −1 to
# −9, in rows of three, cut off or padded in several ways.
def row_45_closed_form() -> dict[str, Any]:
    """With windows cut off at the right and the bottom ("same"), with whole windows alone, and padded."""
    positive = np.arange(9.0).reshape(3, 3)
    negative = -1 - positive
    nothing = -np.inf
    return {
        "same": _pooled(np.pad(positive, (0, 1), constant_values=nothing)),
        "valid": _pooled(positive[:2, :2]),
        "negative": _pooled(np.pad(negative, (0, 1), constant_values=nothing)),
        "zeros bottom and right": _pooled(np.pad(negative, (0, 1))),
        "zeros top and left": _pooled(np.pad(positive, (1, 0))),
        "zeros": _pooled(np.pad(negative, 1)),
        "setting": _pooled(np.pad(negative, 1, constant_values=nothing)),
        "zeros, from 0 on": _pooled(np.pad(positive, 1)),
    }


def _pooled(padded: Any) -> list[list[float]]:
    windows = np.lib.stride_tricks.sliding_window_view(padded, (2, 2))[::2, ::2]
    greatest: list[list[float]] = windows.max((2, 3)).tolist()
    return greatest


def row_45_in_torch(torch: Any) -> dict[str, Any]:
    """What PyTorch's pooling makes of "same"."""

    def pooled() -> Any:
        return torch.nn.functional.max_pool2d(torch.zeros(1, 1, 3, 3), 2, 2, padding="same")

    compiled = torch.compile(pooled, backend="eager", fullgraph=True)
    return {"same": attempt(pooled), "compiled": attempt(compiled)}


def row_45_in_mindspore(ms: Any) -> dict[str, Any]:
    """What becomes of the name that is printed."""
    return {"printed": attempt(lambda: ms.ops.MaxPool(2, 2, pad_mode="vaild"))}


# Row 47: on which side zeros are added, and a strided convolution with a padding of 1 and with "same".
IMAGE = np.arange(16.0).reshape(4, 4)
KERNEL = np.arange(9.0).reshape(3, 3)
SIZES = [
    (f"size {size}, kernel {kernel}, stride {stride}", size, kernel, stride)
    for size in range(3, 9)
    for kernel in range(1, min(size, 4) + 1)
    for stride in (1, 2, 3)
]
"""Sizes of layers, by their names."""


def row_47_closed_form() -> dict[str, Any]:
    """TensorFlow's rule for "same", the larger half right; what of a padding of 1 is used; two outputs."""
    figures: dict[str, Any] = {"same": {}, "padding 1": {}}
    for name, size, kernel, stride in SIZES:
        needed = max((-(-size // stride) - 1) * stride + kernel - size, 0)
        figures["same"][name] = [needed // 2, needed - needed // 2]
        if (kernel, stride) == (2, 2):
            windows = (size + 2 - 2) // 2 + 1
            figures["padding 1"][name] = [1, 2 * windows - 1 - size]
    figures["strided, padding 1"] = _convolved(top=1, bottom=1)
    figures["strided, same"] = _convolved(top=0, bottom=1)
    return figures


def _convolved(*, top: int, bottom: int) -> list[float]:
    padded = np.pad(IMAGE, (top, bottom))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3))[::2, ::2]
    outputs: list[float] = (windows * KERNEL).sum((2, 3)).flatten().tolist()
    return outputs


def row_47_in_torch(torch: Any) -> dict[str, Any]:
    """What a strided convolution makes of "same"."""
    return {"same": attempt(lambda: torch.nn.Conv2d(1, 1, 3, stride=2, padding="same"))}


# Row 48: how many whole windows fit.
def row_48_closed_form() -> dict[str, Any]:
    """Counted window by window, as often as there are kinds of layer."""
    figures = {}
    for name, size, kernel, stride in SIZES:
        fitting = [start for start in range(0, size, stride) if start + kernel <= size]
        figures[name] = [len(fitting)] * 3
    return figures


# Row 51: the gradients of the sum of squares of what several operators return, in float64.
def row_51_in_mindspore(ms: Any) -> dict[str, Any]:
    """What the second derivatives raise of operators that have none."""
    image = np.arange(9.0, dtype=np.float32).reshape(1, 1, 3, 3)
    labels = ms.Tensor(CLASSES, ms.int32)
    layers = {
        "max pool, same": (ms.nn.MaxPool2d(2, 2, pad_mode="same"), image),
        "max pool, valid": (ms.nn.MaxPool2d(2, 2, pad_mode="valid"), image),
        "average pool, valid": (ms.nn.AvgPool2d(2, 2, pad_mode="valid"), drawn.PICTURES),
        "gelu, tanh": (ms.nn.GELU(approximate=True), np.linspace(-4, 4, 33, dtype=np.float32)),
        "layer norm": (ms.nn.LayerNorm((4,), epsilon=1e-5), drawn.LAYER),
    }
    figures = {}
    for name, (layer, values) in layers.items():
        figures[name] = attempt(_second_in_mindspore, ms, layer, ms.Tensor(values))

    loss = ms.nn.CrossEntropyLoss()

    def of_classes(logits: Any) -> Any:
        return loss(logits, labels)

    logits = ms.Tensor(LOGITS.astype(np.float32))
    figures["cross entropy, classes"] = attempt(_second_in_mindspore, ms, of_classes, logits)
    return figures


def _second_in_mindspore(ms: Any, function: Any, x: Any) -> Any:
    def squares(x: Any) -> Any:
        return (function(x) ** 2).sum()

    gradient_of = ms.grad(squares)

    def summed_gradient(x: Any) -> Any:
        return gradient_of(x).sum()

    return ms.grad(summed_gradient)(x).asnumpy().tolist()


LOGITS = np.array([[2.0, -1.0, 0.5], [0.0, 3.0, -2.0]])
CLASSES = (0, 2)


def row_51_in_torch(torch: Any) -> dict[str, Any]:
    """By operator, first with respect to each operand, then of that one's sum by the input."""
    image = np.arange(9.0).reshape(1, 1, 3, 3) / 10
    axes = np.arange(24.0).reshape(1, 2, 3, 4) / 10
    around = np.linspace(-4, 4, 33)
    pictures, rows = drawn.PICTURES, (drawn.ROWS, drawn.ROWS_WEIGHT, drawn.ROWS_BIAS)
    functional = torch.nn.functional

    def batch_norm_inference(x: Any, scale: Any, shift: Any) -> Any:
        mean, variance = (torch.tensor(each) for each in (drawn.OLD_MEAN, drawn.OLD_VARIANCE))
        return _normal(x, mean[:, None, None], variance[:, None, None], scale, shift)

    def max_pool_same(x: Any) -> Any:
        padded = functional.pad(x, (0, 1, 0, 1), value=-np.inf)
        return padded.reshape(1, 1, 2, 2, 2, 2).amax((3, 5))

    def convolution_same(x: Any, weight: Any, bias: Any) -> Any:
        return functional.conv2d(functional.pad(x, (0, 1, 0, 1)), weight, bias)

    def convolution_valid(x: Any, weight: Any, bias: Any) -> Any:
        return functional.conv2d(x, weight, bias, stride=2)

    def gelu(x: Any) -> Any:
        return x * (1 + torch.erf(x / np.sqrt(2))) / 2

    def gelu_tanh(x: Any) -> Any:
        return x / 2 * (1 + torch.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))

    operators: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
        "transpose": (lambda x: x.permute(3, 2, 1, 0), (axes,)),
        "batch norm, training": (_batch_norm_training, NORM),
        "batch norm, inference": (batch_norm_inference, NORM),
        "max pool, same": (max_pool_same, (image,)),
        "max pool, valid": (lambda x: x[:, :, :2, :2].amax((2, 3)), (image,)),
        "average pool, valid": (lambda x: x.reshape(2, 2, 3, 2, 3, 2).mean((3, 5)), (pictures,)),
        "convolution, same": (convolution_same, (pictures, drawn.SAME_WEIGHT, drawn.SAME_BIAS)),
        "convolution, valid": (convolution_valid, (pictures, drawn.VALID_WEIGHT, drawn.VALID_BIAS)),
        "dense": (functional.linear, rows),
        "cross entropy, classes": (_cross_entropy, (LOGITS,)),
        "cross entropy, one-hot": (_cross_entropy, (LOGITS,)),
        "layer norm": (_layer_norm, (drawn.LAYER, drawn.LAYER_WEIGHT, drawn.LAYER_BIAS)),
        "gelu, exact": (gelu, (around,)),
        "gelu, tanh": (gelu_tanh, (around,)),
        "dropout, p = 0": (lambda x: x, (pictures,)),
        "dropout, inference": (lambda x: x, (pictures,)),
    }
    figures = {}
    for name, (operator, arrays) in operators.items():
        operands = [torch.tensor(values).double().requires_grad_() for values in arrays]
        total = (operator(*operands) ** 2).sum()
        first = torch.autograd.grad(total, operands, create_graph=True)
        (second,) = torch.autograd.grad(first[0].sum(), operands[0])
        figures[name] = {"first": plain(first), "second": plain(second)}
    return figures


def _batch_norm_training(x: Any, scale: Any, shift: Any) -> Any:
    mean = x.mean((0, 2, 3), keepdim=True)
    return _normal(x, mean, ((x - mean) ** 2).mean((0, 2, 3), keepdim=True), scale, shift)


def _cross_entropy(logits: Any) -> Any:
    rows = logits - logits.exp().sum(1, keepdim=True).log()
    return -(rows[0, CLASSES[0]] + rows[1, CLASSES[1]]) / 2


def _layer_norm(x: Any, weight: Any, bias: Any) -> Any:
    centred = x - x.mean(1, keepdim=True)
    variance = (centred**2).mean(1, keepdim=True)
    return centred / (variance + 1e-5).sqrt() * weight + bias


# Row 71: batch norm with the statistics of its batch: output, gradients, and a step of SGD at 0.1.
AXES = (0, 2, 3)
EPSILON = 1e-5


def row_71_closed_form() -> dict[str, Any]:
    """Scale 1 and shift 0 move against the sums of the cotangent, with the normal values and without."""
    batch, cotangent = drawn.BATCH.astype(float), drawn.COTANGENT.astype(float)
    centred = batch - batch.mean(AXES, keepdims=True)
    normal = centred / np.sqrt((centred**2).mean(AXES, keepdims=True) + EPSILON)
    gradients = [(cotangent * normal).sum(AXES), cotangent.sum(AXES)]
    return {
        "at the start": [[1.0, 1.0], [0.0, 0.0]],
        "running mean": None,
        "output": normal.tolist(),
        "gradients": [gradient.tolist() for gradient in gradients],
        "after": [(1 - 0.1 * gradients[0]).tolist(), (-0.1 * gradients[1]).tolist()],
    }
