"""What PyTorch does when it is asked for a gradient twice: refuse, add up, or compute it again."""

import contextlib
from typing import Any

import torch

from explorer.engines.torch.code import DYNAMO
from explorer.engines.torch.net import flat
from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt
from explorer.topics.in_torch import numbers, taped_operators
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
from explorer.topics.tape_life.watch import unpack

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
