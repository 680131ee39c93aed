"""AOTAutograd's joint graph: forward and backward in one graph, derived before anything runs.

The one place that touches these calls: torch 2.13 documents them as experimental.
"""

import contextlib
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import torch
from torch._dynamo.functional_export import dynamo_graph_capture_for_export
from torch._functorch.aot_autograd import aot_export_joint_with_descriptors

from explorer.engines.torch.net import Net, identity, seed
from explorer.engines.torch.roots import FirstOutput, Gradient
from explorer.model.cases import GradCase
from explorer.model.requests import NetRequest

KEPT = 32
"""The number of joint graphs that a worker keeps: the cases of a matrix share a few."""

# Without it Dynamo of torch 2.13 refuses LSTMs.
torch._dynamo.config.allow_rnn = True
# A second net with other shapes is not the first one made dynamic.
torch._dynamo.config.automatic_dynamic_shapes = False

Role = tuple[str, Any]
"""The role of a placeholder or a result of a joint graph.

("parameter", name), ("input", index), ("tangent", index of output), ("output", index),
("gradient", name or index), ("state", name of a changed buffer) or ("other", "").
"""


@dataclass(frozen=True)
class Joint:
    """A joint graph, or the forward alone where nothing returned depends on what needs a gradient.

    ``inputs`` describe the placeholders and ``outputs`` the results in order. ``depth`` counts the
    modules of ours around the net.
    """

    module: Any
    inputs: tuple[Role, ...]
    outputs: tuple[Role, ...]
    depth: int = 0

    @property
    def differentiates(self) -> bool:
        """Whether there is a backward at all."""
        return any(kind == "tangent" for kind, _ in self.inputs)

    @property
    def placeholders(self) -> list[Any]:
        """The fx nodes that stand for what the graph takes, in the order of ``inputs``."""
        return [node for node in self.module.graph.nodes if node.op == "placeholder"]

    def tangents(self, case: GradCase, device: torch.device) -> list[torch.Tensor]:
        """The cotangents of a case for every output that has a place for one."""
        cotangents = []
        for node, (kind, index) in zip(self.placeholders, self.inputs, strict=True):
            if kind == "tangent":
                expected = node.meta["val"]
                shape = tuple(expected.shape)
                cotangents.append(seed(case, index, shape, expected.dtype, device))
        return cotangents


_joints: OrderedDict[tuple[Any, ...], Joint] = OrderedDict()


def joint(request: NetRequest, net: Net, case: GradCase) -> Joint:
    """The joint graph of a case on a net whose leaves require gradients; derived once, then kept."""
    requires = tuple(value.requires_grad for value in (*net.arguments, *net.state.values()))
    nested_at = case.grad_position if case.order > 1 else None
    key = identity(request), case.has_aux, case.order, nested_at, requires
    if key not in _joints:
        _joints[key] = derive(_rooted(net.call, case), net.arguments)
        if len(_joints) > KEPT:
            _joints.popitem(last=False)
    return _joints[key]


def _rooted(call: Any, case: GradCase) -> Any:
    """The net of which every output is to be differentiated for a case."""
    for _ in range(case.order - 1):
        call = Gradient(call, case.positions[0])
    return FirstOutput(call) if case.has_aux else call


def derive(call: Any, arguments: tuple[torch.Tensor, ...]) -> Joint:
    """The joint graph of everything that ``call`` returns, for arguments of these shapes.

    Every argument is a position of its own. Raises what Dynamo and AOTAutograd raise when a net
    cannot be turned into one graph.
    """
    # Copies: one tensor in two positions would become one placeholder.
    apart = tuple(_copy(argument) for argument in arguments)
    forward = dynamo_graph_capture_for_export(call)(*apart)
    with contextlib.ExitStack() as stack:
        module = aot_export_joint_with_descriptors(stack, forward, apart).graph_module

    depth = _depth(call)
    inputs = []
    outputs = []
    for node in module.graph.nodes:
        if node.op == "placeholder":
            inputs.append(_role(node.meta["desc"], depth))
        elif node.op == "output":
            outputs += [_role(description, depth) for description in node.meta["desc"]]
    return Joint(module, tuple(inputs), tuple(outputs), depth)


def _copy(argument: torch.Tensor) -> torch.Tensor:
    return argument.detach().clone().requires_grad_(argument.requires_grad)


def _depth(call: Any) -> int:
    """The number of modules of ours that are wrapped round a net.

    Each puts "net." before the names of its parameters.
    """
    depth = 0
    while isinstance(call, (FirstOutput, Gradient)):
        call = call.net
        depth += 1
    return depth


def _role(description: Any, depth: int) -> Role:
    """The role in AOTAutograd's description of a placeholder or result, without our modules."""
    kind = type(description).__name__
    if kind in ("ParamAOTInput", "BufferAOTInput"):
        return "parameter", description.target.removeprefix("net." * depth)
    if kind == "PlainAOTInput":
        return "input", description.idx
    if kind == "TangentAOTInput":
        return "tangent", description.output.idx
    if kind == "PlainAOTOutput":
        return "output", description.idx
    if kind == "GradAOTOutput":
        return "gradient", _role(description.grad_of, depth)[1]
    if kind == "InputMutationAOTOutput":
        mutated, name = _role(description.mutated_input, depth)
        return ("state", name) if mutated == "parameter" else ("other", "")
    return "other", ""
