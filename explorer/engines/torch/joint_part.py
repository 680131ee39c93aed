"""The part of a joint graph that a case needs, ready to be run node by node."""

import operator
from collections.abc import Collection, Iterable
from functools import partial
from typing import Any

import torch

from explorer.engines.source_lines import Line
from explorer.engines.torch.joint_graph import Joint
from explorer.engines.torch.net import LeafKey, Net, start_random_numbers
from explorer.engines.torch.source_lines import trace_lines
from explorer.model.graph import Phase

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
        (results,) = self.joint.module.graph.output_node().args
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
        if node.meta.get("partitioner_tag") == "is_backward" or self.is_by_hand(node):
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

    def run(self, order: Iterable[Any]) -> Values:
        """The value of every fx node, computed in the given order."""
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
        return values

    def _call(self, node: Any, values: Values) -> Any:
        read = partial(self._read, values)
        args = torch.fx.node.map_arg(node.args, read)
        kwargs = torch.fx.node.map_arg(node.kwargs, read)
        return node.target(*args, **kwargs)

    def _read(self, values: Values, node: Any) -> Any:
        """The value of a node; one that was not run is hidden, and read from its origin."""
        if node in values:
            return values[node]
        origin = self._read(values, node.args[0])
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
                result = self._read(values, end)
            results.append(result)
        return results

    def shown_by(self, node: Any, values: Values) -> tuple[Any, int]:
        """The node that shows the value of ``node``, and which of its outputs does."""
        output = 0
        while self.is_hidden(node):
            origin = node.args[0]
            if is_pick(node):
                # A node shows no output where its operator gives None: a gradient that is not needed.
                before = values[origin][: node.args[1]]
                output = sum(value is not None for value in before)
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
