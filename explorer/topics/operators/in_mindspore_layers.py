"""MindSpore's layers: their defaults, and what their settings mean."""

import inspect
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn, ops

from explorer.model.measurement import Ask, Figures, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.in_mindspore import numbers, set_style
from explorer.topics.operators import inputs
from explorer.topics.operators.initial_values import described
from explorer.topics.operators.readings import survival


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
