"""The figures of the claims on what a tape records, saves and adds up, and of their study."""

import warnings
from contextlib import nullcontext
from typing import Any

import numpy as np

from tests.independent.attempts import attempt
from tests.independent.guide_net import (
    BY_WEIGHT,
    INPUT,
    TARGET,
    mindspore_arguments,
    mindspore_net,
    torch_leaves,
    torch_net,
)
from tests.independent.tapes import kept, mindspore_nodes, saving, torch_nodes

# Row 18: z = x·w + b with a binary cross entropy, and z returned beside the loss.
ROWS = np.array([[1.0, -0.5, 2.0, 0.25], [0.5, 1.5, -1.0, 1.0]])
LABELS = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0]])
WEIGHTS = np.array([[0.5, -0.25, 0.75], [-1.0, 0.5, 0.25], [0.25, 1.0, -0.5], [0.1, -0.3, 0.2]])
BIASES = np.array([0.1, -0.2, 0.3])


def row_18_closed_form() -> dict[str, Any]:
    """The gradient with respect to w of the loss alone, (σ(z) − y) / n times x, and of both outputs."""
    probabilities = 1 / (1 + np.exp(-(ROWS @ WEIGHTS + BIASES)))
    of_the_loss = ROWS.T @ (probabilities - LABELS) / LABELS.size
    of_z = ROWS.T @ np.ones_like(LABELS)
    return {"loss": of_the_loss.tolist(), "loss and z": (of_the_loss + of_z).tolist()}


# Rows 22 and 70: the derivative of x³, at inputs of several shapes, and what of the guide's net the
# backward reads of the forward in the compiled graph.
CUBED = ([1.0, 2.0, 3.0], [0.5, -1.0, 2.0], [[1.0, 2.0], [3.0, 4.0]])
FLOAT = 4
"""Bytes of a number in float32."""


def row_22_closed_form() -> dict[str, Any]:
    """3x²; the gradient with respect to the weight, 2 (x·w − y) x, needs an error and the input."""
    return {
        "inputs": list(CUBED),
        "gradients": [(3 * np.square(values)).tolist() for values in CUBED],
        "tensors": 2,
        "bytes": FLOAT * TARGET.size,
        "of inputs and parameters": FLOAT * INPUT.size,
    }


# Rows 23 and 24: what the forward of the guide's net leaves for its backward; the sum of cubes of
# [1, 2, 3] with recording on and off.
def row_23_in_torch(torch: Any) -> dict[str, Any]:
    """The tensors that are saved, the nodes recorded, and bytes that are kept."""
    hooks = torch.autograd.graph.saved_tensors_hooks
    x, y, w = torch_leaves()
    saved: list[Any] = []
    # As in the guide, the gradient is with respect to the weight alone.
    with saving(hooks, saved):
        loss, _ = torch_net(x.detach(), y.detach(), w)
    figures: dict[str, Any] = {
        "op": "end of forward",
        "nodes": torch_nodes(loss),
        **kept(saved, [x, y, w]),
    }
    for name, switch in {"plain": nullcontext(), "no_grad": torch.no_grad()}.items():
        x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
        saved = []
        with saving(hooks, saved), switch:
            total = (x * x * x).sum()
        figures[name] = {"saved": len(saved), "nodes": len(torch_nodes(total, with_leaves=True))}
    return figures


def row_23_in_mindspore(ms: Any) -> dict[str, Any]:
    """Which names MindSpore has for such a switch."""
    return {name: hasattr(ms, name) for name in ("no_grad", "_no_grad")}


def row_23_in_mindspore_tape(ms: Any) -> dict[str, Any]:
    """What the tape saves of a forward: by itself, in a gradient, and under _no_grad; its nodes."""
    net, arguments = mindspore_net(), mindspore_arguments()
    weights = net.trainable_params()
    nodes: dict[str, int] = {}
    saved: list[Any] = []

    def forward(x: Any, y: Any) -> Any:
        with saving(ms.saved_tensors_hooks, saved):
            return net(x, y)[0]

    def unrecorded(x: Any, y: Any) -> Any:
        with saving(ms.saved_tensors_hooks, saved), ms._no_grad():
            return net(x, y)[0]

    def counting(x: Any, y: Any) -> Any:
        loss = net(x, y)[0]
        nodes["inside"] = len(mindspore_nodes(loss))
        return loss

    def unrecorded_counting(x: Any, y: Any) -> Any:
        with ms._no_grad():
            loss = net(x, y)[0]
        nodes["under _no_grad"] = len(mindspore_nodes(loss))
        return loss

    nodes["by itself"] = len(mindspore_nodes(net(*arguments)[0]))
    for function in (counting, unrecorded_counting):
        attempt(ms.grad(function, None, weights), *arguments)
    figures: dict[str, Any] = {"op": "end of forward", "nodes": nodes}
    calls = {
        "by itself": forward,
        "under _no_grad": ms.grad(unrecorded, None, weights),
        "inside": ms.grad(forward, None, weights),
    }
    for name, call in calls.items():
        saved.clear()
        attempt(call, *arguments)
        figures[name] = len(saved)
    return {**figures, **kept(saved, [*arguments, *weights])}


def row_23_in_mindspore_graph(ms: Any) -> dict[str, Any]:
    """What becomes of _no_grad in graph style."""

    def unrecorded(x: Any) -> Any:
        with ms._no_grad():
            return x * x

    return {"switched": attempt(ms.grad(unrecorded), ms.Tensor([1.0]))}


# Row 25: a second backward through the guide's net.
def row_25_in_torch(torch: Any) -> dict[str, Any]:
    """What it raises, and .grad after each backward where the graph is retained."""
    x, y, w = torch_leaves()
    loss, _ = torch_net(x, y, w)
    loss.backward()
    figures: dict[str, Any] = attempt(loss.backward)
    w.grad = None
    loss, _ = torch_net(x, y, w)
    loss.backward(retain_graph=True)
    first = w.grad.tolist()
    loss.backward()
    figures["second"] = "ran"  # what was retained, without an error
    figures["retained"] = [first, w.grad.tolist()]
    return figures


# Row 29: a Variable that is doubled, shifted, and sent back with the doubled value.
def row_29_in_torch(torch: Any) -> dict[str, Any]:
    """The gradient of the leaf, 2·(2·1) = 4, and of the name that the guide overwrites."""
    leaf = torch.autograd.Variable(torch.ones(2, 2), requires_grad=True)
    x = leaf * 2
    y = x - 1
    y.backward(x)
    with warnings.catch_warnings(record=True) as noticed:
        warnings.simplefilter("always")  # of reading .grad of what is no leaf
        overwritten = x.grad
    return {
        "torch.autograd.Variable exists": hasattr(torch.autograd, "Variable"),
        "is a Tensor": isinstance(leaf, torch.Tensor),
        "warned": [
            str(notice.message).partition(".  ")[0].partition(". ")[0] for notice in noticed
        ],
        "leaf.grad": leaf.grad.tolist(),
        "x.grad as printed": overwritten,
        "x is a leaf": x.is_leaf,
        "type": type(leaf).__module__ + "." + type(leaf).__name__,
    }


# Row 30: .grad after each of two backwards, and after zero_grad.
def row_30_closed_form() -> dict[str, Any]:
    """What MindSpore returns at every call: 2·(x·w − y)·x."""
    returned = [BY_WEIGHT.tolist()]
    return {"returned": returned, "each of three": [returned] * 3}


def row_30_in_torch(torch: Any) -> dict[str, Any]:
    """The gradient with respect to the guide's weight."""
    x, y, w = torch_leaves()
    optimizer = torch.optim.SGD([w], lr=0.1)
    after = []
    for _ in range(2):
        loss, _ = torch_net(x, y, w)
        loss.backward()
        after.append(w.grad.tolist())
    optimizer.zero_grad(set_to_none=False)
    zeroed = w.grad.tolist()
    optimizer.zero_grad()
    return {"after": after, "zeroed": zeroed, "by default": w.grad}


# Row 31: Σ a·b where one tensor is passed as both a and b.
PASSED_TWICE = np.array([1.0, 2.0, 3.0], np.float32)


def product_sum(a: Any, b: Any) -> Any:
    """What both frameworks differentiate."""
    return (a * b).sum()


def row_31_in_torch(torch: Any) -> dict[str, Any]:
    """On the tape, and with torch.func, which differentiates a function of two arguments."""
    x = torch.tensor(PASSED_TWICE, requires_grad=True)
    (on_the_tape,) = torch.autograd.grad(product_sum(x, x), x)
    plain = torch.tensor(PASSED_TWICE)
    of_the_function = torch.func.grad(product_sum)(plain, plain)
    return {"tape": on_the_tape.tolist(), "function": of_the_function.tolist()}


def row_31_in_mindspore(ms: Any) -> dict[str, Any]:
    """By grad, with respect to either position."""
    x = ms.Tensor(PASSED_TWICE)
    by_a = ms.grad(product_sum, 0)(x, x)
    by_b = ms.grad(product_sum, 1)(x, x)
    return {"a": by_a.asnumpy().tolist(), "b": by_b.asnumpy().tolist()}


# The study of the tape's life: what two dense layers with cross entropy leave for their backward.
def study_tape_life_in_torch(torch: Any) -> dict[str, Any]:
    """The nodes of PyTorch's tape, and the tensors and bytes that it keeps, each storage once."""
    start = np.random.default_rng(0), np.random.default_rng(1)
    x = torch.tensor(start[0].normal(size=(4, 6)).round(2).astype(np.float32))
    labels = torch.tensor([2, 0, 1, 2])
    functional = torch.nn.functional
    weights = []
    for rows, columns in ((5, 6), (3, 5)):
        weight = start[1].normal(size=(rows, columns)).round(2).astype(np.float32)
        weights += [torch.tensor(weight), torch.zeros(rows)]
    for weight in weights:
        weight.requires_grad_()

    saved: list[Any] = []
    with saving(torch.autograd.graph.saved_tensors_hooks, saved):
        hidden = torch.relu(functional.linear(x, weights[0], weights[1]))
        loss = functional.cross_entropy(functional.linear(hidden, weights[2], weights[3]), labels)
    return {"nodes": torch_nodes(loss), **kept(saved, [x, *weights])}
