"""A mixture of experts with top-k gates.

Four experts, of which each row takes the two with the highest scores, weighted by a softmax over
these two. The scores that a gate would compute and the answers of the experts are inputs here, so
that their gradients can be read off. The selection is a step function: the derivative flows through
the scores chosen, and to the answers chosen, and the indices have none. An expert that no row
chose, the last one here, gets exactly zero, and so does its score, so that it cannot become better
by training: the reason why such nets add a loss that balances the load.

The gradient graph shows how: backward of top-k *scatters* two gradients into four places that hold
zeros otherwise, and backward of the gathering does the same for the answers. MindSpore spells the
two `ops.topk` and `ops.gather_elements`, PyTorch `torch.topk` and `torch.gather`; both sort
descending. Where two scores tie, which one is chosen is up to the framework, and with it where the
gradient goes: there is no tie in these numbers.
"""

import numpy as np


def inputs():
    return {
        "scores": np.array([[2.5, 1.5, -0.5, -1.0], [-2.0, -0.5, 1.25, -1.5]], np.float32),
        "answers": np.array([[0.5, -1.0, 2.0, 0.25], [1.5, 0.75, -0.5, 1.0]], np.float32),
    }


def mindspore_net():
    from mindspore import ops

    def mixture(scores, answers):
        best, chosen = ops.topk(scores, 2)
        return (ops.softmax(best) * ops.gather_elements(answers, 1, chosen)).sum()

    return mixture


def torch_net():
    import torch

    def mixture(scores, answers):
        best, chosen = torch.topk(scores, 2)
        return (torch.softmax(best, -1) * torch.gather(answers, 1, chosen)).sum()

    return mixture


def jax_net():
    import jax
    import jax.numpy as jnp

    def mixture(params, scores, answers):
        best, chosen = jax.lax.top_k(scores, 2)
        return (jax.nn.softmax(best) * jnp.take_along_axis(answers, chosen, axis=1)).sum()

    return mixture
