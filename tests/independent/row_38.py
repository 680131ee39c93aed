"""Row 38: what reads a result on the host."""

from typing import Any


def in_torch() -> dict[str, Any]:
    """What numpy() says of a result on the tape."""
    import torch

    try:
        (torch.ones(2, requires_grad=True) * 1.5).numpy()
    except Exception as error:  # which class it is, is the question
        return {"raised": type(error).__name__, "message": str(error)}
    return {"raised": None}


def in_mindspore_tape() -> dict[str, Any]:
    """Whether asnumpy() reads a gradient at once."""
    import mindspore as ms

    def total(x: Any) -> Any:
        return x.sum()

    return {"gradient": ms.grad(total)(ms.Tensor([5.0, 6.0])).asnumpy().tolist()}
