"""PyTorch's layers: settings, shapes and borders, initial values."""

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from explorer.model.measurement import Ask, Figures, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.in_torch import numbers
from explorer.topics.operators import inputs
from explorer.topics.operators.in_torch_styles import placed, styled
from explorer.topics.operators.inputs import (
    AXES,
    IMAGES,
    PAIRS,
    STRIDED_IMAGE,
    STRIDED_KERNEL,
    WINDOWS,
    Window,
)
from explorer.topics.operators.readings import bounds, described, survival, zeros_around


@placed
def dropout_settings(ask: Ask) -> Found:
    """The share of ones that survive each way to ask for dropout, and dropout at inference."""
    figures: Figures = {}
    for name, (arguments, options) in inputs.DROPOUT_SETTINGS.items():
        figures[name] = attempt_briefly(_survival, *arguments, **options)
    figures["parameters"] = list(inspect.signature(nn.Dropout).parameters)
    return Found(figures)


def _survival(*arguments: float, **options: float) -> Figures:
    torch.manual_seed(0)
    layer = nn.Dropout(*arguments, **options)  # raises for a keyword that it does not have
    ones = torch.ones(inputs.ONES)
    training = layer.train()(ones)
    return survival(training.cpu().numpy(), layer.eval()(ones).cpu().numpy())


@placed
def dropout_draws(ask: Ask) -> Found:
    """The mean of many draws beside what went in, and when the seed makes the mask come again."""
    torch.manual_seed(0)
    ramp = torch.linspace(1, 8, 8)
    draws = nn.Dropout(p=inputs.DROPOUT_RATE)(ramp.repeat(inputs.DRAWS, 1))

    ones = torch.ones(64)
    torch.manual_seed(1)
    layer = nn.Dropout(p=inputs.DROPOUT_RATE)
    mask = layer(ones)
    torch.manual_seed(1)
    mask_again = layer(ones)
    torch.manual_seed(1)
    mask_of_new_layer = nn.Dropout(p=inputs.DROPOUT_RATE)(ones)
    return Found(
        {
            "draws": inputs.DRAWS,
            "ratio": (draws.double().mean(0) / ramp).cpu().numpy().round(6).tolist(),
            "same_layer_repeats_after_seed": torch.equal(mask, mask_again),
            "new_layer_repeats_after_seed": torch.equal(mask, mask_of_new_layer),
        }
    )


@placed
def dropout_mask(ask: Ask) -> Found:
    """Output and gradient of one call of dropout on ones, in the style asked for.

    Both are the mask times 1 / (1 - p).
    """
    torch.manual_seed(0)
    ones = torch.ones(64, requires_grad=True)
    output = styled(nn.Dropout(p=inputs.DROPOUT_RATE), ask.options["style"])(ones)
    (gradient,) = torch.autograd.grad(output.sum(), ones)
    return Found({"output": numbers(output), "gradient": numbers(gradient)})


@placed
def batch_norm_states(ask: Ask) -> Found:
    """Output, running statistics and gradients of batch norm, by track_running_stats and mode.

    The running statistics are those after the call.
    """
    style = ask.options["style"]
    figures: Figures = {}
    for track in (True, False):
        for mode in ("training", "inference"):
            name = f"track_running_stats={track}, {mode}"
            figures[name] = attempt_briefly(_batch_norm_state, track, mode, style)
    return Found(figures)


def _batch_norm(**options: Any) -> Any:
    layer = nn.BatchNorm2d(2, **options)
    starts = {
        "weight": inputs.GAMMA,
        "bias": inputs.BETA,
        "running_mean": inputs.MEAN,
        "running_var": inputs.VARIANCE,
    }
    state = {name: torch.tensor(start) for name, start in starts.items()}
    # Without track_running_stats there are no running ones to load.
    layer.load_state_dict(state, strict=False)
    return layer


def _batch_norm_state(track: bool, mode: str, style: str) -> Figures:
    layer = _batch_norm(track_running_stats=track).train(mode == "training")
    batch = torch.tensor(inputs.BATCH, requires_grad=True)
    output = styled(layer, style)(batch)
    loss = (output * torch.tensor(inputs.COTANGENT)).sum()
    gradients = torch.autograd.grad(loss, (batch, layer.weight, layer.bias))
    return {
        "output": numbers(output),
        "running": _running_statistics(layer),
        "gradients": numbers(gradients),
    }


def _running_statistics(layer: Any) -> list[Any]:
    return [numbers(layer.running_mean), numbers(layer.running_var)]


@placed
def batch_norm_momentum(ask: Ask) -> Found:
    """Running mean and variance after one training step, by momentum.

    Under "one_minus" PyTorch is given 1 minus each of MindSpore's momenta, under "same" the momenta
    themselves, under "default" none.
    """
    complement = {
        str(momentum): _after_one_step(momentum=1 - momentum) for momentum in inputs.MOMENTA
    }
    same = {str(momentum): _after_one_step(momentum=momentum) for momentum in inputs.MOMENTA}
    return Found({"one_minus": complement, "same": same, "default": _after_one_step()})


def _after_one_step(**options: Any) -> list[Any]:
    layer = _batch_norm(**options).train()
    layer(torch.tensor(inputs.BATCH))
    return _running_statistics(layer)


@placed
def initial_values(ask: Ask) -> Found:
    """The default weights and biases of many layers, and which layers have a bias by default.

    The layers are convolutions and dense ones; of an embedding there is the standard deviation.
    """
    torch.manual_seed(0)
    convolutions = [nn.Conv2d(*inputs.CONVOLUTION) for _ in range(inputs.LAYERS)]
    dense_layers = [nn.Linear(*inputs.DENSE) for _ in range(inputs.LAYERS)]
    figures: Figures = {}
    for kind, layers in (("convolution", convolutions), ("dense", dense_layers)):
        for name in ("weight", "bias"):
            arrays = [getattr(layer, name).detach().cpu().numpy() for layer in layers]
            figures[f"{kind} {name}"] = described(kind, arrays)
    figures["has_bias"] = {
        "convolution": convolutions[0].bias is not None,
        "dense": dense_layers[0].bias is not None,
    }
    embedding = nn.Embedding(*inputs.EMBEDDING).weight
    figures["embedding std"] = float(embedding.detach().cpu().numpy().std())
    return Found(figures)


@placed
def epsilons(ask: Ask) -> Found:
    """Outputs that show an epsilon: layer norm of (-0.001, 0.001), and batch norm of 1.

    Batch norm is at inference, with a running variance of 0.
    """
    pair = torch.tensor(inputs.SMALL_PAIR)
    batch_norm = nn.BatchNorm2d(2).eval()
    batch_norm.running_var.zero_()  # it starts from 1, which would hide the epsilon
    return Found(
        {
            "layer norm": numbers(nn.LayerNorm(2)(pair))[0],
            "functional.layer_norm": numbers(functional.layer_norm(pair, (2,)))[0],
            "batch norm of 1": float(batch_norm(torch.tensor(inputs.BATCH * 0 + 1))[0, 0, 0, 0]),
        }
    )


@placed
def gelu(ask: Ask) -> Found:
    """Each GELU and its derivative at points from -4 to 4, in the style asked for."""
    calls: dict[str, Any] = {
        "nn.GELU()": nn.GELU(),
        "nn.GELU(approximate='tanh')": nn.GELU(approximate="tanh"),
        "functional.gelu": functional.gelu,
    }
    figures: Figures = {}
    for name, call in calls.items():
        figures[name] = attempt_briefly(_curve, styled(call, ask.options["style"]))
    return Found(figures)


def _curve(function: Any) -> Figures:
    points = torch.tensor(inputs.POINTS, requires_grad=True)
    value = function(points)
    (slope,) = torch.autograd.grad(value.sum(), points)
    return {"value": numbers(value), "slope": numbers(slope)}


@placed
def cross_entropy(ask: Ask) -> Found:
    """Softmax cross entropy of two rows of logits by each way to ask for it, with its gradient."""
    labels = torch.tensor(inputs.LABELS, dtype=torch.long)
    one_hot = functional.one_hot(labels, 3).float()
    calls: dict[str, tuple[Any, torch.Tensor]] = {
        "nn.CrossEntropyLoss()": (nn.CrossEntropyLoss(), labels),
        "nn.CrossEntropyLoss(reduction='none')": (nn.CrossEntropyLoss(reduction="none"), labels),
        "nn.CrossEntropyLoss() of one-hot labels": (nn.CrossEntropyLoss(), one_hot),
        "functional.cross_entropy": (functional.cross_entropy, labels),
    }
    figures: Figures = {}
    for name, (function, targets) in calls.items():
        figures[name] = attempt_briefly(_loss, styled(function, ask.options["style"]), targets)
    return Found(figures)


def _loss(function: Any, targets: torch.Tensor) -> Figures:
    logits = torch.tensor(inputs.LOGITS, requires_grad=True)
    value = function(logits, targets)
    (gradient,) = torch.autograd.grad(value.sum(), logits)
    return {"value": numbers(value), "gradient": numbers(gradient)}


TRANSPOSES: dict[str, Callable[[Any], Any]] = {
    "torch.transpose(x, (3, 2, 1, 0))": lambda x: torch.transpose(x, (3, 2, 1, 0)),
    "x.permute(3, 2, 1, 0)": lambda x: x.permute(3, 2, 1, 0),
    "torch.transpose(x, 0, 3)": lambda x: torch.transpose(x, 0, 3),
    "x.transpose(0, 3)": lambda x: x.transpose(0, 3),
    "torch.swapaxes(x, 0, 3)": lambda x: torch.swapaxes(x, 0, 3),
}


@placed
def axes(ask: Ask) -> Found:
    """Shape and elements of a (1, 2, 3, 4) tensor after each call."""
    return Found({name: attempt_briefly(_transposed, call) for name, call in TRANSPOSES.items()})


def _transposed(call: Callable[[Any], Any]) -> Figures:
    transposed = call(torch.tensor(AXES))
    return {"shape": tuple(transposed.shape), "elements": transposed.reshape(-1).tolist()}


@placed
def max_pool_of_nine(ask: Ask) -> Found:
    """Max pooling of a 3 x 3 image, windows of 2 and stride 2, by each way to pad.

    The numbers are 0 to 8, and −1 to −9.
    """
    figures: Figures = {}
    for begins, image in IMAGES.items():
        for name, (options, padded) in _ways_to_pool(torch.tensor(image)).items():
            pooled = attempt_briefly(_pooled, padded, options, ask.options["style"])
            figures[begins + name] = pooled
    return Found(figures)


def _ways_to_pool(image: torch.Tensor) -> dict[str, tuple[dict[str, Any], torch.Tensor]]:
    top_left = functional.pad(image, (1, 0, 1, 0))
    bottom_right = functional.pad(image, (0, 1, 0, 1))
    around = functional.pad(image, (1, 1, 1, 1))
    return {
        "same": ({"padding": "same"}, image),
        "valid": ({}, image),
        "zeros top and left, then valid": ({}, top_left),
        "zeros bottom and right, then valid": ({}, bottom_right),
        "zeros all around, then valid": ({}, around),
        "padding=1": ({"padding": 1}, image),
        "ceil_mode=True": ({"ceil_mode": True}, image),
        "default": ({}, image),
    }


def _pooled(image: torch.Tensor, options: dict[str, Any], style: str) -> Any:
    pool = styled(nn.MaxPool2d(2, 2, **options), style)
    return numbers(pool(image)[0, 0])


@placed
def convolution_sides(ask: Ask) -> Found:
    """The zeros that padding="same" puts before and after an axis, for many windows."""
    figures: Figures = {}
    for name, window in WINDOWS.items():
        figures[name] = attempt_briefly(_sides, window, "same")  # refused with a stride
    return Found(figures)


@placed
def convolution_sides_of_a_number(ask: Ask) -> Found:
    """The zeros that are used before and after an axis with padding=1 and windows of 2.

    A zero that is one too many is left out.
    """
    return Found({name: _sides(window, (0, 1)) for name, window in PAIRS.items()})


def _sides(window: Window, padding: Any) -> list[int]:
    """Read off a kernel that copies the first element of its window."""
    size, kernel, stride = window
    layer = nn.Conv2d(1, 1, (1, kernel), (1, stride), padding=padding, bias=False)
    with torch.no_grad():
        layer.weight.zero_()[..., 0] = 1
        outputs = layer(torch.arange(1.0, size + 1).reshape(1, 1, 1, size))
    return zeros_around(outputs.flatten().cpu().numpy(), window)


@placed
def valid_sizes(ask: Ask) -> Found:
    """Output sizes of convolution and pooling without padding, for many windows."""
    return Found({name: _valid(window) for name, window in WINDOWS.items()})


def _valid(window: Window) -> list[int]:
    kernel, stride = (1, window.kernel), (1, window.stride)
    line = torch.ones(1, 1, 1, window.size)
    layers = (
        nn.Conv2d(1, 1, kernel, stride),
        nn.MaxPool2d(kernel, stride),
        nn.AvgPool2d(kernel, stride),
    )
    return [layer(line).shape[-1] for layer in layers]


@placed
def convolution_default(ask: Ask) -> Found:
    """The shape that a 3 x 3 convolution gives a 5 x 5 image by default, and if it has a bias."""
    layer = nn.Conv2d(1, 1, 3)
    output = layer(torch.ones(1, 1, 5, 5))
    return Found({"shape": list(output.shape[2:]), "has_bias": layer.bias is not None})


@placed
def strided_convolution(ask: Ask) -> Found:
    """A 3 x 3 convolution with stride 2 of a 4 x 4 image."""
    ways: dict[str, Any] = {"same": "same", "padding=1": 1}
    return Found({name: attempt_briefly(_convolved, padding) for name, padding in ways.items()})


def _convolved(padding: Any) -> Any:
    layer = nn.Conv2d(1, 1, 3, 2, padding=padding, bias=False)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor(STRIDED_KERNEL))
        return numbers(layer(torch.tensor(STRIDED_IMAGE)).flatten())


@placed
def implicit_weights(ask: Ask) -> Found:
    """Bounds and moments of each parameter's initial values."""
    torch.manual_seed(0)
    lstm = nn.LSTM(*inputs.LSTM)
    norms = {
        "batch norm": nn.BatchNorm2d(inputs.FEATURES),
        "layer norm": nn.LayerNorm(inputs.FEATURES),
        "group norm": nn.GroupNorm(inputs.GROUPS, inputs.FEATURES),
    }
    parameters: dict[str, Any] = {
        "conv weight": nn.Conv2d(*inputs.CONVOLUTION).weight,
        "dense weight": nn.Linear(*inputs.DENSE).weight,
        "embedding weight": nn.Embedding(*inputs.EMBEDDING).weight,
        "lstm input weight": lstm.weight_ih_l0,
        "lstm hidden weight": lstm.weight_hh_l0,
        "lstm bias": lstm.bias_ih_l0,
    }
    for name, norm in norms.items():
        parameters[f"{name} scale"] = norm.weight
        parameters[f"{name} shift"] = norm.bias
    figures = {}
    for name, value in parameters.items():
        figures[name] = bounds(value.detach().cpu().numpy())
    return Found(figures)


@placed
def evaluated_batch_norm(ask: Ask) -> Found:
    """Scale and shift before and after a step, with track_running_stats=False, by mode.

    Beside them the layer's output, and whether there is a running mean.
    """
    return Found({"evaluation": after_step(False), "training": after_step(True)})


def after_step(training: bool) -> dict[str, Any]:
    """What one step of SGD leaves of a batch norm in a mode."""
    layer = nn.BatchNorm2d(2, track_running_stats=False).train(training)
    before = numbers(tuple(layer.parameters()))
    optimizer = torch.optim.SGD(layer.parameters(), 0.1)
    output = layer(torch.tensor(inputs.BATCH))
    (output * torch.tensor(inputs.COTANGENT)).sum().backward()
    optimizer.step()
    return {
        "before": before,
        "after": numbers(tuple(layer.parameters())),
        "output": numbers(output),
        "running mean": numbers(layer.running_mean),
    }
