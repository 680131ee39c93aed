"""A joint graph whose placeholders and results AOTAutograd describes (from torch 2.10 on)."""

import contextlib
from typing import Any

import torch
from torch._dynamo.functional_export import dynamo_graph_capture_for_export
from torch._functorch.aot_autograd import aot_export_joint_with_descriptors

from explorer.engines.torch.joint_roles import Derived, JointRole
from explorer.engines.torch.versions import offered

_output_node = offered("output_node")

TOKENS = {"ForwardTokenAOTInput": "forward token", "BackwardTokenAOTInput": "backward token"}
"""The roles of what keeps operators with an effect in order."""


def derived(
    stack: contextlib.ExitStack, call: Any, arguments: tuple[torch.Tensor, ...], prefix: str
) -> Derived:
    """The joint graph of ``call``; ``prefix`` is what modules of ours put before names."""
    forward = dynamo_graph_capture_for_export(call)(*arguments)
    module = aot_export_joint_with_descriptors(stack, forward, arguments).graph_module

    names = _names(call, module, prefix)
    numbers = _numbers(module)
    inputs = []
    outputs = []
    for node in module.graph.nodes:
        if node.op == "placeholder":
            inputs.append(_role(node.meta["desc"], names, numbers))
        elif node.op == "output":
            outputs += [_role(description, names, numbers) for description in node.meta["desc"]]
    return Derived(module, tuple(inputs), tuple(outputs))


def _names(call: Any, module: Any, prefix: str) -> dict[str, JointRole]:
    """The role of every parameter and buffer by AOTAutograd's name for it.

    A net may hold one under several names (tied weights). It goes by the first of them, as in
    ``named_parameters``; a graph has a placeholder for each, and reads one of them.
    """
    if not isinstance(call, torch.nn.Module):
        return {}
    read = _read_names(module)
    held: dict[int, list[str]] = {}
    for members in (call.named_parameters, call.named_buffers):
        for name, tensor in members(remove_duplicate=False):
            held.setdefault(id(tensor), []).append(name)
    roles: dict[str, JointRole] = {}
    for names in held.values():
        own_name = names[0].removeprefix(prefix)
        place = next((name for name in names if name in read), names[0])
        for name in names:
            roles[name] = ("parameter" if name == place else "twin"), own_name
    return roles


def _read_names(module: Any) -> set[str]:
    """AOTAutograd's names of the parameters and buffers that a graph reads."""
    read = set()
    for node in module.graph.nodes:
        description = node.meta.get("desc")
        if node.op == "placeholder" and node.users and hasattr(description, "target"):
            read.add(description.target)
    return read


def _numbers(module: Any) -> dict[int, int]:
    """The number of every output by its index in AOTAutograd, which counts None too."""
    end = _output_node(module.graph)
    numbers: dict[int, int] = {}
    for result, description in zip(end.args[0], end.meta["desc"], strict=True):
        if type(description).__name__ == "PlainAOTOutput" and result is not None:
            numbers[description.idx] = len(numbers)
    return numbers


def _role(description: Any, names: dict[str, JointRole], numbers: dict[int, int]) -> JointRole:
    """The role in AOTAutograd's description of a placeholder or result, without our modules."""
    kind = type(description).__name__
    if kind in ("ParamAOTInput", "BufferAOTInput"):
        return names[description.target]
    if kind == "PlainAOTInput":
        return "input", description.idx
    if kind in TOKENS:
        return TOKENS[kind], ""
    if kind == "TangentAOTInput":
        if not hasattr(description.output, "idx"):
            return "unseeded", ""
        return "tangent", numbers[description.output.idx]
    if kind == "PlainAOTOutput" and description.idx in numbers:
        return "output", numbers[description.idx]
    if kind == "GradAOTOutput":
        of, key = _role(description.grad_of, names, numbers)
        return ("other", "") if of == "twin" else ("gradient", key)
    if kind == "InputMutationAOTOutput":
        mutated, name = _role(description.mutated_input, names, numbers)
        return ("state", name) if mutated == "parameter" else ("other", "")
    return "other", ""
