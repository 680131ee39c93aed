"""What the tapes of both frameworks record of a forward, and what it saves."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

OF_A_LEAF = 2**64 - 1
"""The number in sequence that MindSpore's tape has for what it differentiates by."""

ACCUMULATE = "torch::autograd::AccumulateGrad"


def torch_nodes(output: Any, *, with_leaves: bool = False) -> list[str]:
    """The names of the nodes of PyTorch's tape behind an output."""
    names = [node.name() for node in _behind(output.grad_fn)]
    return sorted(name for name in names if with_leaves or name != ACCUMULATE)


def mindspore_nodes(output: Any) -> list[str]:
    """The names of the operators of MindSpore's tape behind an output."""
    nodes = _behind(getattr(output, "_grad_node", None))
    return sorted(node.name() for node in nodes if node._sequence_nr() != OF_A_LEAF)


def _behind(root: Any) -> list[Any]:
    waiting, seen = [root], {}  # type: list[Any], dict[Any, Any]
    while waiting:
        node = waiting.pop()
        # Of MindSpore's nodes there is a new object at every look.
        key = node._unique_id() if hasattr(node, "_unique_id") else node
        if node is not None and key not in seen:
            seen[key] = node
            waiting.extend(following for following, _ in node.next_functions)
    return list(seen.values())


@contextmanager
def saving(hooks: Any, saved: list[Any]) -> Iterator[None]:
    """Notes what is saved within, by a framework's saved_tensors_hooks."""

    def keep(tensor: Any) -> Any:
        saved.append(tensor)
        return tensor

    def give(tensor: Any) -> Any:
        return tensor

    with hooks(keep, give):
        yield


def kept(saved: list[Any], given: list[Any]) -> dict[str, Any]:
    """The number of tensors saved, and the bytes of those that are given and of the others, each once."""
    is_given = {tensor.data_ptr() for tensor in given}
    sizes = {tensor.data_ptr(): tensor.nbytes for tensor in saved}
    ours = sum(size for place, size in sizes.items() if place in is_given)
    return {
        "tensors": len(saved),
        "bytes": sum(sizes.values()) - ours,
        "of inputs and parameters": ours,
    }
