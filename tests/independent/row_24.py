"""Row 24: the sum of cubes of [1, 2, 3] with recording on and off."""

from contextlib import nullcontext
from typing import Any

from tests.independent.attempts import attempt


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


def in_mindspore_tape() -> dict[str, Any]:
    """How many tensors the tape saves of a forward: by itself, in a gradient, and under _no_grad."""
    import mindspore as ms

    from tests.independent import row_23
    from tests.independent.guide_net import mindspore_arguments, mindspore_net

    net, arguments = mindspore_net(), mindspore_arguments()
    figures: dict[str, Any] = {}

    def keep(tensor: Any) -> Any:
        saved.append(tensor)
        return tensor

    def give(tensor: Any) -> Any:
        return tensor

    def forward(x: Any, y: Any) -> Any:
        with ms.saved_tensors_hooks(keep, give):
            return net(x, y)[0]

    def unrecorded(x: Any, y: Any) -> Any:
        with ms.saved_tensors_hooks(keep, give), ms._no_grad():
            return net(x, y)[0]

    def counting(x: Any, y: Any) -> Any:
        loss = net(x, y)[0]
        nodes["inside"] = row_23.tape_nodes(loss)
        return loss

    def unrecorded_counting(x: Any, y: Any) -> Any:
        with ms._no_grad():
            loss = net(x, y)[0]
        nodes["under _no_grad"] = row_23.tape_nodes(loss)
        return loss

    nodes = {"by itself": row_23.tape_nodes(net(*arguments)[0])}
    weights = net.trainable_params()
    for function in (counting, unrecorded_counting):
        attempt(ms.grad(function, None, weights), *arguments)
    calls = {
        "by itself": forward,
        "inside": ms.grad(forward, None, weights),
        "under _no_grad": ms.grad(unrecorded, None, weights),
    }
    for name, call in calls.items():
        saved: list[Any] = []
        attempt(call, *arguments)
        figures[name] = len(saved)
    return {**figures, "nodes": nodes}


def in_mindspore_graph() -> dict[str, Any]:
    """What becomes of _no_grad in graph style."""
    import mindspore as ms

    def unrecorded(x: Any) -> Any:
        with ms._no_grad():
            return x * x

    return {"switched": attempt(ms.grad(unrecorded), ms.Tensor([1.0]))}
