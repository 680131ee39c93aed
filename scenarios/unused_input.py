"""An input that the output does not depend on.

`f(x, z) = sum(x³)` never looks at `z`. The derivative with respect to `z` is zero, and a graph
says so: MindSpore writes the zeros into the program as a constant, `torch.func` and the joint graph
return them likewise, and so does MindSpore's tape.

PyTorch's tape distinguishes three things, all of which are met when code is ported.
`loss.backward()` leaves `z.grad` at None. `torch.autograd.grad(loss, [x, z])` raises that a tensor
"appears to not have been used in the graph", unless told `allow_unused=True` (which gives None) or
`materialize_grads=True` (zeros; it is what the explorer asks for). And when *only* `z` is asked
for, so that nothing was recorded at all, it raises whatever it is told: "does not require grad". A
None turns up later, in an optimizer that skips this parameter, weight decay included, or in a sum
over gradients.
"""

import numpy as np

NOTHING = (
    "PyTorch's tape recorded nothing, as no leaf that is asked for was used, "
    "and raises; the others answer zeros"
)
EXPECTED_DIFFERENCES = [
    {"engines": ("torch-tape",), "reason": NOTHING, "when": {"grad_position": position}}
    for position in (1, (1,))
]


def inputs():
    return {"x": np.array([1.0, -2.0, 3.0], np.float32), "z": np.array([0.5, 0.25], np.float32)}


def mindspore_net():
    def cubes(x, z):
        return (x * x * x).sum()

    return cubes


def torch_net():
    def cubes(x, z):
        return (x * x * x).sum()

    return cubes


def jax_net():
    def cubes(params, x, z):
        return (x * x * x).sum()

    return cubes
