"""What depends on the version of PyTorch: the first version that has it, and what takes its place before.

The only place that looks at the version of this process. What engines cannot give in older versions is in
``model/versions.py``, which needs no framework.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch.nn.utils import clip_grad

from explorer.model.versions import Version, first_with

VERSION: Version = tuple(map(int, torch.__version__.split(".")[:2]))  # type: ignore[assignment]  # of two numbers
"""The version of PyTorch in this process."""


def _any_accelerator() -> bool:
    return bool(torch.accelerator.is_available())


def _any_cuda() -> bool:
    return bool(torch.cuda.is_available())


def _undo_levels() -> None:
    if torch._C._functorch.get_dynamic_layer_stack_depth():
        torch._C._functorch.pop_dynamic_layer_stack_and_undo_to_depth(0)


def _pop_levels() -> None:
    while torch._C._functorch.peek_interpreter_stack() is not None:
        torch._C._functorch.pop_dynamic_layer_stack()


def _output_node(graph: Any) -> Any:
    return graph.output_node()


def _last_node(graph: Any) -> Any:
    return list(graph.nodes)[-1]


def _as_it_is(tensor: torch.Tensor) -> torch.Tensor:
    return tensor


def _with_memory(tensor: torch.Tensor) -> torch.Tensor:
    """Zeros that are no more than a mark on a tensor get memory: numpy() would show what lies there."""
    return tensor.clone() if tensor._is_zerotensor() else tensor


def _has_unpack_hook(saved: Any) -> bool:
    return saved.unpack_hook is not None


def _hides_hooks(saved: Any) -> bool:
    return False


def _autocast_dtype(device: str) -> torch.dtype | None:
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else None


def _autocast_dtype_by_device(device: str) -> torch.dtype | None:
    if device == "cpu":
        return torch.get_autocast_cpu_dtype() if torch.is_autocast_cpu_enabled() else None
    return torch.get_autocast_gpu_dtype() if torch.is_autocast_enabled() else None


Making = Callable[..., torch.Tensor]
"""A function that makes a tensor of what is none."""


def _custom_operator(name: str, schema: str, compute: Making, fake: Making) -> Any:
    operator = torch.library.custom_op(name, compute, mutates_args=(), schema=schema)
    operator.register_fake(fake)
    return operator


def _defined_operator(name: str, schema: str, compute: Making, fake: Making) -> Any:
    torch.library.define(name, schema)
    # Of an operator that takes no tensor PyTorch chooses the kernel by no device.
    torch.library.impl(name, "CompositeExplicitAutograd", compute)
    torch.library.impl_abstract(name, fake)
    namespace, _, operator = name.partition("::")
    return getattr(getattr(torch.ops, namespace), operator)


class Feature(NamedTuple):
    """What PyTorch has from a version on (``now``), and what is used in older ones (``before``)."""

    since: Version
    now: Any
    before: Any


FEATURES: dict[str, Feature] = {
    # torch.accelerator; before, of the accelerators that PyTorch knows CUDA alone is looked for.
    "accelerator": Feature((2, 6), _any_accelerator, _any_cuda),
    # get_dynamic_layer_stack_depth; before, levels are taken off until there is none.
    "leave_levels": Feature((2, 3), _undo_levels, _pop_levels),
    # Graph.output_node(); before, it is the last node.
    "output_node": Feature((2, 5), _output_node, _last_node),
    # numpy(force=True) of zeros without memory; before, it shows unwritten memory.
    "with_memory": Feature((2, 10), _as_it_is, _with_memory),
    # SavedTensor.unpack_hook; before, a saved tensor is unpacked whether a hook packed it or not.
    "is_hooked": Feature((2, 10), _has_unpack_hook, _hides_hooks),
    # Autocast's state by the kind of device; before, a function for each.
    "autocast_dtype": Feature((2, 4), _autocast_dtype, _autocast_dtype_by_device),
    # torch.library.custom_op; before, the operator is defined by its schema.
    "custom_operator": Feature((2, 4), _custom_operator, _defined_operator),
    # Capture for export by Dynamo, with descriptions of what AOTAutograd makes of it (these: 2.9);
    # before, Dynamo's older export, and the order of what AOTAutograd takes and returns.
    "joint": Feature(first_with("written_leaf"), "described", "ordered"),
    # GradScaler for any device.
    "scaler": Feature((2, 3), getattr(torch.amp, "GradScaler", None), torch.cuda.amp.GradScaler),
    # The function inside clip_grad_norm_ that computes the norm, however that one was imported; before,
    # the module in which most programs look for clip_grad_norm_ itself.
    "norm": Feature((2, 6), (clip_grad, "_get_total_norm"), (torch.nn.utils, "clip_grad_norm_")),
    # Dynamo traces torch.func; before, it has to be told to.
    "traces_transforms": Feature((2, 3), {}, {"capture_func_transforms": True}),
    # Dynamo's setting; before, it refuses nets that call torch.autograd.grad.
    "trace_autograd_ops": Feature(
        first_with("gradient_in_forward"), {"trace_autograd_ops": True}, {}
    ),
}
"""All that depends on the version, by the name under which the engines use it."""


def offered(name: str) -> Any:
    """What this version of PyTorch offers of a feature, or what takes its place."""
    feature = FEATURES[name]
    return feature.now if feature.since <= VERSION else feature.before
