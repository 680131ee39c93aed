"""Row 27: Σ w·x³ where x sums to more than 0, else Σ w·eˣ, and what of it depends on the values."""

from typing import Any

import numpy as np

from tests.independent import mindspore_ir

X = np.array([1.0, -0.5, 2.0])
W = np.array([0.5, 1.5, -1.0])


def closed_form() -> dict[str, Any]:
    """The value, and the gradients with respect to x and w, on either side of the branch."""
    cubes = [float((W * X**3).sum()), (3 * W * X**2).tolist(), (X**3).tolist()]
    powers = np.exp(-X)
    exponentials = [float((W * powers).sum()), (W * powers).tolist(), powers.tolist()]
    return {"positive": cubes, "negative": exponentials}


def in_torch() -> dict[str, Any]:
    """The nodes of the tape for either sign."""
    import torch

    figures = {}
    w = torch.tensor(W, requires_grad=True)
    for name, sign in {"positive": 1, "negative": -1}.items():
        x = torch.tensor(sign * X, requires_grad=True)
        node = (w * x * x * x if x.sum() > 0 else w * torch.exp(x)).sum().grad_fn
        nodes = set()
        waiting = [node]
        while waiting:
            node = waiting.pop()
            if node is not None and node.name() != "torch::autograd::AccumulateGrad":
                nodes.add(node)
                waiting.extend(following for following, _ in node.next_functions)
        figures[name] = sorted(node.name() for node in nodes)
    return figures


def in_mindspore_graph() -> dict[str, Any]:
    """How many graphs are compiled for two signs, and whether both branches are in the first."""
    import mindspore as ms
    from mindspore import ops

    w = ms.Tensor(W.astype(np.float32))

    def branching(x: Any) -> Any:
        if x.sum() > 0:
            cube = x * x * x
            out = w * cube
        else:
            out = w * ops.exp(x)
        return out.sum()

    gradient_of = ms.grad(branching)
    before = len(mindspore_ir.graphs())
    gradients = {}
    for name, sign in {"positive": 1, "negative": -1}.items():
        x = ms.Tensor((sign * X).astype(np.float32))
        gradients[name] = gradient_of(x).asnumpy().tolist()
    compiled = mindspore_ir.graphs()[before:]
    again = len(mindspore_ir.graphs())
    for sign in (1, -1):
        gradient_of(ms.Tensor((2 * sign * X).astype(np.float32)))
    return {
        "compiled again": len(mindspore_ir.graphs()) > again,
        "compiled": len(compiled),
        "both branches": {"Exp", "Switch"} <= set(mindspore_ir.names(compiled[0])),
        **gradients,
    }


def in_mindspore_tape() -> dict[str, Any]:
    """The operators on the tape for either sign."""
    import mindspore as ms
    from mindspore import ops

    from tests.independent import row_23

    w = ms.Parameter(ms.Tensor(W.astype(np.float32)), name="w")
    seen: list[list[str]] = []

    def branching(x: Any) -> Any:
        out = (w * x * x * x if x.sum() > 0 else w * ops.exp(x)).sum()
        seen.append(row_23.tape_names(out))
        return out

    for sign in (1, -1):
        ms.grad(branching, 0, [w])(ms.Tensor((sign * X).astype(np.float32)))
    return {"positive": seen[0], "negative": seen[1]}
