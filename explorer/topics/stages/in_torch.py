"""PyTorch's side of the study of stages: what its tape records for the same programs, and its joint
graph.
"""

from collections.abc import Iterator
from typing import Any

import torch

from explorer.engines.torch.joint_graph import derive
from explorer.engines.torch.net import Net, bare, build, flat, forward
from explorer.engines.torch.roots import FirstOutput
from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt
from explorer.topics.stages import nets
from explorer.topics.starting_values import net_request

LEAF = "AccumulateGrad"


def other_values(ask: Ask) -> Found:
    """The nodes that the tape records for the inputs and for their negatives, and the joint graphs
    derived for both.
    """
    found: dict[str, Any] = {}
    for sign in (1, -1):
        found[f"inputs times {sign}"] = {
            "tape": taped(forward(made(ask, sign))),
            "joint": attempt(joint_operators, ask, sign),
        }
    return Found(found)


def loops(ask: Ask) -> Found:
    """The nodes that the tape records for loops of several lengths, and the joint graphs of both
    loops.
    """
    lengths = ask.options["lengths"]
    recorded = {
        str(length): taped(nets.while_positive(*loop_inputs(ask), torch.tensor(length)))
        for length in lengths
    }
    return Found(
        {
            "while": recorded,
            "for": taped(nets.four_times(*loop_inputs(ask))),
            "joint while": attempt(
                derived, nets.while_positive, (*loop_inputs(ask), torch.tensor(4))
            ),
            "joint for": attempt(derived, nets.four_times, loop_inputs(ask)),
        }
    )


# What the measurements share


def made(ask: Ask, sign: int = 1) -> Net:
    """The scenario's net, its inputs that are no integers times ``sign``, with all that can be
    differentiated asked for.
    """
    net = build(net_request(ask, "torch-tape"))
    for argument in {id(argument): argument for argument in net.arguments}.values():
        if argument.is_floating_point():
            argument.mul_(sign).requires_grad_()
    return net


def joint_operators(ask: Ask, sign: int = 1) -> dict[str, list[str]]:
    """The operators of the scenario's joint graph, forward and backward, in order."""
    net = made(ask, sign)
    outputs = forward(net)
    return derived(net.call if bare(outputs) else FirstOutput(net.call), net.arguments)


def derived(call: Any, arguments: tuple[Any, ...]) -> dict[str, list[str]]:
    """The operators of a program's joint graph, forward and backward, in order."""
    found: dict[str, list[str]] = {"forward": [], "backward": []}
    for node in derive(call, arguments).module.graph.nodes:
        if node.op == "call_function":
            found[
                "backward" if node.meta.get("partitioner_tag") == "is_backward" else "forward"
            ].append(str(node.target))
    return found


def loop_inputs(ask: Ask) -> tuple[torch.Tensor, torch.Tensor]:
    """A vector, and what it is multiplied with again and again."""
    x, w = torch.tensor([1.0, 2.0], device=ask.device), torch.tensor([0.5, 2.0], device=ask.device)
    return x.requires_grad_(), w.requires_grad_()


def taped(outputs: Any) -> list[str]:
    """The nodes on the tape behind the first output, sorted; leaves are left out."""
    names = (node.name() for node in nodes_behind(next(flat(outputs)).grad_fn))
    return sorted(name for name in names if not name.endswith(LEAF))


def nodes_behind(root: Any) -> Iterator[Any]:
    """The nodes of a tape."""
    seen, waiting = set(), [root]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in seen:
            seen.add(node)
            waiting.extend(child for child, _ in node.next_functions)
            yield node
