"""A joint graph whose placeholders and results are known by their order (torch 2.2 to 2.9).

AOTAutograd takes parameters and buffers, inputs, and cotangents. It returns what was written to
what it took, the outputs, and the gradient with respect to each parameter, buffer and input.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
import torch._dynamo
from torch._functorch.aot_autograd import _aot_export_function
from torch.nn.utils.stateless import _reparametrize_module
from torch.utils._pytree import tree_leaves

from explorer.engines.torch.joint_roles import Derived, JointRole

GIVEN = frozenset({"parameter", "input"})
"""The roles of what gradients are returned for."""


BANNED = "banned in the aot_export workflow"
"""The words in which AOTAutograd says that a graph could be had, and that it gives none."""


def derived(
    _: contextlib.ExitStack, call: Any, arguments: tuple[torch.Tensor, ...], prefix: str
) -> Derived:
    """The joint graph of ``call``; ``prefix`` is what modules of ours put before names."""
    forward = torch._dynamo.export(call, assume_static_by_default=True)(*arguments).graph_module
    held = {**dict(forward.named_parameters()), **dict(forward.named_buffers())}

    def run_forward(*values: torch.Tensor) -> tuple[Any, ...]:
        held_values = dict(zip(held, values, strict=False))
        with (
            _reparametrize_module(forward, held_values, tie_weights=True),
            torch.fx.traceback.preserve_node_meta(),
        ):
            returned = torch.fx.Interpreter(forward).run(*values[len(held) :])
        return tuple(tree_leaves(returned))

    module, facts = _joint_module(run_forward, [*held.values(), *arguments], len(held))
    names = _names(call, prefix)
    roles: list[JointRole] = [names.get(id(value), ("other", "")) for value in held.values()]
    roles += [("input", index) for index in range(len(arguments))]
    join_detaches(module)
    tag_phases(module)
    return _derived(module, facts, roles)


def _joint_module(call: Any, arguments: list[torch.Tensor], held: int) -> tuple[Any, Any]:
    """The joint graph of a function, and AOTAutograd's facts about it.

    Raises NotImplementedError for a net that writes to what it is differentiated by.
    """
    try:
        with torch.enable_grad():
            module, facts, *_ = _aot_export_function(call, arguments, num_params_buffers=held)
    except RuntimeError as error:
        if BANNED in str(error):
            raise NotImplementedError(str(error)) from error
        raise
    return module, facts


def _names(call: Any, prefix: str) -> dict[int, JointRole]:
    """The role of every parameter and buffer of a net by its ``id``, under the first of its names."""
    names: dict[int, JointRole] = {}
    if isinstance(call, torch.nn.Module):
        for members in (call.named_parameters, call.named_buffers):
            for name, tensor in members():
                names.setdefault(id(tensor), ("parameter", name.removeprefix(prefix)))
    return names


def _derived(module: Any, facts: Any, roles: list[JointRole]) -> Derived:
    """A graph with the roles of all that it takes and returns, by AOTAutograd's facts about these."""
    written = [place for place, info in enumerate(facts.input_info) if info.mutates_data]
    outputs = list(_output_roles(facts))
    seeded = [
        role for role, info in zip(outputs, facts.output_info, strict=True) if _has_cotangent(info)
    ]
    inputs = list(roles)
    inputs += [("unseeded", "") for place in written if facts.input_info[place].requires_grad]
    inputs += [("tangent", number) for _, number in seeded]

    results: list[JointRole] = []
    for place in written:
        kind, name = roles[place]
        results.append(("state", name) if kind == "parameter" else ("other", ""))
    results += outputs
    differentiates = len(inputs) > len(roles)
    if differentiates:
        for kind, key in roles:
            results.append(("gradient", key) if kind in GIVEN else ("other", ""))
    else:
        inputs = list(roles)
    _check(module, inputs, results)
    return Derived(module, tuple(inputs), tuple(results))


def _output_roles(facts: Any) -> Iterator[JointRole]:
    """The roles of the outputs, in order; None is no output."""
    number = 0
    for info in facts.output_info:
        if info.raw_type is type(None):
            yield "other", ""
        else:
            yield "output", number
            number += 1


def _has_cotangent(info: Any) -> bool:
    """Whether an output is one that backward starts from."""
    return issubclass(info.raw_type, torch.Tensor) and bool(info.requires_grad)


def _check(module: Any, inputs: list[JointRole], results: list[JointRole]) -> None:
    """Raise where a graph takes or returns another number of things than it was thought to.

    Gradients would go by the names of others.
    """
    nodes = list(module.graph.nodes)
    taken = sum(node.op == "placeholder" for node in nodes)
    returned = len(nodes[-1].args[0])
    if (taken, returned) != (len(inputs), len(results)):
        raise NotImplementedError(
            f"the joint graph takes {taken} tensors and returns {returned}, where"
            f" {len(inputs)} and {len(results)} are known"
        )


def join_detaches(module: Any) -> None:
    """Take out each detach of what is detached: these versions write one two or three times."""
    detach = torch.ops.aten.detach.default
    for node in list(module.graph.nodes):
        if node.target is detach and node.args[0].target is detach:
            node.replace_all_uses_with(node.args[0])
            module.graph.erase_node(node)


def tag_phases(module: Any) -> None:
    """Tag the forward's nodes as torch 2.10 does, and those of backward where a torch tags none."""
    # In the order of the graph the backward begins with the first node that reads a cotangent.
    nodes = [node for node in module.graph.nodes if node.op not in ("placeholder", "output")]
    tags_backward = any("partitioner_tag" in node.meta for node in nodes)
    is_backward = False
    for node in nodes:
        is_backward = is_backward or any(map(_is_cotangent, node.all_input_nodes))
        if not is_backward:
            node.meta.setdefault("partitioner_tag", "is_forward")
        elif not tags_backward:
            node.meta["partitioner_tag"] = "is_backward"


def _is_cotangent(node: Any) -> bool:
    return node.op == "placeholder" and str(node.name).startswith("tangents")
