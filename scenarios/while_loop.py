"""A loop that ends on a value.

`while h < 20: h = h·h` squares 1.5 three times, so the net is `x⁸` and the derivative `8·x⁷ =
136.6875`; begun at 1.1, it would be another power. How often a loop runs is known when the values
are, and that is where the styles differ.

A tape unrolls it: three multiplications, three pairs of multiplications backward, and no sign of a
loop. Memory and graph grow with the number of turns. MindSpore's compiler keeps the loop: **one**
body, a function that calls itself through a switch, and one backward body, called as often as the
forward ran. Shown beside an op of it is the value of the last run. PyTorch's joint graph cannot be
captured, since a Python `while` on a tensor's value would need that value: no answer here, with the
reason (`torch.while_loop` is the way to write it).

All that answer agree. None of them knows that the count of turns depends on `x`: at the edges the
true function jumps.
"""

import numpy as np


def inputs():
    return {"x": np.array(1.5, np.float32)}


def mindspore_net():
    def squared_until_large(x):
        h = x
        while h < 20:
            h = h * h
        return h

    return squared_until_large


def torch_net():
    def squared_until_large(x):
        h = x
        while h < 20:
            h = h * h
        return h

    return squared_until_large


def jax_net():
    def squared_until_large(params, x):
        h = x
        while h < 20:  # jax.jit asks for jax.lax.while_loop, which has no reverse mode
            h = h * h
        return h

    return squared_until_large
