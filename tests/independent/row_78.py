"""Row 78: batch norm with given statistics and a dense layer on five samples, in batches of two."""

from typing import Any

import numpy as np

SAMPLES = np.array([[1, 2], [3, -2], [5, 6], [-1, 0.5], [0.25, -4]], np.float32)
MEAN, VARIANCE = np.array([0.5, -1]), np.array([2, 0.25])
WEIGHT = np.array([2, -3])


def closed_form() -> dict[str, Any]:
    """The outputs of all samples, and of those in whole batches."""
    normal = (SAMPLES - MEAN) / np.sqrt(VARIANCE + 1e-5)
    outputs = (normal @ WEIGHT)[:, None].tolist()
    return {"all": outputs, "whole batches": outputs[:4]}


def in_mindspore() -> dict[str, Any]:
    """The outputs batch by batch, as batch() makes them by default."""
    import mindspore as ms
    from mindspore import dataset, nn

    class Net(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
        def __init__(self) -> None:
            super().__init__()
            self.norm, self.fc = nn.BatchNorm1d(2), nn.Dense(2, 1, has_bias=False)

        def construct(self, x: Any) -> Any:
            return self.fc(self.norm(x))

    net = Net()
    net.norm.moving_mean.set_data(ms.Tensor(MEAN, ms.float32))
    net.norm.moving_variance.set_data(ms.Tensor(VARIANCE, ms.float32))
    net.fc.weight.set_data(ms.Tensor(WEIGHT[None], ms.float32))
    net.set_train(False)
    outputs = []
    for (batch,) in dataset.NumpySlicesDataset(SAMPLES, shuffle=False).batch(2):
        outputs += net(ms.Tensor(batch)).asnumpy().tolist()
    return {"by default": outputs}
