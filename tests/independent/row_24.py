"""Row 24: the sum of cubes of [1, 2, 3] with recording on and off."""

from contextlib import nullcontext
from typing import Any


def in_torch() -> dict[str, Any]:
    """How many tensors are saved, and the gradient."""
    import torch

    figures = {}
    for name, switch in {"plain": nullcontext(), "no_grad": torch.no_grad()}.items():
        x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
        saved: list[Any] = []
        with torch.autograd.graph.saved_tensors_hooks(saved.append, _never), switch:
            total = (x * x * x).sum()
        figures[name] = {"saved": len(saved), "nodes": _nodes(total.grad_fn)}
    return figures


def _never(_: Any) -> Any:
    raise AssertionError("no backward is run")


def _nodes(root: Any) -> int:
    waiting, seen = [root], set()
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        waiting.extend(following for following, _ in node.next_functions)
    return len(seen)


def in_mindspore() -> dict[str, Any]:
    """Which names MindSpore has for such a switch."""
    import mindspore

    return {name: hasattr(mindspore, name) for name in ("no_grad", "_no_grad")}
