"""A backward written by hand.

The sign of a number has the derivative zero almost everywhere, so nothing before it could ever
learn. A *straight-through* estimator sends the gradient past it all the same, where the input lies
within [−1, 1], and stops it outside. Quantised nets train this way. In MindSpore the rule is a
method `bprop` of a Cell: it gets the inputs, then the output, then the gradient with respect to the
output, and returns a tuple with one gradient for each input. In PyTorch it is an
`autograd.Function`: `backward` gets a context and the gradient, and sees of the forward only what
`save_for_backward` kept. A bare tensor in place of the tuple passes on MindSpore's tape and is
refused by its compiler; what PyTorch forgets to save, it cannot use.

All four engines do what they are told, and agree. Central differences do not: they look at the
function, which is flat. A custom backward is an instruction, not a derivative, and no engine checks
that it is one. That check is the reader's.
"""

import numpy as np

EXPECTED_DIFFERENCES = [
    {
        "engines": ("central-differences",),
        "reason": (
            "a straight-through backward is no derivative: the sign is flat, "
            "and central differences see just that"
        ),
    }
]


def inputs():
    return {"x": np.array([-1.5, -0.25, 0.5, 2.0])}


def mindspore_net():
    from mindspore import nn, ops

    class Sign(nn.Cell):
        def construct(self, x):
            return ops.sign(x)

        def bprop(self, x, out, dout):
            return (dout * (ops.abs(x) <= 1),)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.sign = Sign()

        def construct(self, x):
            y = 3 * self.sign(x)
            return (y * y * y).sum()

    return Net()


def torch_net():
    import torch

    class Sign(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return torch.sign(x)

        @staticmethod
        def backward(ctx, dout):
            (x,) = ctx.saved_tensors
            return dout * (torch.abs(x) <= 1)

    def quantised(x):
        y = 3 * Sign.apply(x)
        return (y * y * y).sum()

    return quantised


def jax_net():
    import jax
    import jax.numpy as jnp

    @jax.custom_vjp
    def sign(x):
        return jnp.sign(x)

    def forward(x):
        return jnp.sign(x), x

    def backward(x, dout):
        return (dout * (jnp.abs(x) <= 1),)

    sign.defvjp(forward, backward)

    def quantised(params, x):
        y = 3 * sign(x)
        return (y * y * y).sum()

    return quantised
