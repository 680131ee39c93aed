"""PyTorch's layers: their defaults, and what their settings mean."""

import inspect
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from explorer.model.measurement import Ask, Figures, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.in_torch import numbers
from explorer.topics.operators import inputs
from explorer.topics.operators.in_torch_styles import placed, styled
from explorer.topics.operators.initial_values import described
from explorer.topics.operators.readings import survival


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
