"""What MindSpore's measuring functions share: the style they run in, and numbers of tensors."""

from typing import Any

import mindspore as ms
from mindspore.common.api import _pynative_executor

from explorer.engines.mindspore_net import array_of, use_device

MODES = {"graph": ms.GRAPH_MODE, "tape": ms.PYNATIVE_MODE}


def style(name: str, device: str = "cpu", seed: int = 0) -> None:
    """Puts the worker into graph or tape style, with the seed set and no recording left over from an earlier call."""
    use_device(device)
    _pynative_executor.set_grad_flag(False)  # a tape call that raised leaves it on (2.10.0): the next compile would nest
    ms.set_context(mode=MODES[name])
    ms.set_seed(seed)


def listed(value: Any) -> Any:
    """Nested lists of numbers of tensors, in the nesting given; bfloat16 by way of float32."""
    if isinstance(value, (tuple, list)):
        return [listed(item) for item in value]
    return array_of(value).tolist() if isinstance(value, ms.Tensor) else value
