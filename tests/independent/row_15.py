"""Row 15: a dynamic scale that starts at 2^18, has factor 2, and grows after three finite steps."""

from typing import Any

GREATEST = 65504.0
"""The greatest float16."""

GRADIENTS = [1.0] * 9 + [32.0] + [1.0] * 6 + [0.125] * 8
"""The gradient of each step before it is scaled."""


def closed_form() -> dict[str, Any]:
    """The scale at each step by the rule that both frameworks' documents state."""
    scale, finite_steps = 2.0**18, 0
    turns = []
    for gradient in GRADIENTS:
        before = scale
        is_finite = before * gradient <= GREATEST
        if is_finite:
            finite_steps += 1
            if finite_steps == 3:
                scale, finite_steps = before * 2, 0
        else:
            scale, finite_steps = before / 2, 0
        turns.append({"scale": before, "after": scale, "finite": is_finite, "stepped": is_finite})
    return {"turns": turns}


def in_mindspore() -> dict[str, Any]:
    """The scale after each step by DynamicLossScaler.adjust."""
    import mindspore as ms
    import numpy as np

    scaler = ms.amp.DynamicLossScaler(2**18, 2, 3)
    after = []
    for gradient in GRADIENTS:
        scaled = scaler.scale(ms.Tensor(gradient, ms.float32)).asnumpy()
        with np.errstate(over="ignore"):
            in_half = ms.Tensor(scaled.astype(np.float16))
        scaler.adjust(ms.amp.all_finite((in_half,)))
        after.append(float(scaler.scale_value.asnumpy()))
    return {"after": after}
