"""Dropout in MindSpore: which of p and keep_prob it takes, what each means, and whether its
gradient has the forward's mask.
"""

import inspect
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.in_mindspore import set_style

ELEMENTS = 20_000
DRAWS = 400
"""All in one call: from its sixth call on, a layer's mask depends on the timing of threads too
(2.10.0, CPU).
"""


def dropout_settings(ask: Ask) -> Found:
    """The share of ones that survive each way to ask for dropout, what a survivor becomes, and what
    inference makes of it.
    """
    set_style("tape", ask.device)
    figures: dict[str, Any] = {
        "p=0.3": attempt_briefly(_survival, p=0.3),
        "keep_prob=0.7": attempt_briefly(_survival, keep_prob=0.7),
        "0.3 alone": attempt_briefly(_survival, 0.3),
        "no argument": attempt_briefly(_survival),
        "p=0": attempt_briefly(_survival, p=0.0),
        "p=1": attempt_briefly(_survival, p=1.0),
    }
    return Found(figures | {"parameters": list(inspect.signature(nn.Dropout).parameters)})


def _survival(*arguments: float, **options: float) -> dict[str, Any]:
    ms.set_seed(0)
    layer = nn.Dropout(*arguments, **options).set_train()
    ones = ms.Tensor(np.ones(ELEMENTS, np.float32))
    made = layer(ones).asnumpy()
    still = bool((layer.set_train(False)(ones).asnumpy() == 1).all())
    return {
        "kept": float((made != 0).mean()),
        "survivor": float(made.max()),
        "inference_is_identity": still,
    }


def dropout_draws(ask: Ask) -> Found:
    """The mean of many draws beside what went in, and when the seed makes the mask come again."""
    set_style("tape", ask.device)
    given = np.linspace(1, 8, 8, dtype=np.float32)
    layer = nn.Dropout(p=0.3).set_train()
    draws = layer(ms.Tensor(np.tile(given, (DRAWS, 1)))).asnumpy()
    ones = ms.Tensor(np.ones(64, np.float32))
    ms.set_seed(1)
    first = nn.Dropout(p=0.3).set_train()
    masks = [first(ones).asnumpy()]
    ms.set_seed(1)
    masks += [first(ones).asnumpy(), nn.Dropout(p=0.3).set_train()(ones).asnumpy()]
    return Found(
        {
            "draws": DRAWS,
            "ratio": (draws.mean(axis=0, dtype=np.float64) / given).round(6).tolist(),
            "same_layer_repeats_after_seed": bool((masks[0] == masks[1]).all()),
            "new_layer_repeats_after_seed": bool((masks[0] == masks[2]).all()),
        }
    )


def dropout_mask(ask: Ask) -> Found:
    """Output and gradient of one call of dropout on ones, in the style asked for: both are the mask
    times 1 / (1 - p).
    """
    set_style(ask.options["style"], ask.device)
    layer = nn.Dropout(p=0.3).set_train()
    output, gradient = ms.value_and_grad(layer)(ms.Tensor(np.ones(64, np.float32)))
    return Found({"output": output.asnumpy().tolist(), "gradient": gradient.asnumpy().tolist()})
