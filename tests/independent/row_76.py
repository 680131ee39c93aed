"""Row 76: the dtypes of layers that were set by to_float, after a Model has been given a level."""

from typing import Any

import numpy as np


def in_mindspore() -> dict[str, Any]:
    """Dense layers in float16 around a batch norm in float32, by the level."""
    return {level: _dtypes(level) for level in ("O0", "O2", "O3")}


def _dtypes(level: str) -> list[str]:
    import mindspore as ms
    from mindspore import nn

    layers = nn.CellList([nn.Dense(4, 4), nn.BatchNorm1d(4), nn.Dense(4, 2)])
    for layer, own in zip(layers, (ms.float16, ms.float32, ms.float16), strict=True):
        layer.to_float(own)

    class Net(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
        def __init__(self) -> None:
            super().__init__()
            self.layers = layers

        def construct(self, x: Any) -> Any:
            first = self.layers[0](x)
            second = self.layers[1](first)
            return first, second, self.layers[2](second)

    net = Net()
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    ms.Model(net, nn.MSELoss(), optimizer, amp_level=level, loss_scale_manager=None)
    return [str(output.dtype) for output in net(ms.Tensor(np.ones((3, 4), np.float32)))]
