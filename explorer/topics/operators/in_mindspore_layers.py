"""MindSpore's layers: settings, shapes and borders, initial values, what Ascend takes."""

import inspect
from collections.abc import Callable
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import mint, nn, ops

from explorer.model.measurement import Ask, Figures, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.in_mindspore import numbers, set_style
from explorer.topics.operators import inputs
from explorer.topics.operators.inputs import (
    AXES,
    IMAGE,
    IMAGES,
    PAIRS,
    STRIDED_IMAGE,
    STRIDED_KERNEL,
    WINDOWS,
    Window,
)
from explorer.topics.operators.readings import bounds, described, survival, zeros_around


def dropout_settings(ask: Ask) -> Found:
    """The share of ones that survive each way to ask for dropout, and dropout at inference."""
    set_style("tape", ask.device)
    figures: Figures = {}
    for name, (arguments, options) in inputs.DROPOUT_SETTINGS.items():
        figures[name] = attempt_briefly(_survival, *arguments, **options)
    figures["parameters"] = list(inspect.signature(nn.Dropout).parameters)
    figures["notice"] = removal_notice(inspect.getdoc(nn.Dropout) or "", "keep_prob")
    return Found(figures)


def removal_notice(documentation: str, parameter: str) -> str:
    """The first sentence that says that a parameter will be removed, on one line; "" for none."""
    for paragraph in documentation.split("\n\n"):
        text = " ".join(paragraph.split()).removeprefix(".. warning:: ")
        for sentence in text.split(". "):
            if parameter in sentence and "removed" in sentence:
                return sentence
    return ""


def _survival(*arguments: float, **options: float) -> Figures:
    ms.set_seed(0)
    layer = nn.Dropout(*arguments, **options)
    ones = ms.Tensor(np.ones(inputs.ONES, np.float32))
    training = layer.set_train()(ones).asnumpy()
    return survival(training, layer.set_train(False)(ones).asnumpy())


def dropout_draws(ask: Ask) -> Found:
    """The mean of many draws beside what went in, and when the seed makes the mask come again."""
    set_style("tape", ask.device)
    ramp = np.linspace(1, 8, 8, dtype=np.float32)
    layer = nn.Dropout(p=inputs.DROPOUT_RATE).set_train()
    # All in one call: from its sixth call on, a layer's mask depends on the timing of threads too
    # (2.10.0, CPU).
    draws = layer(ms.Tensor(np.tile(ramp, (inputs.DRAWS, 1)))).asnumpy()

    ones = ms.Tensor(np.ones(64, np.float32))
    ms.set_seed(1)
    layer = nn.Dropout(p=inputs.DROPOUT_RATE).set_train()
    mask = layer(ones).asnumpy()
    ms.set_seed(1)
    mask_again = layer(ones).asnumpy()
    mask_of_new_layer = nn.Dropout(p=inputs.DROPOUT_RATE).set_train()(ones).asnumpy()
    return Found(
        {
            "draws": inputs.DRAWS,
            "ratio": (draws.mean(axis=0, dtype=np.float64) / ramp).round(6).tolist(),
            "same_layer_repeats_after_seed": bool((mask == mask_again).all()),
            "new_layer_repeats_after_seed": bool((mask == mask_of_new_layer).all()),
        }
    )


def dropout_mask(ask: Ask) -> Found:
    """Output and gradient of one call of dropout on ones, in the style asked for.

    Both are the mask times 1 / (1 - p).
    """
    set_style(ask.options["style"], ask.device)
    layer = nn.Dropout(p=inputs.DROPOUT_RATE).set_train()
    output, gradient = ms.value_and_grad(layer)(ms.Tensor(np.ones(64, np.float32)))
    return Found({"output": numbers(output), "gradient": numbers(gradient)})


def batch_norm_states(ask: Ask) -> Found:
    """Output, running statistics and gradients of batch norm, by use_batch_statistics and mode.

    The running statistics are those after the call.
    """
    set_style(ask.options["style"], ask.device)
    figures: Figures = {}
    for setting in (None, True, False):
        for mode in ("training", "inference"):
            name = f"use_batch_statistics={setting}, {mode}"
            figures[name] = attempt_briefly(_batch_norm_state, setting, mode)
    return Found(figures)


def _batch_norm(**options: Any) -> Any:
    return nn.BatchNorm2d(
        2,
        gamma_init=ms.Tensor(inputs.GAMMA),
        beta_init=ms.Tensor(inputs.BETA),
        moving_mean_init=ms.Tensor(inputs.MEAN),
        moving_var_init=ms.Tensor(inputs.VARIANCE),
        **options,
    )


def _batch_norm_state(setting: bool | None, mode: str) -> Figures:
    layer = _batch_norm(use_batch_statistics=setting).set_train(mode == "training")
    cotangent = ms.Tensor(inputs.COTANGENT)

    def forward(x: Any) -> Any:
        output = layer(x)
        return (output * cotangent).sum(), output

    step = ms.value_and_grad(forward, 0, layer.trainable_params(), has_aux=True)
    (_, output), (input_gradient, (gamma_gradient, beta_gradient)) = step(ms.Tensor(inputs.BATCH))
    return {
        "output": numbers(output),
        "running": _running_statistics(layer),
        "gradients": numbers([input_gradient, gamma_gradient, beta_gradient]),
    }


def _running_statistics(layer: Any) -> list[Any]:
    return [numbers(layer.moving_mean), numbers(layer.moving_variance)]


def batch_norm_momentum(ask: Ask) -> Found:
    """Running mean and variance after one training step, for some momenta and for the default."""
    set_style("tape", ask.device)
    figures = {str(momentum): _after_one_step(momentum=momentum) for momentum in inputs.MOMENTA}
    return Found({**figures, "default": _after_one_step()})


def _after_one_step(**options: Any) -> list[Any]:
    layer = _batch_norm(**options).set_train()
    layer(ms.Tensor(inputs.BATCH)).asnumpy()  # waits until the step is done
    return _running_statistics(layer)


def initial_values(ask: Ask) -> Found:
    """The default weights and biases of many layers, and which layers have a bias by default.

    The layers are convolutions and dense ones; of an embedding there is the standard deviation.
    """
    set_style("tape", ask.device)
    # Conv2d has no bias unless asked (2.10.0).
    convolutions = [nn.Conv2d(*inputs.CONVOLUTION, has_bias=True) for _ in range(inputs.LAYERS)]
    dense_layers = [nn.Dense(*inputs.DENSE) for _ in range(inputs.LAYERS)]
    figures: Figures = {}
    for kind, layers in (("convolution", convolutions), ("dense", dense_layers)):
        for name in ("weight", "bias"):
            arrays = [getattr(layer, name).asnumpy() for layer in layers]
            figures[f"{kind} {name}"] = described(kind, arrays)
    figures["has_bias"] = {
        "convolution": bool(nn.Conv2d(1, 1, 1).has_bias),
        "dense": bool(nn.Dense(1, 1).has_bias),
    }
    embedding = nn.Embedding(*inputs.EMBEDDING).embedding_table
    figures["embedding std"] = float(embedding.asnumpy().std())
    return Found(figures)


def epsilons(ask: Ask) -> Found:
    """Outputs that show an epsilon: layer norm of (-0.001, 0.001), and batch norm of 1.

    Batch norm is at inference, with a running variance of 0.
    """
    set_style("tape", ask.device)
    batch_norm = nn.BatchNorm2d(2, moving_var_init="zeros").set_train(False)
    return Found(
        {
            "layer norm": numbers(nn.LayerNorm((2,))(ms.Tensor(inputs.SMALL_PAIR)))[0],
            "ops.layer_norm": attempt_briefly(_functional_layer_norm),
            "batch norm of 1": float(batch_norm(ms.Tensor(inputs.BATCH * 0 + 1))[0, 0, 0, 0]),
        }
    )


def _functional_layer_norm() -> Any:
    return numbers(ops.layer_norm(ms.Tensor(inputs.SMALL_PAIR), (2,), ops.ones(2), ops.zeros(2)))[0]


def gelu(ask: Ask) -> Found:
    """Each GELU and its derivative at points from -4 to 4, in the style asked for."""
    set_style(ask.options["style"], ask.device)
    calls: dict[str, Any] = {
        "nn.GELU()": nn.GELU(),
        "nn.GELU(approximate=False)": nn.GELU(approximate=False),
        "nn.GELU(approximate=True)": nn.GELU(approximate=True),
        "ops.gelu": ops.gelu,
        "ops.gelu(approximate='tanh')": _tanh_gelu,
    }
    return Found({name: attempt_briefly(_curve, call) for name, call in calls.items()})


# A function with a name: graph style compiles no lambda in an expression (2.10.0).
def _tanh_gelu(x: Any) -> Any:
    return ops.gelu(x, approximate="tanh")


def _curve(function: Any) -> Figures:
    value, slope = ms.value_and_grad(function)(ms.Tensor(inputs.POINTS))
    return {"value": numbers(value), "slope": numbers(slope)}


def cross_entropy(ask: Ask) -> Found:
    """Softmax cross entropy of two rows of logits by each way to ask for it, with its gradient."""
    set_style(ask.options["style"], ask.device)
    labels = ms.Tensor(inputs.LABELS)
    one_hot = ms.Tensor(np.eye(3, dtype=np.float32)[inputs.LABELS])
    softmax_cross_entropy = nn.SoftmaxCrossEntropyWithLogits
    calls: dict[str, tuple[Any, Any]] = {
        "nn.SoftmaxCrossEntropyWithLogits()": (softmax_cross_entropy(), one_hot),
        "nn.SoftmaxCrossEntropyWithLogits(sparse=True)": (
            softmax_cross_entropy(sparse=True),
            labels,
        ),
        "nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='mean')": (
            softmax_cross_entropy(sparse=True, reduction="mean"),
            labels,
        ),
        "nn.CrossEntropyLoss()": (nn.CrossEntropyLoss(), labels),
        "ops.cross_entropy": (ops.cross_entropy, labels),
        "nn.CrossEntropyLoss() of one-hot labels": (nn.CrossEntropyLoss(), one_hot),
    }
    figures: Figures = {}
    for name, (function, targets) in calls.items():
        figures[name] = attempt_briefly(_loss, function, targets)
    return Found(figures)


def _loss(function: Any, targets: Any) -> Figures:
    value, gradient = ms.value_and_grad(function)(ms.Tensor(inputs.LOGITS), targets)
    return {"value": numbers(value), "gradient": numbers(gradient)}


TRANSPOSES: dict[str, Callable[[Any], Any]] = {
    "ops.transpose(x, (3, 2, 1, 0))": lambda x: ops.transpose(x, (3, 2, 1, 0)),
    "x.permute(3, 2, 1, 0)": lambda x: x.permute(3, 2, 1, 0),
    "ops.transpose(x, 0, 3)": lambda x: ops.transpose(x, 0, 3),
    "x.transpose(0, 3)": lambda x: x.transpose(0, 3),
    "ops.swapaxes(x, 0, 3)": lambda x: ops.swapaxes(x, 0, 3),
    "mint.transpose(x, 0, 3)": lambda x: mint.transpose(x, 0, 3),
}


def axes(ask: Ask) -> Found:
    """Shape and elements of a (1, 2, 3, 4) tensor after each call."""
    set_style("tape", ask.device)
    return Found({name: attempt_briefly(_transposed, call) for name, call in TRANSPOSES.items()})


def _transposed(call: Callable[[Any], Any]) -> Figures:
    transposed = call(ms.Tensor(AXES)).asnumpy()
    return {"shape": transposed.shape, "elements": transposed.ravel().tolist()}


def max_pool_of_nine(ask: Ask) -> Found:
    """Max pooling of a 3 x 3 image, windows of 2 and stride 2, by each way to pad.

    The numbers are 0 to 8, and −1 to −9.
    """
    set_style(ask.options["style"], ask.device)
    figures: Figures = {}
    for begins, image in IMAGES.items():
        for name, way in _ways_to_pool(ms.Tensor(image)).items():
            figures[begins + name] = attempt_briefly(_pooled, way)
    return Found(figures)


def _ways_to_pool(image: Any) -> dict[str, Callable[[], Any]]:
    valid = nn.MaxPool2d(2, 2, pad_mode="valid")
    around = ops.Pad(((0, 0), (0, 0), (1, 1), (1, 1)))
    return {
        "same": lambda: nn.MaxPool2d(2, 2, pad_mode="same")(image),
        "valid": lambda: valid(image),
        "zeros top and left, then valid": lambda: valid(ops.pad(image, (1, 0, 1, 0))),
        "zeros bottom and right, then valid": lambda: valid(ops.pad(image, (0, 1, 0, 1))),
        "zeros all around, then valid": lambda: valid(around(image)),
        "padding=1": lambda: nn.MaxPool2d(2, 2, pad_mode="pad", padding=1)(image),
        "ceil_mode=True": lambda: nn.MaxPool2d(2, 2, pad_mode="pad", ceil_mode=True)(image),
        "default": lambda: nn.MaxPool2d(2, 2)(image),
    }


def _pooled(way: Callable[[], Any]) -> Any:
    return numbers(way()[0, 0])


def convolution_sides(ask: Ask) -> Found:
    """The zeros that "same" puts before and after an axis, for many windows."""
    set_style("tape", ask.device)
    same = {"pad_mode": "same"}
    return Found({name: _sides(window, same) for name, window in WINDOWS.items()})


def convolution_sides_of_a_number(ask: Ask) -> Found:
    """The zeros that are used before and after an axis with padding=1 and windows of 2.

    A zero that is one too many is left out.
    """
    set_style("tape", ask.device)
    one = {"pad_mode": "pad", "padding": (0, 0, 1, 1)}  # top, bottom, left, right
    return Found({name: _sides(window, one) for name, window in PAIRS.items()})


def _sides(window: Window, padding: dict[str, Any]) -> list[int]:
    """Read off a kernel that copies the first element of its window."""
    size, kernel, stride = window
    first = np.zeros((1, 1, 1, kernel), np.float32)
    first[..., 0] = 1
    line = np.arange(1, size + 1, dtype=np.float32).reshape(1, 1, 1, size)
    layer = nn.Conv2d(1, 1, (1, kernel), (1, stride), **padding, weight_init=ms.Tensor(first))
    return zeros_around(layer(ms.Tensor(line)).asnumpy().ravel(), window)


def valid_sizes(ask: Ask) -> Found:
    """Output sizes of convolution and pooling without padding, for many windows."""
    set_style("tape", ask.device)
    return Found({name: _valid(window) for name, window in WINDOWS.items()})


def _valid(window: Window) -> list[int]:
    kernel, stride = (1, window.kernel), (1, window.stride)
    line = ms.Tensor(np.ones((1, 1, 1, window.size), np.float32))
    layers = (
        nn.Conv2d(1, 1, kernel, stride, pad_mode="valid"),
        nn.MaxPool2d(kernel, stride, pad_mode="valid"),
        nn.AvgPool2d(kernel, stride, pad_mode="valid"),
    )
    return [layer(line).shape[-1] for layer in layers]


def convolution_default(ask: Ask) -> Found:
    """The shape that a 3 x 3 convolution gives a 5 x 5 image by default, and if it has a bias."""
    set_style("tape", ask.device)
    layer = nn.Conv2d(1, 1, 3)
    output = layer(ms.Tensor(np.ones((1, 1, 5, 5), np.float32)))
    return Found({"shape": list(output.shape[2:]), "has_bias": bool(layer.has_bias)})


def padding_by_hand(ask: Ask) -> Found:
    """Max pooling of an image that is padded at the top and left: as printed, and as meant."""
    set_style(ask.options["style"], ask.device)
    ways = {"as printed": pooled_as_printed, "as meant": pooled_as_meant}
    return Found({name: attempt_briefly(_plane, way) for name, way in ways.items()})


def _plane(way: Any) -> Any:
    return numbers(way(ms.Tensor(IMAGE))[0, 0])


def pooled_as_printed(data: Any) -> Any:
    """The guide's lines, with its "vaild"."""
    pad = ops.Pad(((0, 0), (0, 0), (1, 0), (1, 0)))
    data = pad(data)
    return ops.MaxPool(kernel_size=2, strides=2, pad_mode="vaild")(data)


def pooled_as_meant(data: Any) -> Any:
    """The same with "valid"."""
    pad = ops.Pad(((0, 0), (0, 0), (1, 0), (1, 0)))
    data = pad(data)
    return ops.MaxPool(kernel_size=2, strides=2, pad_mode="valid")(data)


def strided_convolution(ask: Ask) -> Found:
    """A 3 x 3 convolution with stride 2 of a 4 x 4 image, by each way that padding=1 is carried over."""
    set_style("tape", ask.device)
    ways: dict[str, dict[str, Any]] = {
        "by default": {},
        "same": {"pad_mode": "same"},
        "padding=1": {"pad_mode": "pad", "padding": 1},
    }
    return Found({name: attempt_briefly(_convolved, options) for name, options in ways.items()})


def _convolved(options: dict[str, Any]) -> Any:
    layer = nn.Conv2d(1, 1, 3, 2, weight_init=ms.Tensor(STRIDED_KERNEL), **options)
    return numbers(layer(ms.Tensor(STRIDED_IMAGE)).flatten())


def implicit_weights(ask: Ask) -> Found:
    """Bounds and moments of each parameter's initial values."""
    set_style("tape", ask.device)
    lstm = nn.LSTM(*inputs.LSTM)
    norms = {
        "batch norm": nn.BatchNorm2d(inputs.FEATURES),
        "layer norm": nn.LayerNorm((inputs.FEATURES,)),
        "group norm": nn.GroupNorm(inputs.GROUPS, inputs.FEATURES),
    }
    parameters: dict[str, Any] = {
        "conv weight": nn.Conv2d(*inputs.CONVOLUTION).weight,
        "dense weight": nn.Dense(*inputs.DENSE).weight,
        "embedding weight": nn.Embedding(*inputs.EMBEDDING).embedding_table,
        "lstm input weight": lstm.weight_ih_l0,
        "lstm hidden weight": lstm.weight_hh_l0,
        "lstm bias": lstm.bias_ih_l0,
    }
    for name, norm in norms.items():
        parameters[f"{name} scale"] = norm.gamma
        parameters[f"{name} shift"] = norm.beta
    return Found({name: bounds(value.asnumpy()) for name, value in parameters.items()})


STRIDES = (1, 2, 63, 64, 100)
"""Ascend's instructions have six bits for a stride, of which 63 is the greatest."""

DTYPES = {"float32": ms.float32, "float16": ms.float16}


def ascend_operators(ask: Ask) -> Found:
    """What Conv2d, Sort and TopK give of each dtype, and convolution and pooling of each stride."""
    set_style("tape", ask.device)
    dtypes: dict[str, Any] = {}
    for name, dtype in DTYPES.items():
        dtypes[f"Conv2d {name}"] = attempt_briefly(convolved, dtype)
        dtypes[f"Sort {name}"] = attempt_briefly(ordered, dtype)
        dtypes[f"TopK {name}"] = attempt_briefly(greatest, dtype)
    strides: dict[str, Any] = {}
    for stride in STRIDES:
        strides[f"Conv2d {stride}"] = attempt_briefly(width, nn.Conv2d(1, 1, 2, stride))
        strides[f"MaxPool2d {stride}"] = attempt_briefly(width, nn.MaxPool2d(2, stride))
    return Found({"target": ms.get_context("device_target"), "dtypes": dtypes, "strides": strides})


def convolved(dtype: Any) -> str:
    """The dtype of a convolution's output."""
    return str(nn.Conv2d(1, 1, 3, dtype=dtype)(ops.ones((1, 1, 4, 4), dtype)).dtype)


def ordered(dtype: Any) -> str:
    """The dtype of a sorted tensor."""
    return str(ops.Sort()(ms.Tensor([2.0, 1.0], dtype))[0].dtype)


def greatest(dtype: Any) -> str:
    """The dtype of the greatest element."""
    return str(ops.TopK()(ms.Tensor([2.0, 1.0], dtype), 1)[0].dtype)


def width(layer: Any) -> int:
    """The width of a layer's output of an image that is 128 wide."""
    return int(layer(ops.ones((1, 1, 128, 128), ms.float32)).shape[3])
