"""An operator that can end the process: it stands for all of which nobody knows with what they do."""

import numpy as np


def inputs():
    return {"x": np.random.default_rng(3).standard_normal((6, 4)).astype(np.float32)}


def torch_net():
    import os

    import torch

    @torch.library.custom_op("explorer_tests::scaled", mutates_args=())
    def scaled(x: torch.Tensor, factor: float, ends: bool) -> torch.Tensor:
        if ends:
            os.abort()
        return x * factor

    def backward(ctx, cotangent):
        return scaled(cotangent, ctx.factor, False), None, None

    def keep_factor(ctx, inputs, output):
        ctx.factor = inputs[1]

    scaled.register_autograd(backward, setup_context=keep_factor)

    def net(x):
        return scaled(x, 2.0, False).square().sum()

    return net
