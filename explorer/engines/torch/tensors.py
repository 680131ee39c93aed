"""PyTorch's tensors as arrays and records, and whether a tensor has changed.

Unlike explorer.engines.torch.net, this module changes no setting of PyTorch when it is imported.
"""

import torch

from explorer.engines.torch.versions import offered
from explorer.model.arrays import AnyArray, Array, pack


def array_of(value: torch.Tensor) -> AnyArray:
    """The numpy array of a tensor on any device; bfloat16 as float32."""
    plain = value.float() if value.dtype == torch.bfloat16 else value
    # Forced: a conjugate, or zeros, may be no more than a mark on the tensor that it is so.
    array: AnyArray = offered("with_memory")(plain).numpy(force=True)
    return array


def dtype_of(value: torch.Tensor) -> str:
    """The dtype name of a tensor: "float32", "bfloat16"."""
    return dtype_name(value.dtype)


def dtype_name(dtype: torch.dtype) -> str:
    """The name of a dtype: "float32"."""
    return str(dtype).removeprefix("torch.")


def packed(value: torch.Tensor) -> Array:
    """The record of a tensor."""
    return pack(array_of(value), dtype_of(value))


def changed(before: torch.Tensor, after: torch.Tensor) -> bool:
    """Whether any element is another one; a NaN that stays a NaN is none."""
    # torch.equal is fast, but calls a NaN another number than itself: only then look closer.
    if before is after or (before.dtype == after.dtype and torch.equal(before, after)):
        return False
    if before.shape != after.shape or not before.isnan().any():
        return True
    same = (before == after) | (before.isnan() & after.isnan())
    return not bool(same.all())
