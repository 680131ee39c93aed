"""Row 23: what the forward of the guide's net leaves for its backward."""

from typing import Any

from tests.independent.guide_net import (
    mindspore_arguments,
    mindspore_net,
    torch_leaves,
    torch_net,
)

OF_A_LEAF = 2**64 - 1
"""The number in sequence that MindSpore's tape has for what it differentiates by."""


def in_torch() -> dict[str, Any]:
    """The tensors that are saved, by storage, the nodes recorded, and bytes that are kept."""
    import torch

    x, y, w = torch_leaves()
    saved: list[Any] = []

    def keep(tensor: Any) -> Any:
        saved.append(tensor)
        return tensor

    def give(tensor: Any) -> Any:
        return tensor

    # As in the guide, the gradient is with respect to the weight alone.
    with torch.autograd.graph.saved_tensors_hooks(keep, give):
        loss, _ = torch_net(x.detach(), y.detach(), w)
    waiting, nodes = [loss.grad_fn], set()
    while waiting:
        node = waiting.pop()
        if node is None or node in nodes or node.name() == "torch::autograd::AccumulateGrad":
            continue
        nodes.add(node)
        waiting.extend(following for following, _ in node.next_functions)
    given = {tensor.data_ptr() for tensor in (x, y, w)}
    return {"nodes": sorted(node.name() for node in nodes), **_kept(saved, given)}


def _kept(saved: list[Any], given: set[int]) -> dict[str, Any]:
    sizes = {True: 0, False: 0}
    for tensor in saved:
        sizes[tensor.data_ptr() in given] += tensor.nbytes
    return {
        "op": "end of forward",
        "tensors": len(saved),
        "bytes": sizes[False],
        "of inputs and parameters": sizes[True],
    }


def in_mindspore_tape() -> dict[str, Any]:
    """The tensors that are saved inside a gradient and outside, and the bytes of those inside."""
    import mindspore as ms

    net = mindspore_net()
    saved: list[Any] = []

    def keep(tensor: Any) -> Any:
        saved.append(tensor)
        return tensor

    def give(tensor: Any) -> Any:
        return tensor

    def forward(x: Any, y: Any) -> Any:
        with ms.saved_tensors_hooks(keep, give):
            loss, _ = net(x, y)
        return loss

    recorded: dict[str, int] = {}

    def counting(x: Any, y: Any) -> Any:
        loss, _ = net(x, y)
        recorded["nodes inside"] = tape_nodes(loss)
        return loss

    x, y = mindspore_arguments()
    (weight,) = net.trainable_params()
    forward(x, y)
    outside = len(saved)
    weights = ms.ParameterTuple([weight])
    ms.grad(forward, None, weights)(x, y)
    given = {tensor.data_ptr() for tensor in (x, y, weight)}
    inside = _kept(saved[outside:], given)
    ms.grad(counting, None, weights)(x, y)
    return {
        "outside": outside,
        "nodes outside": tape_nodes(net(x, y)[0]),
        **recorded,
        **inside,
    }


def tape_nodes(output: Any) -> int:
    """How many operators MindSpore's tape has behind an output; leaves are none."""
    return len(tape_names(output))


def tape_names(output: Any) -> list[str]:
    """Their names."""
    waiting, names = [getattr(output, "_grad_node", None)], {}
    while waiting:
        node = waiting.pop()
        if node is None or node._unique_id() in names or node._sequence_nr() == OF_A_LEAF:
            continue
        names[node._unique_id()] = node.name()
        waiting.extend(following for following, _ in node.next_functions)
    return sorted(names.values())


def in_mindspore_graph() -> dict[str, Any]:
    """Whether _no_grad, a switch of the tape's, can be used in graph style."""
    import mindspore as ms

    def forward(x: Any) -> Any:
        with ms._no_grad():
            return x * x

    try:
        ms.grad(forward)(mindspore_arguments()[0])
    except Exception as error:  # which class it is, is the question
        return {"_no_grad": type(error).__name__}
    return {"_no_grad": "runs"}
