"""Row 47: on which side zeros are added, and a strided convolution with a padding of 1 and with "same"."""

from typing import Any

import numpy as np

from tests.independent.attempts import attempt

IMAGE = np.arange(16.0).reshape(4, 4)
KERNEL = np.arange(9.0).reshape(3, 3)


def closed_form() -> dict[str, Any]:
    """TensorFlow's rule for "same", the larger half right; what of a padding of 1 is used; two outputs."""
    figures: dict[str, Any] = {"same": {}, "padding 1": {}}
    for size in range(3, 9):
        for kernel in range(1, min(size, 4) + 1):
            for stride in (1, 2, 3):
                needed = max((-(-size // stride) - 1) * stride + kernel - size, 0)
                name = f"size {size}, kernel {kernel}, stride {stride}"
                figures["same"][name] = [needed // 2, needed - needed // 2]
        windows = (size + 2 - 2) // 2 + 1
        used = 2 * windows - 1 - size
        figures["padding 1"][f"size {size}, kernel 2, stride 2"] = [1, used]
    figures["strided, padding 1"] = _convolved(top=1, bottom=1)
    figures["strided, same"] = _convolved(top=0, bottom=1)
    return figures


def _convolved(*, top: int, bottom: int) -> list[float]:
    padded = np.pad(IMAGE, (top, bottom))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3))[::2, ::2]
    outputs: list[float] = (windows * KERNEL).sum((2, 3)).flatten().tolist()
    return outputs


def in_torch() -> dict[str, Any]:
    """The strided convolution with padding=1."""
    import torch
    from torch.nn import functional

    image, kernel = (torch.tensor(values)[None, None] for values in (IMAGE, KERNEL))
    padded = functional.conv2d(image, kernel, stride=2, padding=1)
    return {
        "padding 1": padded.flatten().tolist(),
        "same": attempt(lambda: torch.nn.Conv2d(1, 1, 3, stride=2, padding="same")),
    }


def in_mindspore_tape() -> dict[str, Any]:
    """The same by Conv2d with its default, "same", and with pad_mode="pad"."""
    import mindspore as ms
    from mindspore import nn

    kernel = ms.Tensor(KERNEL.astype(np.float32)[None, None])
    image = ms.Tensor(IMAGE.astype(np.float32)[None, None])
    layers = {
        "default": nn.Conv2d(1, 1, 3, stride=2, weight_init=kernel),
        "padding 1": nn.Conv2d(1, 1, 3, stride=2, pad_mode="pad", padding=1, weight_init=kernel),
    }
    return {name: layer(image).asnumpy().flatten().tolist() for name, layer in layers.items()}
