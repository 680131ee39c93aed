"""Row 79: writing 7 into the first element of an output, which is [[6, 6]]."""

from typing import Any

import numpy as np

from tests.independent.attempts import attempt


def closed_form() -> dict[str, Any]:
    """What is left where the writing reaches the output."""
    return {"written": [[7.0, 6.0]]}


def in_torch() -> dict[str, Any]:
    """Writing to the output itself, and what the way to its array raises."""
    import torch

    weight = torch.ones(2, 3, requires_grad=True)
    output = torch.tensor([[1.0, 2.0, 3.0]]) @ weight.T

    def array() -> Any:
        return output.numpy().tolist()

    refused = attempt(array)
    output[0, 0] = 7.0
    another = torch.tensor([[1.0, 2.0, 3.0]]) @ weight.T
    another.detach().numpy()[0, 0] = 7.0
    return {
        "written": output.tolist(),
        "array": refused,
        "array of the detached": another.tolist(),
    }


def in_mindspore() -> dict[str, Any]:
    """Writing to the output itself, and to the array of another."""
    import mindspore as ms
    from mindspore import nn

    net, x = nn.Dense(3, 2, "ones", "zeros"), ms.Tensor(np.array([[1, 2, 3]], np.float32))
    output, another = net(x), net(x)
    output[0, 0] = 7.0
    another.asnumpy()[0, 0] = 7.0
    return {"written": output.asnumpy().tolist(), "by its array": another.asnumpy().tolist()}
