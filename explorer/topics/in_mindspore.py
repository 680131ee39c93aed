"""What MindSpore's measuring functions share: the style they run in, numbers of tensors, and the
operators on a tape.
"""

from typing import Any

import mindspore as ms
from mindspore.common.api import _pynative_executor

from explorer.engines.mindspore.net import array_of, use_device
from explorer.engines.mindspore.tape_nodes import inner_nodes

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


def taped_operators(output: Any) -> list[str]:
    """The names of the operators on the tape behind ``output``, sorted; only while a gradient
    function records is there such a tape.
    """
    return sorted(node.name() for node in inner_nodes([output._grad_node], {}))
