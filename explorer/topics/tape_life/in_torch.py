"""PyTorch's side of the study of the tape's life: what is recorded, kept, freed, accumulated and
refused.
"""

import gc
import weakref
from collections import Counter
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from explorer.engines.torch.net import Net, build, flat, forward
from explorer.engines.torch.tape import answer
from explorer.model.cases import GradCase
from explorer.model.measurement import Ask, Found
from explorer.model.requests import CaseRequest
from explorer.topics.attempts import attempt
from explorer.topics.in_torch import numbers
from explorer.topics.starting_values import net_request
from explorer.topics.tape_life import nets
from explorer.topics.tape_life.lifetime import Box, Watch, plain_leaves

LEAF = "AccumulateGrad"


class Steps(TorchDispatchMode):  # type: ignore[misc]  # torch is untyped here
    """Notes what the tape keeps after every operator."""

    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self.watch = watch

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if func is not torch.ops.aten.detach.default:
            self.watch.step(str(func))
        return result


class Tag:
    """Lives as long as the tape node that it is hung on."""


def lifetime(ask: Ask) -> Found:
    """What the tape keeps after every operator of forward and backward, and which of its nodes keep
    how many tensors.
    """
    net = made(ask)
    watch = watching(net)
    with torch.autograd.graph.saved_tensors_hooks(packing(watch), unpacked):
        with Steps(watch):
            loss = first(net)
        watch.step("end of forward")
        watch.phase = "backward"
        recorded = [
            node.name() for node in nodes_behind(loss.grad_fn) if not node.name().endswith(LEAF)
        ]
        with Steps(watch):
            loss.backward()
        watch.step("end of backward")
    bare = first(made(ask))
    saved: Counter[str] = Counter()
    for node in nodes_behind(bare.grad_fn):
        saved[node.name()] += len(saved_fields(node))
    return Found(
        {"steps": watch.steps, "nodes": sorted(recorded), "savers": dict(sorted((+saved).items()))}
    )


def freeing(ask: Ask) -> Found:
    """Nodes, saved tensors and bytes that are alive at each moment of the tape's life."""
    found: dict[str, Any] = {}
    for ending, options in (
        ("backward", {}),
        ("backward(retain_graph=True)", {"retain_graph": True}),
    ):
        net = made(ask)
        watch = watching(net)
        with torch.autograd.graph.saved_tensors_hooks(packing(watch), unpacked):
            loss = first(net)
        tags = tagged(loss)
        found["after the forward"] = alive(tags, watch)
        loss.backward(**options)
        found[f"after {ending}"] = alive(tags, watch)
        del loss
        gc.collect()
        found[f"after {ending}, the outputs dropped"] = alive(tags, watch)
    return Found(found)


def second_backward(ask: Ask) -> Found:
    """What a second backward through one tape does: without more, with retain_graph, and with
    create_graph.
    """
    found: dict[str, Any] = {}
    for label in ("plain", "retain_graph", "create_graph"):
        net = made(ask)
        loss, weight = first(net), leaf(net)
        loss.backward(**({} if label == "plain" else {label: True}))
        grads = [numbers(weight.grad)]
        on_tape = weight.grad.grad_fn is not None
        said = attempt(loss.backward)
        found[label] = {
            "second": said or "ran",
            ".grad": [*grads, numbers(weight.grad)],
            ".grad is on a tape": on_tape,
        }
        weight.grad = None
    return Found(found)


def second_backward_of_little(ask: Ask) -> Found:
    """A second backward where the tape saved nothing, and one that fails after some gradients were
    already added.
    """
    x, y = (torch.ones(3, requires_grad=True, device=ask.device) for _ in range(2))
    plain = (x + 1).sum()
    plain.backward()
    nothing = {"second": attempt(plain.backward) or "ran", ".grad": numbers(x.grad)}
    x.grad = None
    mixed = (x.exp() + (y + 1)).sum()
    mixed.backward()
    said = attempt(mixed.backward)
    return Found(
        {
            "x + 1": nothing,
            "exp(x) + y + 1": {
                "second": said or "ran",
                "x.grad": numbers(x.grad),
                "y.grad": numbers(y.grad),
            },
        }
    )


def accumulation(ask: Ask) -> Found:
    """``.grad`` after one and two backward passes, after zeroing in both ways, and after
    ``autograd.grad``.
    """
    net = made(ask)
    weight = leaf(net)
    grads = []
    for _ in range(2):
        first(net).backward()
        grads.append(numbers(weight.grad))
    optimizer = torch.optim.SGD([weight], 0.1)
    optimizer.zero_grad(set_to_none=False)
    zeroed = numbers(weight.grad)
    optimizer.zero_grad()
    cleared = numbers(weight.grad)
    returned = numbers(torch.autograd.grad(first(net), weight)[0])
    return Found(
        {
            ".grad after each backward": grads,
            "zero_grad(set_to_none=False)": zeroed,
            "zero_grad()": cleared,
            "autograd.grad returns": returned,
            ".grad after autograd.grad": numbers(weight.grad),
        }
    )


def switches(ask: Ask) -> Found:
    """What is recorded of one forward plainly, under each switch, and with the input detached."""
    found: dict[str, Any] = {}
    for label in ("plain", "no_grad", "inference_mode", "detach", "requires_grad=False"):
        x = torch.tensor(
            [1.0, 2.0, 3.0], device=ask.device, requires_grad=label != "requires_grad=False"
        )
        watch = Watch({x.untyped_storage().data_ptr()})
        context = {"no_grad": torch.no_grad, "inference_mode": torch.inference_mode}.get(
            label, torch.enable_grad
        )
        with context(), torch.autograd.graph.saved_tensors_hooks(packing(watch), unpacked):
            y = nets.cubes(x.detach() if label == "detach" else x)
        found[label] = {
            "saved": watch.kept()["tensors"],
            "nodes": len(list(nodes_behind(y.grad_fn))),
            "gradient": attempt(gradient, y, x),
        }
    with torch.inference_mode():
        frozen = torch.ones(3, device=ask.device)
    weight = torch.ones(3, device=ask.device, requires_grad=True)
    found["inference_mode, then on a tape"] = {"gradient": attempt(product, weight, frozen)}
    return Found(found)


def cut_off(ask: Ask) -> Found:
    """The derivative of x³ with ``no_grad`` or ``detach`` around x²."""
    programs = {"plain": nets.cubes, "no_grad": without_recording, "detach": detached}
    return Found({label: attempt(own, call, ask) for label, call in programs.items()})


def in_place(ask: Ask) -> Found:
    """The gradient when what was saved for it is changed in place."""
    return Found(
        {
            "result": attempt(own, nets.changed_result, ask),
            "operand": attempt(own, nets.changed_operand, ask),
        }
    )


def hooks(ask: Ask) -> Found:
    """The gradient with a hook on a tensor that doubles it, and the order in which hooks of several
    kinds are called.
    """
    order: list[str] = []
    layer = torch.nn.Linear(2, 1, bias=False, device=ask.device)
    layer.register_full_backward_pre_hook(lambda *_: order.append("module, before its backward"))
    layer.register_full_backward_hook(lambda *_: order.append("module, after its backward"))
    layer.weight.register_hook(lambda _: order.append("leaf, before accumulation"))
    layer.weight.register_post_accumulate_grad_hook(
        lambda _: order.append("leaf, after accumulation")
    )
    x = torch.ones(1, 2, device=ask.device, requires_grad=True)
    y = layer(x)
    y.register_hook(lambda _: order.append("tensor"))
    y.sum().backward()
    return Found({"doubled": attempt(own, nets.hooked, ask), "order": order})


def variable(ask: Ask) -> Found:
    """The guide's chain with ``Variable`` and a seed of its own: what is a Variable today, and the
    leaf's gradient.
    """
    kind = getattr(torch.autograd, "Variable", None)
    ones = torch.ones(2, 2, device=ask.device)
    leaf = kind(ones, requires_grad=True) if kind else ones.requires_grad_()
    x = leaf * 2
    y = x - 1
    y.backward(x)
    return Found(
        {
            "torch.autograd.Variable exists": kind is not None,
            "type": f"{type(leaf).__module__}.{type(leaf).__name__}",
            "is a Tensor": type(leaf) is torch.Tensor,
            "leaf.grad": numbers(leaf.grad),
            "x is a leaf": x.is_leaf,
        }
    )


def extra_output(ask: Ask) -> Found:
    """The weights' gradient when an extra output is differentiated along, left out, or detached."""
    found: dict[str, Any] = {}
    for label in ("every output", "first output alone", "extra output detached"):
        net = made(ask)
        loss, *others = flat(forward(net))
        extra = (
            sum(other.sum() for other in others)
            if label == "every output"
            else sum(other.detach().sum() for other in others)
        )
        (loss if label == "first output alone" else loss + extra).backward()
        found[label] = numbers(leaf(net).grad)
    return Found(found)


def answers(ask: Ask) -> Found:
    """The engine's own answers to a scenario's gradient by each input."""
    net = net_request(ask, "torch-tape")
    return Found(
        {
            f"by {name}": plain_leaves(answer(CaseRequest(net, GradCase("grad", place))))
            for place, name in enumerate("ab")
        }
    )


# What the measurements share


def made(ask: Ask) -> Net:
    """The scenario's net; without weights, its inputs are what is differentiated by."""
    net = build(net_request(ask, "torch-tape"))
    for argument in () if net.trainable else net.arguments:
        argument.requires_grad_(argument.is_floating_point())
    return net


def first(net: Net) -> torch.Tensor:
    """The first of the outputs, which is what is differentiated."""
    return next(flat(forward(net)))


def leaf(net: Net) -> torch.Tensor:
    """The first trainable parameter."""
    return net.state[net.trainable[0]]


def watching(net: Net) -> Watch:
    """A watch that tells inputs and parameters from what only the tape keeps."""
    return Watch(
        {tensor.untyped_storage().data_ptr() for tensor in (*net.arguments, *net.state.values())}
    )


def packing(watch: Watch) -> Any:
    """The hook that boxes what is saved; detached, since a tensor kept by its own node would never
    be freed.
    """
    return lambda tensor: watch.pack(
        tensor.detach(), tensor.untyped_storage().data_ptr(), tensor.untyped_storage().nbytes()
    )


def unpacked(box: Box) -> Any:
    """The hook that takes a tensor out again."""
    return box.tensor


def tagged(loss: torch.Tensor) -> list[Any]:
    """Weak references that die with the nodes of a tape; leaves live with their tensors."""
    references = []
    for node in nodes_behind(loss.grad_fn):
        if not node.name().endswith(LEAF):
            node.metadata["tag"] = tag = Tag()
            references.append(weakref.ref(tag))
    return references


def alive(tags: list[Any], watch: Watch) -> dict[str, int]:
    """How many nodes and saved tensors are alive now."""
    return {"nodes": sum(tag() is not None for tag in tags), **watch.kept()}


def saved_fields(node: Any) -> list[str]:
    """The tensors that a node has saved, by the names of its fields."""
    names = (name for name in dir(node) if name.startswith("_saved_"))
    return [name for name in names if isinstance(getattr(node, name), torch.Tensor)]


def nodes_behind(root: Any) -> Iterator[Any]:
    """The nodes of a tape."""
    seen, waiting = set(), [root]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in seen:
            seen.add(node)
            waiting.extend(child for child, _ in node.next_functions)
            yield node


def without_recording(x: torch.Tensor) -> torch.Tensor:
    """x³ with x² computed under ``no_grad``: x² is the derivative."""
    with torch.no_grad():
        square = x * x
    return (square * x).sum()


def detached(x: torch.Tensor) -> torch.Tensor:
    """x³ with x² detached: x² is the derivative."""
    return ((x * x).detach() * x).sum()


def own(call: Any, ask: Ask) -> Any:
    """The derivative of a program of the study's own at [0, 1, 2]."""
    x = torch.tensor([0.0, 1.0, 2.0], device=ask.device, requires_grad=True)
    return gradient(call(x), x)


def gradient(y: torch.Tensor, x: torch.Tensor) -> Any:
    """The derivative of ``y`` by ``x`` as numbers."""
    return numbers(torch.autograd.grad(y, x)[0])


def product(weight: torch.Tensor, factor: torch.Tensor) -> Any:
    """The derivative of a product with ``factor``."""
    return gradient((weight * factor).sum(), weight)
