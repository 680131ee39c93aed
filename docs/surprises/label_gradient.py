"""The gradient of a cross entropy with respect to its label.

The loss max(z, 0) − z·y + log(1 + e^−|z|) is linear in the label y: its derivative is −z. MindSpore's
operator returns zeros for it, in both styles, and says nothing.
"""

import numpy as np

EXPECTED_DIFFERENCES = [
    {
        "engines": ["mindspore"],
        "reason": "MindSpore 2.10's SigmoidCrossEntropyWithLogits gives 0 for the label's gradient",
        "when": {"position": 1},
    }
]


def inputs():
    return {
        "z": np.array([-2.0, -0.5, 0.5, 2.0], np.float32),
        "y": np.array([0.0, 1.0, 0.3, 1.0], np.float32),
    }


def mindspore_net():
    from mindspore import ops

    loss = ops.SigmoidCrossEntropyWithLogits()

    def net(z, y):
        return loss(z, y).sum()

    return net


def torch_net():
    from torch.nn.functional import binary_cross_entropy_with_logits

    def net(z, y):
        return binary_cross_entropy_with_logits(z, y, reduction="sum")

    return net
