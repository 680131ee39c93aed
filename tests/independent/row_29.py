"""Row 29: a Variable that is doubled, shifted, and sent back with the doubled value."""

from typing import Any


def in_torch() -> dict[str, Any]:
    """The gradient of the leaf, 2·(2·1) = 4, and of the name that the guide overwrites."""
    import warnings

    import torch
    from torch.autograd import Variable

    leaf = Variable(torch.ones(2, 2), requires_grad=True)
    x = leaf * 2
    y = x - 1
    y.backward(x)
    with warnings.catch_warnings(record=True) as noticed:
        warnings.simplefilter("always")  # of reading .grad of what is no leaf
        overwritten = x.grad
    return {
        "exists": hasattr(torch.autograd, "Variable"),
        "is a Tensor": isinstance(leaf, torch.Tensor),
        "warned": [
            str(notice.message).partition(".  ")[0].partition(". ")[0] for notice in noticed
        ],
        "leaf": leaf.grad.tolist(),
        "x": overwritten,
        "x is a leaf": x.is_leaf,
        "type": type(leaf).__module__ + "." + type(leaf).__name__,
    }
