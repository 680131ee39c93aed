"""PyTorch's gradients asked for again, cut off, changed in place, hooked, or of one tensor twice."""

import contextlib
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import torch

from explorer.engines.torch.code import DYNAMO
from explorer.engines.torch.joint_graph import derive
from explorer.engines.torch.net import flat, forward
from explorer.model.cases import GradCase
from explorer.model.measurement import Ask, Found
from explorer.text.messages import first_clause
from explorer.topics.attempts import attempt
from explorer.topics.in_torch import numbers, tape_nodes, taped_operators
from explorer.topics.scenario_nets import net_request
from explorer.topics.tape_life import nets
from explorer.topics.tape_life.in_torch import (
    first_output,
    first_weight,
    fresh_net,
    joint_arguments,
    joint_gradients,
    joint_graph,
    packing,
    watch_of,
)
from explorer.topics.tape_life.liveness import Watch, unpack
from explorer.topics.tape_life.nets import by_each_argument

CONTEXTS: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "plain": torch.enable_grad,
    "no_grad": torch.no_grad,
    "inference_mode": torch.inference_mode,
    "detach": torch.enable_grad,
    "requires_grad=False": torch.enable_grad,
}
"""The ways to run a forward, and what each is run under."""


def switches(ask: Ask) -> Found:
    """What is recorded of one forward plainly, under each switch, and with the input detached."""
    figures: dict[str, Any] = {}
    for way, context in CONTEXTS.items():
        x = torch.tensor([1.0, 2.0, 3.0], device=ask.device)
        x.requires_grad_(way != "requires_grad=False")
        watch = Watch({x.untyped_storage().data_ptr()})
        with context(), torch.autograd.graph.saved_tensors_hooks(packing(watch), unpack):
            y = nets.cubes(x.detach() if way == "detach" else x)
        figures[way] = {
            "saved": watch.kept()["tensors"],
            "nodes": len(list(tape_nodes(y))),
            "gradient": attempt(gradient, y, x),
        }

    # What is made in inference mode stays unfit for a tape, also outside of it.
    with torch.inference_mode():
        frozen = torch.ones(3, device=ask.device)
    weight = torch.ones(3, device=ask.device, requires_grad=True)
    figures["inference_mode, then on a tape"] = {
        "gradient": attempt(gradient_of_product, weight, frozen)
    }
    return Found(figures)


def cut_off(ask: Ask) -> Found:
    """The derivative of x³ with ``no_grad`` or ``detach`` around x²."""
    return Found(
        {
            "plain": attempt(derivative, nets.cubes, ask),
            "no_grad": attempt(derivative, square_unrecorded, ask),
            "detach": attempt(derivative, square_detached, ask),
        }
    )


def in_place(ask: Ask) -> Found:
    """The gradient when what is needed for it is changed in place."""
    return Found(
        {
            "result": attempt(derivative, nets.changed_result, ask),
            "operand": attempt(derivative, nets.changed_operand, ask),
        }
    )


def hooks(ask: Ask) -> Found:
    """The gradient with a hook that doubles it, and the order in which a tape calls hooks."""
    doubled = attempt(derivative, nets.hooked, ask)
    # A joint graph holds what hooks compute: no Python runs that could note an order.
    if ask.options["style"] == "graph":
        return Found({"doubled": doubled})
    return Found({"doubled": doubled, "order": order_of_hooks(ask.device)})


def order_of_hooks(device: str) -> list[str]:
    """The hooks of one backward through a linear layer, in the order in which they were called."""
    order: list[str] = []
    layer = torch.nn.Linear(2, 1, bias=False, device=device)
    layer.register_full_backward_pre_hook(lambda *_: order.append("module, before its backward"))
    layer.register_full_backward_hook(lambda *_: order.append("module, after its backward"))
    layer.weight.register_hook(lambda _: order.append("leaf, before accumulation"))
    layer.weight.register_post_accumulate_grad_hook(
        lambda _: order.append("leaf, after accumulation")
    )
    # Were no gradient of the input needed, the hook after the module's backward would be called
    # before it (documentation of register_full_backward_hook, 2.13).
    y = layer(torch.ones(1, 2, device=device, requires_grad=True))
    y.register_hook(lambda _: order.append("tensor"))
    y.sum().backward()
    return order


def extra_output(ask: Ask) -> Found:
    """The weight's gradient when an extra output is differentiated along, left out, or detached."""
    figures: dict[str, Any] = {}
    for way in ("every output", "first output alone", "extra output detached"):
        net = fresh_net(ask)
        loss, *others = flat(forward(net))
        if way == "every output":
            loss = loss + sum(other.sum() for other in others)
        elif way == "extra output detached":
            loss = loss + sum(other.detach().sum() for other in others)
        loss.backward()
        figures[way] = numbers(first_weight(net).grad)
    return Found(figures)


def answers(ask: Ask) -> Found:
    """The engine's own answers to a scenario's gradient with respect to each input."""
    return Found(by_each_argument(net_request(ask, f"torch-{ask.options['style']}")))


def variable(ask: Ask) -> Found:
    """The guide's chain with ``Variable``: as printed, and with the leaf under a name of its own.

    What a Variable is today, and both gradients.
    """
    # Deprecated since PyTorch 0.4, and still there in 2.13.
    kind = getattr(torch.autograd, "Variable", None)
    ones = torch.ones(2, 2, device=ask.device)
    leaf = kind(ones, requires_grad=True) if kind else ones.requires_grad_()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        printed = attempt(chain_as_printed)
    x = chain_as_meant(leaf)
    return Found(
        {
            "torch.autograd.Variable exists": kind is not None,
            "type": f"{type(leaf).__module__}.{type(leaf).__name__}",
            "is a Tensor": type(leaf) is torch.Tensor,
            "x.grad as printed": printed,
            "warned": [first_clause(str(warning.message)) for warning in caught],
            "leaf.grad": numbers(leaf.grad),
            "x is a leaf": x.is_leaf,
        }
    )


def chain_as_printed() -> Any:
    """The guide's lines, and the gradient that they are about."""
    from torch.autograd import Variable  # here, so that its absence is a figure

    x = Variable(torch.ones(2, 2), requires_grad=True)
    x = x * 2
    y = x - 1
    y.backward(x)
    return numbers(x.grad)


def chain_as_meant(leaf: torch.Tensor) -> torch.Tensor:
    """The same, with the leaf under a name of its own, which keeps its gradient within reach."""
    x = leaf * 2
    y = x - 1
    y.backward(x)
    return x


def square_unrecorded(x: torch.Tensor) -> torch.Tensor:
    """x³ with x² computed under ``no_grad``: x² is the derivative."""
    with torch.no_grad():
        square = x * x
    return (square * x).sum()


def square_detached(x: torch.Tensor) -> torch.Tensor:
    """x³ with x² detached: x² is the derivative."""
    return ((x * x).detach() * x).sum()


def derivative(call: Callable[[torch.Tensor], torch.Tensor], ask: Ask) -> Any:
    """The derivative of ``call`` at [0, 1, 2] as numbers, by the style that was asked."""
    x = torch.tensor([0.0, 1.0, 2.0], device=ask.device, requires_grad=True)
    if ask.options["style"] == "tape":
        return gradient(call(x), x)

    joint = derive(call, (x,))
    tangents = joint.tangents(GradCase("grad", 0), x.device)
    (result,) = joint_gradients(joint, [x.detach()], tangents)
    return numbers(result)


def gradient(y: torch.Tensor, x: torch.Tensor) -> Any:
    """The gradient of ``y`` with respect to ``x`` as numbers."""
    return numbers(torch.autograd.grad(y, x)[0])


def gradient_of_product(weight: torch.Tensor, factor: torch.Tensor) -> Any:
    """The gradient of the sum of ``weight * factor`` with respect to ``weight``."""
    return gradient((weight * factor).sum(), weight)


CALLS = 3
"""How often one joint graph is run."""

WAYS: dict[str, dict[str, bool]] = {
    "plain": {},
    "retain_graph": {"retain_graph": True},
    "create_graph": {"create_graph": True},
}
"""The options of a first backward."""


def second_backward(ask: Ask) -> Found:
    """What a second backward through one tape does, by the options of the first."""
    figures: dict[str, Any] = {}
    for way, options in WAYS.items():
        net = fresh_net(ask)
        output, weight = first_output(net), first_weight(net)
        output.backward(**options)
        after_one = numbers(weight.grad)
        on_tape = weight.grad.grad_fn is not None
        second = backward_again(output)
        figures[way] = {
            "second": second,
            ".grad": [after_one, numbers(weight.grad)],
            ".grad is on a tape": on_tape,
        }
        # A .grad that is on a tape refers back to its weight: the cycle would keep both (2.13).
        weight.grad = None
    return Found(figures)


def backward_again(output: torch.Tensor) -> Any:
    """ "ran", or what a further backward raised."""
    return attempt(output.backward) or "ran"


def second_backward_of_little(ask: Ask) -> Found:
    """A second backward where the tape saved nothing, and where it saved only in part.

    The second fails after some gradients were already added.
    """
    x = torch.ones(3, requires_grad=True, device=ask.device)
    y = torch.ones(3, requires_grad=True, device=ask.device)
    plain = (x + 1).sum()
    plain.backward()
    saves_nothing = {"second": backward_again(plain), ".grad": numbers(x.grad)}

    x.grad = None
    # The way to y needs nothing saved, the way to x needs exp(x): a second backward gets half way.
    mixed = (x.exp() + (y + 1)).sum()
    mixed.backward()
    saves_in_part = {
        "second": backward_again(mixed),
        "x.grad": numbers(x.grad),
        "y.grad": numbers(y.grad),
    }
    return Found({"x + 1": saves_nothing, "exp(x) + y + 1": saves_in_part})


def accumulation(ask: Ask) -> Found:
    """``.grad`` after one and two backward passes, after zeroing, and after ``autograd.grad``.

    It is zeroed in both ways: to zeros, and to None.
    """
    net = fresh_net(ask)
    weight = first_weight(net)
    sums = []
    for _ in range(2):
        first_output(net).backward()
        sums.append(numbers(weight.grad))

    # Zeroing is the optimizer's business; it takes no step here, so its rate does not matter.
    optimizer = torch.optim.SGD([weight], 0.1)
    optimizer.zero_grad(set_to_none=False)
    zeroed = numbers(weight.grad)
    optimizer.zero_grad()
    cleared = numbers(weight.grad)
    (returned,) = torch.autograd.grad(first_output(net), weight)
    return Found(
        {
            ".grad after each backward": sums,
            "zero_grad(set_to_none=False)": zeroed,
            "zero_grad()": cleared,
            "autograd.grad returns": numbers(returned),
            ".grad after autograd.grad": numbers(weight.grad),
        }
    )


def called_again(ask: Ask) -> Found:
    """The gradients of one joint graph that is run several times, and what is left in ``.grad``."""
    net = fresh_net(ask)
    joint = joint_graph(ask, net)
    primals, tangents = joint_arguments(joint, net)
    gradients = [numbers(joint_gradients(joint, primals, tangents)) for _ in range(CALLS)]
    left = [numbers(value.grad) for value in net.state.values()]
    return Found({"gradients": gradients, ".grad": left})


def compiled(ask: Ask) -> Found:
    """What a forward under ``torch.compile`` records, and what a second backward does.

    The compiler cuts its joint graph in two. It is told to take recurrent layers too.
    """
    net = fresh_net(ask)
    watch = watch_of(net)
    # The compiler refuses a program that it has compiled for eight other nets (2.13).
    torch.compiler.reset()
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch._dynamo.config.patch(DYNAMO))
        # oneDNN's LSTM hands None on to the backward, which AOTAutograd refuses to save (2.13).
        stack.enter_context(torch.backends.mkldnn.flags(enabled=False))
        stack.enter_context(torch.autograd.graph.saved_tensors_hooks(packing(watch), unpack))
        call = torch.compile(net.call, backend="aot_eager", fullgraph=True)
        output = next(flat(call(*net.arguments)))
    recorded, kept = taped_operators(output), watch.kept()
    output.backward()
    return Found({"nodes": recorded, "kept": kept, "second": backward_again(output)})
