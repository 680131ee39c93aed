"""Row 8: differentiating both outputs, and a net that returns their sum."""

from typing import Any

from tests.independent.guide_net import (
    mindspore_arguments,
    mindspore_net,
    spelt,
    torch_leaves,
    torch_net,
)


def in_mindspore() -> dict[str, Any]:
    """The gradient of the net with two outputs, and of their sum."""
    import mindspore as ms

    of_both = ms.grad(mindspore_net(), 0)(*mindspore_arguments())
    of_the_sum = ms.grad(mindspore_net("sum"), 0)(*mindspore_arguments())
    return {
        "both": spelt(of_both)["values"],
        "sum": spelt(of_the_sum)["values"],
        "structures": [spelt(each)["structure"] for each in (of_both, of_the_sum)],
    }


def in_torch() -> dict[str, Any]:
    """The gradient of the sum, and of both outputs with ones for cotangents."""
    import torch

    x, y, w = torch_leaves()
    loss, logits = torch_net(x, y, w)
    ones = (torch.ones_like(loss), torch.ones_like(logits))
    (of_both,) = torch.autograd.grad((loss, logits), (x,), ones, retain_graph=True)
    (of_the_sum,) = torch.autograd.grad(loss + logits, (x,))
    return {"both": [of_both.tolist()], "sum": [of_the_sum.tolist()]}
