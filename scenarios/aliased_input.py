"""One tensor passed as two inputs.

`f(a, b) = sum(a·b)` is called as `f(x, x)`: the same tensor stands at both positions. What is the
derivative with respect to `a`?

*Graph* style answers from the program. `f` has two arguments, the derivative with respect to the
first is `b`, and the values that arrive later do not matter: `[1, 2, 3]`. *Tape* style answers from
what it recorded, and it recorded one leaf that was used twice, so the contributions of both uses
end up in that leaf: `2·x = [2, 4, 6]`, at either position. Both are right answers, to different
questions: "the partial derivative with respect to an argument" and "the derivative with respect to
this tensor". Since the guides run MindSpore in graph style and PyTorch in tape style, this passes
for a difference between the two frameworks. It is not: each of the two gives both answers, depending
on its style. JAX, whose arrays are values, keeps the arguments apart in either style.

Central differences change one argument at a time, as a partial derivative asks: as a graph does.
"""

import numpy as np

_TAPES = ("mindspore-tape", "torch-tape")
_REASON = (
    "a tape sums the contributions of both uses into the one tensor that it recorded, "
    "a graph keeps the two arguments apart (and so do JAX in either style and central differences)"
)
EXPECTED_DIFFERENCES = [
    {"engines": _TAPES, "reason": _REASON, "when": {"position": 0, "has_aux": False}},
    {"engines": _TAPES, "reason": _REASON, "when": {"position": 1, "has_aux": False}},
]


def inputs():
    x = np.array([1, 2, 3], np.float32)
    return {"a": x, "b": x}


def mindspore_net():
    def product_sum(a, b):
        return (a * b).sum()

    return product_sum


def torch_net():
    def product_sum(a, b):
        return (a * b).sum()

    return product_sum


def jax_net():
    def product_sum(params, a, b):
        return (a * b).sum()

    return product_sum
