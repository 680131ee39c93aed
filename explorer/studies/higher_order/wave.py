"""A wave whose derivatives never end.

`w(x) = eˣ·sin x`: its derivative of order n is `2^(n/2)·eˣ·sin(x + n·π/4)`, so every engine can be held against a closed form at
every order, and no order makes the gradient simpler than the one before.
"""

import numpy as np

OUTPUTS = ("w",)


def inputs():  # type: ignore[no-untyped-def]  # noqa: ANN201  # written as scenarios are
    return {"x": np.array(0.7)}


def mindspore_net():  # type: ignore[no-untyped-def]  # noqa: ANN201  # likewise
    from mindspore import ops

    def wave(x):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202  # likewise
        return ops.exp(x) * ops.sin(x)

    return wave


def torch_net():  # type: ignore[no-untyped-def]  # noqa: ANN201  # likewise
    def wave(x):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202  # likewise
        return x.exp() * x.sin()

    return wave
