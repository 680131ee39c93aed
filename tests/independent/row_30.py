"""Row 30: .grad after each of two backwards, and after zero_grad."""

from typing import Any

from tests.independent.guide_net import W, X, Y, torch_leaves, torch_net


def closed_form() -> dict[str, Any]:
    """What MindSpore returns at every call: 2·(x·w − y)·x."""
    error = float((X * W).sum() - Y)
    returned = [(2 * error * X).tolist()]
    return {"returned": returned, "each of three": [returned] * 3}


def in_torch() -> dict[str, Any]:
    """The gradient with respect to the guide's weight."""
    import torch

    x, y, w = torch_leaves()
    optimizer = torch.optim.SGD([w], lr=0.1)
    after = []
    for _ in range(2):
        loss, _ = torch_net(x, y, w)
        loss.backward()
        after.append(w.grad.tolist())
    optimizer.zero_grad(set_to_none=False)
    zeroed = w.grad.tolist()
    optimizer.zero_grad()
    return {"after": after, "zeroed": zeroed, "by default": w.grad}
