"""Float16 gradients that underflow.

`loss = sum(x·w·w)` with weights of 2⁻¹³: the loss is an ordinary number, but its derivative with
respect to `x` is `w² = 2⁻²⁶`, and float16 ends at 2⁻²⁴. Four engines agree on **zero**, and no
verdict can warn: central differences in float64 find 1.5e-8, which is zero within any tolerance.
The third element, with a weight of 2⁻⁶, comes through.

The second output is the loss times 2¹⁰. Differentiating both (`has_aux=False`) seeds the pass with
1 + 1024, all that follows is so many times larger, and what would have vanished arrives as 2⁻¹⁶.
That is what a loss scaler does: scale by a power of two, which costs no digits, differentiate, and
divide in float32. Scaling after the backward is too late, and scaling cannot help where the
*forward* has underflowed.

In MindSpore put the scale inside the function that `grad` differentiates
(`amp.StaticLossScaler.scale`), or pass it as `sens`. In PyTorch it is
`GradScaler.scale(loss).backward()`.
"""

import numpy as np

OUTPUTS = ("loss", "scaled")


def inputs():
    return {
        "x": np.array([64.0, -32.0, 128.0], np.float16),
        "w": np.array([2.0**-13, 2.0**-13, 2.0**-6], np.float16),
    }


def mindspore_net():
    def weighed(x, w):
        loss = (x * w * w).sum()
        return loss, loss * 1024

    return weighed


def torch_net():
    def weighed(x, w):
        loss = (x * w * w).sum()
        return loss, loss * 1024

    return weighed


def jax_net():
    def weighed(params, x, w):
        loss = (x * w * w).sum()
        return loss, loss * 1024

    return weighed
