"""AOTAutograd's joint graph: forward and backward in one graph, derived before anything runs.

The one place that touches these calls: torch 2.13 documents them as experimental. A part of the
graph, with what a case needs, runs node by node.
"""

import contextlib
import operator
from collections import Counter, OrderedDict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from typing import Any

import torch
import torch._dynamo

from explorer.engines.double_net import LeafKey
from explorer.engines.net_identity import identity
from explorer.engines.source_lines import Line
from explorer.engines.torch.code import DYNAMO
from explorer.engines.torch.joint_roles import TANGENTS, JointRole
from explorer.engines.torch.net import (
    SEED,
    Net,
    build,
    flat,
    leave_transforms,
    returned_tree,
    seed,
    start_random_numbers,
)
from explorer.engines.torch.operators import tensors_in
from explorer.engines.torch.put_in import NOTHING, put_in
from explorer.engines.torch.put_in import Values as OtherValues
from explorer.engines.torch.roots import (
    OwnOutputs,
    PlainOutputs,
    holds_objects,
    rooted,
    wrapped,
    wrappers_of,
)
from explorer.engines.torch.source_lines import trace_lines
from explorer.engines.torch.versions import offered
from explorer.model.cases import GradCase
from explorer.model.graph import Phase
from explorer.model.requests import NetRequest
from explorer.model.trees import Tree
from explorer.workers.garbage_collection import paused

_output_node = offered("output_node")

JOINT = f"explorer.engines.torch.{offered('joint')}_joint"
"""The module that derives joint graphs with the calls that this PyTorch has."""

KEPT = 32
"""The number of joint graphs that a worker keeps: the cases of a matrix share a few."""

# A second net with other shapes is not the first one made dynamic.
torch._dynamo.config.automatic_dynamic_shapes = False


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
        return any(kind in TANGENTS for kind, _ in self.inputs)

    @property
    def placeholders(self) -> list[Any]:
        """The fx nodes that stand for what the graph takes, in the order of ``inputs``."""
        return [node for node in self.module.graph.nodes if node.op == "placeholder"]

    def tangents(self, case: GradCase, device: torch.device) -> list[torch.Tensor]:
        """The cotangents of a case for every output that has a place for one."""
        cotangents = []
        for node, (kind, index) in zip(self.placeholders, self.inputs, strict=True):
            if kind in TANGENTS:
                expected = node.meta["val"]
                shape = tuple(expected.shape)
                cotangent = torch.zeros(shape, dtype=expected.dtype, device=device)
                if kind == "tangent":
                    cotangent = seed(case, index, shape, expected.dtype, device)
                cotangents.append(cotangent)
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
            if holds_objects(outputs):
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
    wrappers = wrappers_of(call)
    prefix = "net." * len(wrappers)  # each of them puts it before the names of parameters
    try:
        with contextlib.ExitStack() as stack:
            # For this graph alone: a torch.compile of the user's must break where it always does.
            stack.enter_context(torch._dynamo.config.patch(DYNAMO))
            graph = import_module(JOINT).derived(stack, call, apart, prefix)
    except Exception:
        # At once: the next request to this worker may need no net.
        leave_transforms()
        raise
    return Joint(graph.module, graph.inputs, graph.outputs, wrappers)


def _copy(argument: torch.Tensor) -> torch.Tensor:
    return argument.detach().clone().requires_grad_(argument.requires_grad)


FORWARD_RESULTS = frozenset({"output", "state"})
"""The forward's results that are shown, whatever is requested of its backward."""

ACCUMULATION = "Gradient addition node"
"""The mark of a sum that gathers the gradients of several uses of a tensor (torch 2.13).

AOTAutograd writes it into the node's stack trace.
"""

Values = dict[Any, Any]
"""The value of every fx node of a run: a tensor, or a tuple or list of tensors and None."""


class JointPart:
    """The part of a joint graph behind the forward's results and the gradients requested.

    ``wanted`` holds the keys of these gradients in ``joint.outputs``. ``nodes`` are the fx nodes in
    the order of the graph, ``roles`` what its placeholders are, ``leaves`` the placeholders of
    inputs and parameters by name. ``ends`` has the fx node of each of ``joint.outputs``, or None
    where it is not requested or the graph gives none.
    """

    def __init__(
        self,
        joint: Joint,
        net: Net,
        wanted: Collection[LeafKey],
        primals: list[torch.Tensor],
        tangents: list[torch.Tensor],
    ) -> None:
        self.joint = joint
        self.net = net
        self.roles = dict(zip(joint.placeholders, joint.inputs, strict=True))
        self._given = dict(zip(joint.placeholders, [*primals, *tangents], strict=True))
        self.leaves = self._leaves()
        self.ends = self._ends(wanted)
        needed = self._needed()
        self.nodes = [node for node in joint.module.graph.nodes if node in needed]
        self.phases = {node: self._phase(node) for node in self.nodes}

    def _leaves(self) -> dict[str, Any]:
        leaves: dict[str, Any] = {}
        for node, (kind, key) in self.roles.items():
            if kind in ("input", "parameter"):
                leaves.setdefault(self.leaf_name(key), node)
        return leaves

    def _ends(self, wanted: Collection[LeafKey]) -> list[Any]:
        (results,) = _output_node(self.joint.module.graph).args
        ends = []
        for (kind, key), end in zip(self.joint.outputs, results, strict=True):
            if kind not in FORWARD_RESULTS and not (kind == "gradient" and key in wanted):
                end = None
            ends.append(end)
        return ends

    def _needed(self) -> set[Any]:
        """The ends with all that they depend on, and every input.

        A reader looks for the inputs even where no end depends on them.
        """
        needed: set[Any] = set()
        waiting = [node for node, (kind, _) in self.roles.items() if kind == "input"]
        waiting += filter(_is_node, self.ends)
        while waiting:
            node = waiting.pop()
            if node not in needed:
                needed.add(node)
                waiting.extend(node.all_input_nodes)
        return needed

    def _phase(self, node: Any) -> Phase:
        role, _ = self.roles.get(node, ("", ""))
        is_tagged = node.meta.get("partitioner_tag") == "is_backward"
        if is_tagged or role in TANGENTS or self.is_by_hand(node):
            return "backward"
        return "forward"

    def leaf_name(self, key: LeafKey) -> str:
        """The name of an input, given by its position, or of a parameter."""
        if isinstance(key, str):
            return key
        return list(self.net.inputs)[key]

    # What a node is

    def is_by_hand(self, node: Any) -> bool:
        """Whether a node is from the backward of a custom function.

        torch 2.13 leaves such nodes without a tag in a joint graph.
        """
        untagged = node.op == "call_function" and "partitioner_tag" not in node.meta
        return untagged and self.joint.differentiates

    def is_hidden(self, node: Any) -> bool:
        """Whether a node is no step.

        It picks an output, copies one that would share memory, or is autograd's own detached alias.
        """
        if is_pick(node) or _is_copy_for_output(node):
            return True
        if node.target is not torch.ops.aten.detach.default:
            return False
        if any(self.phases.get(user) == "forward" for user in node.users):
            return False
        # The net's own detach has a line, and an output is what the net makes of it.
        return not (any(map(_is_output, node.users)) and lines(node))

    # Running

    def run(self, order: Iterable[Any], instead: Mapping[Any, OtherValues] = NOTHING) -> Values:
        """The value of every fx node, computed in the given order.

        ``instead`` has other values for the outputs of some nodes.
        """
        values: Values = {}
        start_random_numbers(self.net.seed)
        with torch.no_grad():
            for node in order:
                if node.op == "placeholder":
                    values[node] = self._given[node]
                elif node.op == "get_attr":
                    values[node] = operator.attrgetter(node.target)(self.joint.module)
                elif node.op == "call_function" and not is_pick(node):
                    values[node] = self._call(node, values)
                if node in instead:
                    # None of them keeps its memory: a placeholder's is the net's.
                    values[node] = put_in(
                        values[node], instead[node], tensors_in(values[node]), written=()
                    )
        return values

    def _call(self, node: Any, values: Values) -> Any:
        read = partial(self.read, values)
        args = torch.fx.node.map_arg(node.args, read)
        kwargs = torch.fx.node.map_arg(node.kwargs, read)
        return node.target(*args, **kwargs)

    def read(self, values: Values, node: Any) -> Any:
        """The value of a node; one that was not run is hidden, and read from its origin."""
        if node in values:
            return values[node]
        origin = self.read(values, node.args[0])
        if is_pick(node):
            return origin[node.args[1]]
        return origin

    def results(self, values: Values) -> list[Any]:
        """The results that the graph module would return, in the order of ``joint.outputs``."""
        results = []
        for end in self.ends:
            # A net may return a plain number, which is no node.
            result = end
            if _is_node(end):
                result = self.read(values, end)
            results.append(result)
        return results

    def shown_by(self, node: Any, values: Values) -> tuple[Any, int]:
        """The node that shows the value of ``node``, and which of its outputs does."""
        output = 0
        while self.is_hidden(node):
            origin = node.args[0]
            if is_pick(node):
                # A node shows no output where its operator gives None (a gradient that is not
                # needed) or a plain number (torch 2.2: the attention's longest sequence).
                output = len(tensors_in(values[origin][: node.args[1]]))
            node = origin
        return node, output


def is_pick(node: Any) -> bool:
    """Whether a node picks one of several outputs of another."""
    return node.op == "call_function" and node.target is operator.getitem


def _is_copy_for_output(node: Any) -> bool:
    """Whether a node is the copy that ``OwnOutputs`` makes of an output, on no line of the net's."""
    if node.target is not torch.ops.aten.clone.default or lines(node):
        return False
    return all(map(_is_output, node.users))


def _is_node(end: Any) -> bool:
    return isinstance(end, torch.fx.Node)


def _is_output(node: Any) -> bool:
    return bool(node.op == "output")


def is_accumulation(node: Any) -> bool:
    """Whether a node sums the gradients of several uses of one tensor."""
    return ACCUMULATION in (node.meta.get("stack_trace") or "")


def lines(node: Any) -> tuple[Line, ...]:
    """The lines of Python that a node comes from, innermost first."""
    return trace_lines(node.meta.get("stack_trace") or "")
