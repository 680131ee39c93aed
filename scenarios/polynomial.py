"""A polynomial of three inputs.

`f(x, y, z) = x²·y + y·z³ − 2·x·z`, a plain function without parameters. Its derivatives are read
off the formula: `2·x·y − 2·z` by x, `x² + z³` by y, `3·y·z² − 2·x` by z. At (2, −1, 0.5) these are
−5, 4.125 and −4.75.

With three inputs every form of `grad_position` occurs: an int, a tuple of one, two or three ints.
In MindSpore an int and a tuple of one come back bare, longer tuples as tuples in the order asked
for. There are no weights to ask for. And there is one output, returned as such: `has_aux=True` has
nothing to set aside, and every engine refuses it.
"""

import numpy as np

OUTPUTS = ("f",)

CONSTANT = (
    "a gradient that no longer depends on the input has no record on PyTorch's tape, "
    "which raises; the others answer 0"
)
EXPECTED_DIFFERENCES = [
    {"engines": ("torch-tape",), "reason": CONSTANT, "when": {"order": order, "position": position}}
    for order, position in ((2, 1), (3, 0), (3, 1))
]


def inputs():
    return {"x": np.array(2.0), "y": np.array(-1.0), "z": np.array(0.5)}


def mindspore_net():
    def polynomial(x, y, z):
        return x * x * y + y * z * z * z - 2 * x * z

    return polynomial


def torch_net():
    def polynomial(x, y, z):
        return x * x * y + y * z * z * z - 2 * x * z

    return polynomial


def jax_net():
    def polynomial(params, x, y, z):
        return x * x * y + y * z * z * z - 2 * x * z

    return polynomial
