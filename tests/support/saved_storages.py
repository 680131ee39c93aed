"""The bytes that PyTorch itself reports to keep for backward: its hooks, in a run of their own."""

from typing import Any

import msgspec

from explorer.model.requests import CaseRequest


class SavedStorages(msgspec.Struct, frozen=True):
    """The total size of the storages that the hooks were shown."""

    bytes: int


def measured(request: CaseRequest) -> SavedStorages:
    """What the forward of a net keeps."""
    # Here: tests import this module for the record.
    import torch

    from explorer.engines.torch.net import forward
    from explorer.engines.torch.tape import ready

    sizes: dict[int, int] = {}
    held = []

    def pack(tensor: Any) -> Any:
        storage = tensor.untyped_storage()
        sizes[storage.data_ptr()] = storage.nbytes()
        held.append(tensor)
        return tensor

    net = ready(request)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        forward(net)
    return SavedStorages(sum(sizes.values()))
