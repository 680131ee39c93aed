"""Dense layer with mean squared error, loss and logits added up.

The net of the scenario `dense_mse` with one output instead of two: what `has_aux=False`
differentiates, written out.
"""

from typing import Any

import numpy as np

OUTPUTS = ("total",)


def inputs() -> dict[str, Any]:
    """Those of `dense_mse`."""
    return {"x": np.array([[1, 2, 3]], np.float32), "y": np.array(19, np.float32)}


def parameters() -> dict[str, Any]:
    """Those of `dense_mse`."""
    return {"fc.weight": np.array([[2, 3, 4]], np.float32)}


def mindspore_net() -> Any:
    """The net in MindSpore."""
    from mindspore import nn

    class Net(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Dense(3, 1, has_bias=False)
            self.loss = nn.MSELoss()

        def construct(self, x: Any, y: Any) -> Any:
            logits = self.fc(x).squeeze()
            return self.loss(logits, y) + logits

    return Net()


def torch_net() -> Any:
    """The net in PyTorch."""
    from torch import nn

    class Net(nn.Module):  # type: ignore[misc]  # torch is untyped here
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Linear(3, 1, bias=False)
            self.loss = nn.MSELoss()

        def forward(self, x: Any, y: Any) -> Any:
            logits = self.fc(x).squeeze()
            return self.loss(logits, y) + logits

    return Net()
