"""The study of the tape's life: what two dense layers with cross entropy leave for their backward."""

from typing import Any

import numpy as np


def in_torch() -> dict[str, Any]:
    """The nodes of PyTorch's tape, and the tensors and bytes that it keeps, each storage once."""
    import torch
    from torch.nn import functional

    start = np.random.default_rng(0), np.random.default_rng(1)
    x = torch.tensor(start[0].normal(size=(4, 6)).round(2).astype(np.float32))
    labels = torch.tensor([2, 0, 1, 2])
    weights = []
    for rows, columns in ((5, 6), (3, 5)):
        weight = start[1].normal(size=(rows, columns)).round(2).astype(np.float32)
        weights += [torch.tensor(weight), torch.zeros(rows)]
    for weight in weights:
        weight.requires_grad_()

    saved: list[Any] = []
    with torch.autograd.graph.saved_tensors_hooks(saved.append, _never):
        hidden = torch.relu(functional.linear(x, weights[0], weights[1]))
        loss = functional.cross_entropy(functional.linear(hidden, weights[2], weights[3]), labels)
    sizes = {True: {}, False: {}}  # type: dict[bool, dict[int, int]]
    given = {tensor.data_ptr() for tensor in (x, *weights)}
    for tensor in saved:
        sizes[tensor.data_ptr() in given][tensor.data_ptr()] = tensor.nbytes
    return {
        "nodes": _nodes(loss.grad_fn),
        "tensors": len(saved),
        "bytes": sum(sizes[False].values()),
        "of inputs and parameters": sum(sizes[True].values()),
    }


def _never(_: Any) -> Any:
    raise AssertionError("no backward is run")


def _nodes(root: Any) -> list[str]:
    waiting, seen = [root], set()
    while waiting:
        node = waiting.pop()
        if node is None or node in seen or node.name() == "torch::autograd::AccumulateGrad":
            continue
        seen.add(node)
        waiting.extend(following for following, _ in node.next_functions)
    return sorted(node.name() for node in seen)
