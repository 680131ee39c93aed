"""Batch norm in MindSpore: every state it can be in, and what its momentum means."""

from typing import Any

import mindspore as ms
from mindspore import nn

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.in_mindspore import numbers, set_style
from explorer.topics.operators.data import BATCH, BETA, COTANGENT, GAMMA, MEAN, MOMENTA, VARIANCE

SETTINGS = (None, True, False)


def batch_norm_states(ask: Ask) -> Found:
    """Output, running statistics afterwards and gradients for each use_batch_statistics in training
    and inference mode.
    """
    set_style(ask.options["style"], ask.device)
    return Found(
        {
            f"use_batch_statistics={setting}, {'training' if training else 'inference'}": attempt_briefly(
                _state, setting, training
            )
            for setting in SETTINGS
            for training in (True, False)
        }
    )


def _layer(**options: Any) -> Any:
    starts = {
        "gamma_init": GAMMA,
        "beta_init": BETA,
        "moving_mean_init": MEAN,
        "moving_var_init": VARIANCE,
    }
    return nn.BatchNorm2d(
        2, **{name: ms.Tensor(start) for name, start in starts.items()}, **options
    )


def _state(setting: bool | None, training: bool) -> dict[str, Any]:
    layer, cotangent = (
        _layer(use_batch_statistics=setting).set_train(training),
        ms.Tensor(COTANGENT),
    )

    def forward(x: Any) -> Any:
        output = layer(x)
        return (output * cotangent).sum(), output

    step = ms.value_and_grad(forward, 0, layer.trainable_params(), has_aux=True)
    (_, output), (by_input, (by_gamma, by_beta)) = step(ms.Tensor(BATCH))
    return {
        "output": numbers(output),
        "running": [numbers(layer.moving_mean), numbers(layer.moving_variance)],
        "gradients": [numbers(by_input), numbers(by_gamma), numbers(by_beta)],
    }


def batch_norm_momentum(ask: Ask) -> Found:
    """Running mean and variance after one training step, for some momenta and for the default."""
    set_style("tape", ask.device)
    figures = {str(momentum): _after_one_step(momentum=momentum) for momentum in MOMENTA}
    return Found(figures | {"default": _after_one_step()})


def _after_one_step(**options: Any) -> list[Any]:
    layer = _layer(**options).set_train()
    layer(ms.Tensor(BATCH)).asnumpy()
    return [numbers(layer.moving_mean), numbers(layer.moving_variance)]
