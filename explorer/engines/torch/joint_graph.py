"""AOTAutograd's joint graph of a net: forward and backward in one graph, derived before anything
runs.

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
"""How many joint graphs a worker keeps: the cases of a matrix share a few."""

torch._dynamo.config.allow_rnn = True
torch._dynamo.config.automatic_dynamic_shapes = (
    False  # a second net with other shapes is not the first one made dynamic
)


@dataclass(frozen=True)
class Joint:
    """A joint graph, or the forward alone where nothing returned depends on what needs a gradient.

    ``inputs`` describe the placeholders and ``outputs`` the results in order, as ("parameter",
    name), ("input", index), ("tangent", index of output), ("output", index), ("gradient", name or
    index), ("state", name of a changed buffer) or ("other", ""). ``depth`` counts the modules of
    ours around the net.
    """

    module: Any
    inputs: tuple[tuple[str, Any], ...]
    outputs: tuple[tuple[str, Any], ...]
    depth: int = 0

    @property
    def differentiates(self) -> bool:
        """Whether there is a backward at all."""
        return any(kind == "tangent" for kind, _ in self.inputs)

    def tangents(self, case: GradCase, device: torch.device) -> list[torch.Tensor]:
        """The cotangents of a case for every output that has a place for one."""
        placeholders = (node for node in self.module.graph.nodes if node.op == "placeholder")
        return [
            seed(case, index, tuple(node.meta["val"].shape), node.meta["val"].dtype, device)
            for node, (kind, index) in zip(placeholders, self.inputs, strict=True)
            if kind == "tangent"
        ]


_joints: OrderedDict[tuple[Any, ...], Joint] = OrderedDict()


def joint(request: NetRequest, net: Net, case: GradCase) -> Joint:
    """The joint graph of a case on a net whose leaves require gradients; derived once, then kept."""
    needs = tuple(value.requires_grad for value in (*net.arguments, *net.state.values()))
    key = (
        identity(request),
        case.has_aux,
        case.order,
        case.grad_position if case.order > 1 else None,
        needs,
    )
    if key not in _joints:
        _joints[key] = derive(roots(net.call, case), net.arguments)
        if len(_joints) > KEPT:
            _joints.popitem(last=False)
    return _joints[key]


def roots(call: Any, case: GradCase) -> Any:
    """The net of which every output is to be differentiated for a case."""
    for _ in range(case.order - 1):
        call = Gradient(call, case.positions[0])
    return FirstOutput(call) if case.has_aux else call


def derive(call: Any, arguments: tuple[torch.Tensor, ...]) -> Joint:
    """The joint graph of everything that ``call`` returns, for arguments of these shapes, each a
    position of its own.
    """
    apart = tuple(
        argument.detach().clone().requires_grad_(argument.requires_grad) for argument in arguments
    )
    forward = dynamo_graph_capture_for_export(call)(*apart)
    with contextlib.ExitStack() as stack:
        module = aot_export_joint_with_descriptors(stack, forward, apart).graph_module
    depth = _depth(call)
    placeholders = [node for node in module.graph.nodes if node.op == "placeholder"]
    results = next(node for node in module.graph.nodes if node.op == "output")
    return Joint(
        module,
        tuple(_described(node.meta["desc"], depth) for node in placeholders),
        tuple(_described(description, depth) for description in results.meta["desc"]),
        depth,
    )


def _depth(call: Any) -> int:
    """How many modules of ours are wrapped round a net: each puts "net." before the names of its
    parameters.
    """
    depth = 0
    while isinstance(call, (FirstOutput, Gradient)):
        call, depth = call.net, depth + 1
    return depth


def _described(description: Any, depth: int) -> tuple[str, Any]:
    kind = type(description).__name__
    if kind in {"ParamAOTInput", "BufferAOTInput"}:
        return "parameter", description.target.removeprefix("net." * depth)
    if kind == "TangentAOTInput":
        return "tangent", description.output.idx
    if kind == "GradAOTOutput":
        return "gradient", _described(description.grad_of, depth)[1]
    if kind == "InputMutationAOTOutput":
        held, name = _described(description.mutated_input, depth)
        return ("state", name) if held == "parameter" else ("other", "")
    return {"PlainAOTInput": "input", "PlainAOTOutput": "output"}.get(kind, "other"), getattr(
        description, "idx", ""
    )
