"""What MindSpore's measuring functions share: style, numbers of tensors, operators on a tape."""

from typing import Any

import mindspore as ms
from mindspore.common.api import _pynative_executor

from explorer.engines.mindspore.net import array_of, use_device
from explorer.engines.mindspore.tape_nodes import inner_nodes

MODES = {"graph": ms.GRAPH_MODE, "tape": ms.PYNATIVE_MODE}


def set_style(style: str, device: str = "cpu", seed: int = 0) -> None:
    """Put the worker into "graph" or "tape" style, with the seed set and nothing recorded."""
    use_device(device)
    # A tape call that raised leaves its tape and the flag on (2.10.0): the next compilation would
    # nest in its recording, and ``tensor[0]`` would fail.
    _pynative_executor.clear_res()
    _pynative_executor.set_grad_flag(False)
    ms.set_context(mode=MODES[style])
    ms.set_seed(seed)


def numbers(value: Any) -> Any:
    """Nested lists of the numbers of tensors, in the nesting of ``value``.

    bfloat16, which numpy does not have, becomes float32.
    """
    if isinstance(value, (tuple, list)):
        return [numbers(item) for item in value]
    if isinstance(value, ms.Tensor):
        return array_of(value).tolist()
    return value


def taped_operators(output: Any) -> list[str]:
    """The names of the operators on the tape behind ``output``, sorted.

    There is such a tape only while a gradient function records.
    """
    return sorted(node.name() for node in inner_nodes([output._grad_node], {}))
