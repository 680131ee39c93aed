"""Row 9: asking for neither a position nor weights."""

from typing import Any

from tests.independent.guide_net import mindspore_arguments, mindspore_net, torch_leaves, torch_net


def in_mindspore() -> dict[str, Any]:
    """The error, which may come from grad or from the call of what it returns."""
    import mindspore as ms

    try:
        ms.grad(mindspore_net(), None, None)(*mindspore_arguments())
    except Exception as error:  # which class it is, is the question
        return {"raised": type(error).__name__, "message": str(error)}
    return {"raised": None}


def in_torch() -> dict[str, Any]:
    """The error of autograd.grad with no inputs."""
    import torch

    loss, _ = torch_net(*torch_leaves())
    try:
        torch.autograd.grad([loss], [])
    except Exception as error:  # which class it is, is the question
        return {"raised": type(error).__name__, "message": str(error)}
    return {"raised": None}
