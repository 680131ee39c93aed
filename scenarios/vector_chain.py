"""A vector output with a vector seed.

`x = 2·x`, then `y = x − 1`, and then `y.backward(x)`: PyTorch refuses to start a backward from a
vector by itself ("grad can be implicitly created only for scalar outputs") and wants a *seed*, one
number for each element of `y`. MindSpore never asks: without a seed it takes ones, which
differentiates the sum of the elements, and a seed is handed over with
`GradOperation(sens_param=True)` or `ms.vjp`. A loop of ported code that forgot its `reduction`
fails in the one framework and trains on the sum in the other.

A seed is nothing but a weight: `y.backward(v)` is `(y·v).sum().backward()` with `v` held constant.
That is the first output here, with the seed as an input of its own. With the guide's numbers, `x`
all ones and the doubled `x`, all twos, as the seed, the derivative with respect to the *first* `x`
is 2·2 = 4. The name `x` is taken twice in this chain, and the second one is no leaf: after `x = x *
2` PyTorch's `x.grad` is None, for the gradient belongs to the tensor that was handed in. MindSpore
counts positions, not names. With `has_aux=False` the vector `y` is seeded with ones beside it: 4 +
2 = 6.
"""

import numpy as np

OUTPUTS = ("seeded", "y")


def inputs():
    return {"x": np.ones((2, 2)), "v": np.full((2, 2), 2.0)}


def mindspore_net():
    def chain(x, v):
        x = x * 2
        y = x - 1
        return (y * v).sum(), y

    return chain


def torch_net():
    def chain(x, v):
        x = x * 2
        y = x - 1
        return (y * v).sum(), y

    return chain


def jax_net():
    def chain(params, x, v):
        x = x * 2
        y = x - 1
        return (y * v).sum(), y

    return chain
