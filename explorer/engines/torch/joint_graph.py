"""AOTAutograd's joint graph: forward and backward in one graph, derived before anything runs.

The one place that touches these calls: torch 2.13 documents them as experimental.
"""

import contextlib
from collections import Counter, OrderedDict
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch._dynamo.functional_export import dynamo_graph_capture_for_export
from torch._functorch.aot_autograd import aot_export_joint_with_descriptors

from explorer.engines.torch.code import DYNAMO
from explorer.engines.torch.net import (
    SEED,
    Net,
    build,
    flat,
    identity,
    leave_transforms,
    returned_tree,
    seed,
    start_random_numbers,
)
from explorer.engines.torch.roots import (
    OwnOutputs,
    PlainOutputs,
    holds_dataclass,
    rooted,
    wrapped,
    wrappers_of,
)
from explorer.model.cases import GradCase
from explorer.model.requests import NetRequest
from explorer.model.trees import Tree
from explorer.workers.garbage_collection import paused

KEPT = 32
"""The number of joint graphs that a worker keeps: the cases of a matrix share a few."""

# A second net with other shapes is not the first one made dynamic.
torch._dynamo.config.automatic_dynamic_shapes = False

JointRole = tuple[str, Any]
"""The role of a placeholder or a result of a joint graph.

("parameter", name), ("input", index), ("tangent", index of output), ("output", index),
("gradient", name or index), ("state", name of a changed buffer) or ("other", ""). A parameter that
a net holds under several names has a placeholder for each, of which one is read: the others are
("twin", name).
"""


@dataclass(frozen=True)
class Joint:
    """A joint graph, or the forward alone where nothing returned depends on what needs a gradient.

    ``inputs`` describe the placeholders and ``outputs`` the results in order. ``wrappers`` are the
    modules of ours around the net, inner ones first; ``returned`` has the names of its outputs as
    the net nests them.
    """

    module: Any
    inputs: tuple[JointRole, ...]
    outputs: tuple[JointRole, ...]
    wrappers: tuple[type, ...] = ()
    returned: Tree = None

    @property
    def depth(self) -> int:
        """The number of modules of ours around the net."""
        return len(self.wrappers)

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
        wrappers = rooted(case)
        returned: Tree = net.scenario.outputs(1)[0]  # a nested gradient is one tensor
        if case.order == 1:
            net_once, outputs = _first_run(request, case, requires)
            returned = returned_tree(net_once, outputs)
            if holds_dataclass(outputs):
                wrappers = (PlainOutputs, *wrappers)
            if _share_memory(net_once, outputs):
                wrappers += (OwnOutputs,)
        graph = derive(wrapped(net.call, wrappers, case), net.arguments)
        _joints[key] = replace(graph, returned=returned)
        if len(_joints) > KEPT:
            _joints.popitem(last=False)
    return _joints[key]


def _first_run(request: NetRequest, case: GradCase, requires: tuple[bool, ...]) -> tuple[Net, Any]:
    """A net that has run, and what it returned for a case.

    ``requires`` says which inputs, parameters and buffers require gradients, in order.
    """
    # A net of its own is run: a forward may move statistics.
    net = build(request)
    leaves = [*net.arguments, *net.state.values()]
    for leaf, requires_gradient in zip(leaves, requires, strict=True):
        leaf.requires_grad_(requires_gradient)
    start_random_numbers(SEED)
    return net, wrapped(net.call, rooted(case), case)(*net.arguments)


def _share_memory(net: Net, returned: Any) -> bool:
    """Whether an output to be differentiated lies in the memory of a leaf or of another output.

    Such an output is a leaf itself, a view of one, or one of several views of a tensor.
    """
    outputs = list(flat(returned))
    leaves = [leaf for leaf in (*net.arguments, *net.state.values()) if leaf.requires_grad]
    tensors_in_storage = Counter(map(_storage, leaves + outputs))
    on_tape = [output for output in outputs if output.requires_grad]
    return any(tensors_in_storage[_storage(output)] > 1 for output in on_tape)


def _storage(tensor: torch.Tensor) -> int:
    address: int = tensor.untyped_storage()._cdata
    return address


@paused()
def derive(call: Any, arguments: tuple[torch.Tensor, ...]) -> Joint:
    """The joint graph of everything that ``call`` returns, for arguments of these shapes.

    Every argument is a position of its own. Raises what Dynamo and AOTAutograd raise when a net
    cannot be turned into one graph.
    """
    # Copies: one tensor in two positions would become one placeholder.
    apart = tuple(_copy(argument) for argument in arguments)
    try:
        with contextlib.ExitStack() as stack:
            # For this graph alone: a torch.compile of the user's must break where it always does.
            stack.enter_context(torch._dynamo.config.patch(DYNAMO))
            forward = dynamo_graph_capture_for_export(call)(*apart)
            module = aot_export_joint_with_descriptors(stack, forward, apart).graph_module
    except Exception:
        # At once: the next request to this worker may need no net.
        leave_transforms()
        raise

    wrappers = wrappers_of(call)
    # Each of them puts "net." before the names of parameters.
    names = _names(call, module, "net." * len(wrappers))
    numbers = _numbers(module)
    inputs = []
    outputs = []
    for node in module.graph.nodes:
        if node.op == "placeholder":
            inputs.append(_role(node.meta["desc"], names, numbers))
        elif node.op == "output":
            outputs += [_role(description, names, numbers) for description in node.meta["desc"]]
    return Joint(module, tuple(inputs), tuple(outputs), wrappers)


def _copy(argument: torch.Tensor) -> torch.Tensor:
    return argument.detach().clone().requires_grad_(argument.requires_grad)


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
    end = module.graph.output_node()
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
    if kind == "TangentAOTInput":
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
