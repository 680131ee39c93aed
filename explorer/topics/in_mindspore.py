"""What MindSpore's measuring functions share: the style they run in, and numbers of tensors."""

from typing import Any

import mindspore as ms
from mindspore.common.api import _pynative_executor

from explorer.engines.mindspore.net import array_of, use_device

MODES = {"graph": ms.GRAPH_MODE, "tape": ms.PYNATIVE_MODE}


def set_style(style: str, device: str = "cpu", seed: int = 0) -> None:
    """Put the worker into "graph" or "tape" style, with the seed set and no recording left over
    from an earlier call.
    """
    use_device(device)
    # A tape call that raised leaves the flag on (2.10.0), and the next compilation would nest in
    # its recording.
    _pynative_executor.set_grad_flag(False)
    ms.set_context(mode=MODES[style])
    ms.set_seed(seed)


def numbers(value: Any) -> Any:
    """Nested lists of the numbers of tensors, in the nesting given; bfloat16 by way of float32."""
    if isinstance(value, (tuple, list)):
        return [numbers(item) for item in value]
    return array_of(value).tolist() if isinstance(value, ms.Tensor) else value
