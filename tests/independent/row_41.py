"""Row 41: dropout of 20,000 ones: the share that is kept, and what a kept one becomes."""

from typing import Any

import numpy as np

COUNT = 20_000


def closed_form() -> dict[str, Any]:
    """A survivor is divided by the probability to be kept."""
    return {
        "of 0.7": {"kept": 0.7, "survivor": 1 / 0.7},
        "of 0.3": {"kept": 0.3, "survivor": 1 / 0.3},
    }


def in_torch() -> dict[str, Any]:
    """With p = 0.3 and with 0.3 alone."""
    import torch
    from torch import nn

    torch.manual_seed(1)
    ones = torch.ones(COUNT)
    return {"p": _share(nn.Dropout(p=0.3)(ones)), "alone": _share(nn.Dropout(0.3)(ones))}


def in_mindspore_tape() -> dict[str, Any]:
    """With p = 0.3, with keep_prob = 0.7, and with 0.3 alone."""
    import mindspore as ms
    from mindspore import nn

    ms.set_seed(1)
    ones = ms.Tensor(np.ones(COUNT, np.float32))
    layers = {
        "p": nn.Dropout(p=0.3),
        "keep_prob": nn.Dropout(keep_prob=0.7),
        "alone": nn.Dropout(0.3),
    }
    return {name: _share(layer.set_train()(ones).asnumpy()) for name, layer in layers.items()}


def _share(dropped: Any) -> dict[str, float]:
    values = np.array(dropped)
    return {"kept": float((values != 0).mean()), "survivor": float(values.max())}
