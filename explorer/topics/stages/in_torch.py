"""What PyTorch's tape records for the programs that MindSpore compiles, and their joint graphs."""

from typing import Any

import torch

from explorer.engines.torch.joint_graph import derive
from explorer.engines.torch.net import Net, bare, build, flat, forward
from explorer.engines.torch.roots import FirstOutput
from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt
from explorer.topics.in_torch import taped_operators
from explorer.topics.scenario_nets import net_request
from explorer.topics.stages import programs

JOINT_LENGTH = 4
"""How often the loop of a joint graph is to run."""


def other_values(ask: Ask) -> Found:
    """The tape's nodes for the inputs and for their negatives, and the joint graphs of both."""
    figures: dict[str, Any] = {}
    for name, sign in programs.SIGNS.items():
        figures[name] = {
            "tape": taped(forward(signed_net(ask, sign))),
            "joint": attempt(joint_operators_of_scenario, ask, sign),
        }
    return Found(figures)


def loops(ask: Ask) -> Found:
    """The tape's nodes for loops of several lengths, and the joint graphs of both loops."""
    by_length: dict[str, list[str]] = {}
    for length in ask.options["lengths"]:
        x, w = loop_inputs(ask)
        by_length[str(length)] = taped(programs.while_positive(x, w, torch.tensor(length)))
    while_inputs = (*loop_inputs(ask), torch.tensor(JOINT_LENGTH))
    return Found(
        {
            "while": by_length,
            "for": taped(programs.four_times(*loop_inputs(ask))),
            "joint while": attempt(joint_operators, programs.while_positive, while_inputs),
            "joint for": attempt(joint_operators, programs.four_times, loop_inputs(ask)),
        }
    )


# What the measurements share


def signed_net(ask: Ask, sign: int) -> Net:
    """The scenario's net, its inputs that are no integers times ``sign``.

    Everything that can be differentiated is.
    """
    net = build(net_request(ask, "torch-tape"))
    # One tensor may stand under two names: it is negated once.
    distinct = {id(argument): argument for argument in net.arguments}
    for argument in distinct.values():
        if argument.is_floating_point():
            argument.mul_(sign).requires_grad_()
    return net


def joint_operators_of_scenario(ask: Ask, sign: int) -> dict[str, list[str]]:
    """The operators of the scenario's joint graph, forward and backward, in order."""
    net = signed_net(ask, sign)
    outputs = forward(net)
    return joint_operators(net.call if bare(outputs) else FirstOutput(net.call), net.arguments)


def joint_operators(call: Any, arguments: tuple[Any, ...]) -> dict[str, list[str]]:
    """The operators of a program's joint graph, forward and backward, in order."""
    operators: dict[str, list[str]] = {"forward": [], "backward": []}
    for node in derive(call, arguments).module.graph.nodes:
        if node.op == "call_function":
            is_backward = node.meta.get("partitioner_tag") == "is_backward"
            operators["backward" if is_backward else "forward"].append(str(node.target))
    return operators


def loop_inputs(ask: Ask) -> tuple[torch.Tensor, torch.Tensor]:
    """A vector, and what it is multiplied with again and again."""
    x = torch.tensor([1.0, 2.0], device=ask.device, requires_grad=True)
    w = torch.tensor([0.5, 2.0], device=ask.device, requires_grad=True)
    return x, w


def taped(outputs: Any) -> list[str]:
    """The operators on the tape behind the first output, sorted; leaves are left out."""
    return taped_operators(next(flat(outputs)))
