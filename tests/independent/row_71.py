"""Row 71: batch norm with the statistics of its batch: output, gradients, and a step of SGD at 0.1."""

from typing import Any

import numpy as np

from tests.independent import drawn

AXES = (0, 2, 3)
EPSILON = 1e-5


def closed_form() -> dict[str, Any]:
    """Scale 1 and shift 0 move against the sums of the cotangent, with the normal values and without."""
    batch, cotangent = drawn.BATCH.astype(float), drawn.COTANGENT.astype(float)
    centred = batch - batch.mean(AXES, keepdims=True)
    normal = centred / np.sqrt((centred**2).mean(AXES, keepdims=True) + EPSILON)
    gradients = [(cotangent * normal).sum(AXES), cotangent.sum(AXES)]
    return {
        "at the start": [[1.0, 1.0], [0.0, 0.0]],
        "running mean": None,
        "output": normal.tolist(),
        "gradients": [gradient.tolist() for gradient in gradients],
        "after": [(1 - 0.1 * gradients[0]).tolist(), (-0.1 * gradients[1]).tolist()],
    }


def in_torch() -> dict[str, Any]:
    """The gradients by PyTorch's tape, in evaluation."""
    import torch

    layer = torch.nn.BatchNorm2d(2, track_running_stats=False).eval()
    loss = (layer(torch.tensor(drawn.BATCH)) * torch.tensor(drawn.COTANGENT)).sum()
    gradients = torch.autograd.grad(loss, (layer.weight, layer.bias))
    return {"gradients": [gradient.tolist() for gradient in gradients]}
