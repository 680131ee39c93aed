"""Row 42: batch norm by the batch's statistics and by the running ones, written out in float64."""

from typing import Any

from tests.independent import drawn


def in_torch() -> dict[str, Any]:
    """Outputs, running statistics, and the gradients with respect to input, scale and shift."""
    import torch

    figures = {}
    for name, by_the_batch in {"batch": True, "running": False}.items():
        x = torch.tensor(drawn.BATCH, dtype=torch.float64, requires_grad=True)
        scale = torch.tensor(drawn.SCALE, requires_grad=True)
        shift = torch.tensor(drawn.SHIFT, requires_grad=True)
        mean = torch.tensor(drawn.OLD_MEAN)[:, None, None]
        variance = torch.tensor(drawn.OLD_VARIANCE)[:, None, None]
        running = [drawn.OLD_MEAN.tolist(), drawn.OLD_VARIANCE.tolist()]
        if by_the_batch:
            mean = x.mean((0, 2, 3), keepdim=True)
            variance = x.var((0, 2, 3), correction=0, keepdim=True)
            running = [
                (0.9 * drawn.OLD_MEAN + 0.1 * mean.flatten().detach().numpy()).tolist(),
                (0.9 * drawn.OLD_VARIANCE + 0.1 * x.var((0, 2, 3)).detach().numpy()).tolist(),
            ]
        normal = (x - mean) / torch.sqrt(variance + 1e-5)
        output = normal * scale[:, None, None] + shift[:, None, None]
        weighted = (output * torch.tensor(drawn.COTANGENT)).sum()
        gradients = torch.autograd.grad(weighted, (x, scale, shift))
        figures[name] = {
            "output": output.tolist(),
            "running": running,
            "gradients": [gradient.tolist() for gradient in gradients],
        }
    return figures
