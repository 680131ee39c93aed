"""The net of the guide to gradients, in both frameworks, and its results spelt by name.

A dense layer from 3 to 1 without bias, its weight [[2, 3, 4]], then the mean squared error against 19, at
[[1, 2, 3]]. It returns the loss, 1, and the logits, 20.
"""

from typing import Any

import numpy as np

INPUT = np.array([[1, 2, 3]], np.float32)
TARGET = np.array(19, np.float32)
WEIGHT = np.array([[2, 3, 4]], np.float32)

ERROR = float((INPUT * WEIGHT).sum() - TARGET)
BY_INPUT, BY_WEIGHT, BY_TARGET = 2 * ERROR * WEIGHT, 2 * ERROR * INPUT, -2 * ERROR
"""The gradients of the loss (x·w − y)², by hand."""


def mindspore_net(outputs: str = "loss and logits") -> Any:
    """The net as a Cell; ``outputs`` "sum" makes it return loss + logits."""
    import mindspore as ms
    from mindspore import nn

    class Net(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Dense(3, 1, weight_init=ms.Tensor(WEIGHT), has_bias=False)
            self.loss = nn.MSELoss()

        def construct(self, x: Any, y: Any) -> Any:
            logits = self.fc(x).squeeze()
            return self.loss(logits, y), logits

    class Sum(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
        def __init__(self) -> None:
            super().__init__()
            self.net = Net()

        def construct(self, x: Any, y: Any) -> Any:
            loss, logits = self.net(x, y)
            return loss + logits

    return Net() if outputs == "loss and logits" else Sum()


def mindspore_arguments() -> tuple[Any, Any]:
    """The input and the target as MindSpore's tensors."""
    import mindspore as ms

    return ms.Tensor(INPUT), ms.Tensor(TARGET)


def torch_leaves() -> tuple[Any, Any, Any]:
    """Input, target and weight as leaves of PyTorch's tape."""
    import torch

    return tuple(torch.tensor(values, requires_grad=True) for values in (INPUT, TARGET, WEIGHT))


def torch_net(x: Any, y: Any, w: Any) -> tuple[Any, Any]:
    """The loss and the logits of PyTorch's tensors."""
    from torch.nn import functional

    logits = functional.linear(x, w).squeeze()
    return functional.mse_loss(logits, y), logits


def spelt(result: Any) -> dict[str, Any]:
    """A result's structure, each tensor by its name, and the tensors' values from left to right."""
    values: list[Any] = []
    return {"structure": _structure(result, values), "values": values}


def _structure(result: Any, values: list[Any]) -> str:
    if isinstance(result, tuple):
        parts = [_structure(part, values) for part in result]
        return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"
    array = np.array(result.tolist())
    values.append(array.tolist())
    # The gradient with respect to the input is a multiple of the weight, that by the weight one of the input.
    if array.shape == WEIGHT.shape:
        is_by_input = np.allclose(array / array[0, 0], WEIGHT / WEIGHT[0, 0])
        return "dx" if is_by_input else "dfc.weight"
    return {1.0: "loss", 20.0: "logits", -2.0: "dy"}[float(array)]
