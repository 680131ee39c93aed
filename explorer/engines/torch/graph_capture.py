"""A joint graph, run node by node, as a gradient graph."""

import re
from typing import Any

import torch

from explorer.engines.capture.builder import GraphBuilder
from explorer.engines.capture.proof import GraphValues, Operand, Rerun, prove
from explorer.engines.double_net import LeafKey
from explorer.engines.plain_values import PlainArguments
from explorer.engines.source_lines import Line
from explorer.engines.torch.joint_graph import JointPart, Values, is_accumulation, lines
from explorer.engines.torch.layers import layers_of
from explorer.engines.torch.net import flat, snapshot
from explorer.engines.torch.operator_arguments import operator_arguments
from explorer.engines.torch.operators import (
    copy_of,
    draws_random_numbers,
    rerun,
    tensors_in,
    unwritten_outputs,
)
from explorer.engines.torch.roots import Gradient
from explorer.engines.torch.source_lines import kind_of_file, source
from explorer.engines.torch.tape_records import Call, NodeOutputs
from explorer.engines.torch.tensors import array_of, changed, dtype_of
from explorer.model.graph import Absence, GradGraph, NodeKind, Output, Phase


class JointLinks:
    """The forward nodes of a joint graph by what ties backward nodes to them.

    AOTAutograd gives a backward node the sequence number of the forward operator that it
    differentiates (``seq_nr``); a node of a backward written by hand has the line from which the
    custom function was called.
    """

    def __init__(self, part: JointPart) -> None:
        self._part = part
        self._by_sequence: dict[int, Any] = {}
        self._by_call: dict[tuple[Line, ...], Any] = {}
        for node in part.nodes:
            if node.op != "call_function" or part.phases[node] != "forward":
                continue
            if "seq_nr" in node.meta:
                self._by_sequence.setdefault(node.meta["seq_nr"], node)
            # All stacks around the operator's own line; of several operators the last one counts.
            callers = _user_lines(node)
            for depth in range(1, len(callers)):
                self._by_call[callers[depth:]] = node

    def origin(self, node: Any) -> Any:
        """The forward fx node that a backward one derives from, or None.

        A node that has no origin of its own derives from what its consumer derives from; the last
        consumer is the gradient with respect to a leaf, and derives from that leaf.
        """
        while node is not None and self._part.phases[node] == "backward":
            origin = self._own_origin(node)
            if origin is None:
                origin = self._leaf_of_gradient(node)
            if origin is not None:
                return origin
            node = next((user for user in node.users if user in self._part.phases), None)
        return None

    def _own_origin(self, node: Any) -> Any:
        if is_accumulation(node):
            return None
        if self._part.is_by_hand(node):
            return self._called_with(node)
        return self._by_sequence.get(node.meta.get("seq_nr"))

    def _called_with(self, node: Any) -> Any:
        """The last forward node called from the same line as a backward written by hand.

        Where there is none, it is one that was called from a line further out.
        """
        callers = _user_lines(node)
        for depth in range(len(callers)):
            if callers[depth:] in self._by_call:
                return self._by_call[callers[depth:]]
        return None

    def _leaf_of_gradient(self, node: Any) -> Any:
        """The leaf that ``node`` is the gradient with respect to, if it is one."""
        part = self._part
        for (kind, key), end in zip(part.joint.outputs, part.ends, strict=True):
            if kind == "gradient" and end is node:
                return part.leaves.get(part.leaf_name(key))
        return None


def _user_lines(node: Any) -> tuple[Line, ...]:
    """The user's lines on the way to a node, innermost first."""
    return tuple(line for line in lines(node) if kind_of_file(line[0]) == "user")


KINDS: dict[str, NodeKind] = {"input": "input", "parameter": "parameter"}
"""The kinds of nodes that roles of placeholders stand for; any other is a constant."""

STEP = re.compile(r"\[['\"]?([^'\"\]]+)['\"]?\]")
"""A step into a container on the path of a module, as Dynamo writes it: ``['0']``."""


class JointGradGraph:
    """The nodes and edges of the part of a joint graph that was run.

    ``nodes`` has the number of every fx node's node; hidden ones have none. ``wanted`` holds the
    keys of the gradients requested.
    """

    def __init__(self, part: JointPart, run: Values, wanted: list[LeafKey], values: bool) -> None:
        self.nodes: dict[Any, int] = {}
        self._builder = GraphBuilder()
        self._part = part
        self._run = run
        self._values = values
        self._links = JointLinks(part)
        self._scenario = str(part.net.scenario.path)
        results = part.results(run)
        self._known = NodeOutputs(_tensors(part, run, results), values)
        self._add_phase("forward")
        self._add_forward_results(results)
        self._add_phase("backward")
        self._add_gradients(results)
        self._add_zeros(wanted)
        self._connect()
        self._count_saved()

    def prove(self, everything: bool) -> None:
        """Compute every operator again; see ``explorer.engines.capture.proof``."""
        prove(self._builder, self._recorded(), everything)

    def fx_nodes(self) -> dict[int, Any]:
        """The fx node of each node, by number."""
        return {number: node for node, number in self.nodes.items()}

    def fx_nodes_by_id(self) -> dict[str, Any]:
        """The fx node of each node, by its id in the record."""
        ids = self._builder.ids()
        return {ids[number]: node for node, number in self.nodes.items() if number in ids}

    def record(self, case: str) -> GradGraph:
        """The record of the graph for the case with that label."""
        layers = layers_of(self._part.net.call)
        return self._builder.record("torch-graph", case, "joint", layers=layers)

    # Nodes

    def _add_phase(self, phase: Phase) -> None:
        for node in self._part.nodes:
            if self._part.phases[node] != phase or self._part.is_hidden(node):
                continue
            if node.op == "call_function":
                self._add_operator(node, phase)
            else:
                self._add_given(node, phase)

    def _add_operator(self, node: Any, phase: Phase) -> None:
        origin = None
        if phase == "backward":
            origin = self._links.origin(node)
        missing: dict[str, Absence] = {}
        forward = None
        # An operator of backward has the module and the lines of what it derives from.
        place = node
        if origin is not None:
            place, _ = self._part.shown_by(origin, self._run)
            forward = self.nodes[place]
        elif phase == "backward":
            missing["forward"] = Absence("unlinked_in_joint")
        if not lines(place):
            missing["source"] = Absence("added_by_capture")
        if self._values and unwritten_outputs(str(node.target)):
            missing["values"] = Absence("unwritten")
        arguments, absence = self._arguments(node)
        if absence:
            missing["arguments"] = absence
        written = place
        if self._part.is_by_hand(node):
            written = node  # a backward written by hand has lines of its own
        self.nodes[node] = self._builder.add(
            str(node.target),
            "accumulate" if is_accumulation(node) else "op",
            phase,
            scope=self._scope(place),
            source=source(lines(written), self._scenario),
            forward=forward,
            outputs=self._outputs(node),
            arguments=arguments,
            missing=missing,
        )

    def _arguments(self, node: Any) -> PlainArguments:
        """The arguments of an operator, with the numbers in them that the graph computes."""

        def value(operand: Any) -> Any:
            return self._run.get(operand, operand)

        args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), value)
        return operator_arguments(node.target, args, kwargs)

    def _add_given(self, node: Any, phase: Phase) -> None:
        """Add a node for what the graph takes, or has as an attribute."""
        role, key = self._part.roles.get(node, ("", ""))
        kind = KINDS.get(role, "constant")
        self.nodes[node] = self._builder.add(
            kind,
            kind,
            phase,
            name="seed" if role == "tangent" else self._part.leaf_name(key),
            scope=self._scope(node),
            source=source(lines(node), self._scenario),
            outputs=self._outputs(node),
        )

    def _add_forward_results(self, results: list[Any]) -> None:
        before = snapshot(self._part.net)
        roles = self._part.joint.outputs
        count = sum(kind == "output" for kind, _ in roles)
        names = self._part.net.scenario.outputs(count)
        # What is differentiated last is itself a gradient then, which is no output of the net.
        is_nested = Gradient in self._part.joint.wrappers
        for (kind, key), end, value in zip(roles, self._part.ends, results, strict=True):
            if kind == "output" and not is_nested:
                (tensor,) = flat(value)
                self._add_result(names[key], end, tensor, "forward")
            elif kind == "state" and key in before and changed(before[key], value):
                self._add_result(key, end, value, "forward")

    def _add_gradients(self, results: list[Any]) -> None:
        roles = self._part.joint.outputs
        for (kind, key), end, value in zip(roles, self._part.ends, results, strict=True):
            if kind == "gradient" and end is not None:
                name = self._part.leaf_name(key)
                leaf = self.nodes[self._part.leaves[name]]
                self._add_result(f"d{name}", end, value, "backward", leaf=leaf)

    def _add_result(
        self, name: str, end: Any, value: torch.Tensor, phase: Phase, leaf: int | None = None
    ) -> None:
        if isinstance(end, torch.fx.Node):
            node, output = self._part.shown_by(end, self._run)
            slot = self.nodes[node], output
        else:
            outputs = (self._output(value),)
            slot = self._builder.add("constant", "constant", phase, outputs=outputs), 0
        self._builder.add(
            "output",
            "output",
            phase,
            (slot,),
            name=name,
            forward=leaf,
            outputs=(self._output(value),),
        )

    def _add_zeros(self, wanted: list[LeafKey]) -> None:
        """Add zeros for the gradients that the joint graph leaves out.

        The outputs do not depend on the leaves of these.
        """
        present = set()
        for (kind, key), end in zip(self._part.joint.outputs, self._part.ends, strict=True):
            if kind == "gradient" and end is not None:
                present.add(key)
        net = self._part.net
        # By name, for keys are positions as well as names; in the same order at every run.
        for key in sorted(set(wanted) - present, key=str):
            value = net.state[key] if isinstance(key, str) else net.arguments[key]
            name = self._part.leaf_name(key)
            leaf = self.nodes.get(self._part.leaves.get(name))
            nothing = torch.zeros_like(value)
            outputs = (NodeOutputs([nothing], self._values).of(nothing),)
            zeros = self._builder.add(
                "constant", "constant", "backward", forward=leaf, outputs=outputs
            )
            self._builder.add(
                "output",
                "output",
                "backward",
                ((zeros, 0),),
                name=f"d{name}",
                forward=leaf,
                outputs=outputs,
            )

    def _scope(self, node: Any) -> str:
        """The path of the module that a node was called in: "block.conv"."""
        stack = node.meta.get("nn_module_stack")
        if not stack:
            return ""
        path, _ = list(stack.values())[-1]
        # Dynamo of torch 2.13 writes "L['self']._modules['block']._modules['conv']".
        steps = STEP.sub(r".\1", str(path)).removeprefix("L.self").replace("._modules", "")
        modules = steps.lstrip(".").split(".")
        # Each wrapper of the net holds it as "net", which is the last step in the net itself.
        for _ in range(self._part.joint.depth):
            if modules[0] == "net":
                modules = modules[1:] or [""]
        return ".".join(modules)

    def _outputs(self, node: Any) -> tuple[Output, ...]:
        unwritten = unwritten_outputs(str(node.target))
        outputs = []
        for place, tensor in enumerate(tensors_in(self._run[node])):
            outputs.append(self._output(tensor, observed=place not in unwritten))
        return tuple(outputs)

    def _output(self, tensor: torch.Tensor, observed: bool = True) -> Output:
        if observed:
            return self._known.of(tensor)
        return Output(tuple(tensor.shape), dtype_of(tensor))

    # Edges

    def _connect(self) -> None:
        drawn = None
        for node, number in self.nodes.items():
            if node.op != "call_function":
                continue
            for place, operand in enumerate(self._tensor_operands(node)):
                origin, output = self._part.shown_by(operand, self._run)
                self._builder.connect((self.nodes[origin], output), number, place)
            if draws_random_numbers(node.target):
                # Run in another order, two of them would swap their numbers.
                if drawn is not None:
                    self._builder.control(drawn, number)
                drawn = number

    def call_of(self, node: str) -> Call | None:
        """The operator of the node with that id, and what it was called with; None for another node."""
        ids = self._builder.ids()
        for fx_node, number in self.nodes.items():
            if ids.get(number) == node and fx_node.op == "call_function":
                args, kwargs = torch.fx.node.map_arg((fx_node.args, fx_node.kwargs), self._value_of)
                return fx_node.target, args, kwargs
        return None

    def value_of(self, node: str, output: int) -> Any:
        """An output of the node with that id; KeyError where there is none."""
        ids = self._builder.ids()
        for fx_node, number in self.nodes.items():
            if ids.get(number) == node and output < len(tensors_in(self._run.get(fx_node))):
                return tensors_in(self._run[fx_node])[output]
        raise KeyError(node)

    def _value_of(self, fx_node: Any) -> Any:
        """The value of an fx node that an operator reads."""
        return self._part.read(self._run, fx_node)

    def _tensor_operands(self, node: Any) -> list[Any]:
        """The fx nodes among a node's arguments that stand for tensors, from left to right."""
        return [it for it in _operands(node) if isinstance(self._value_of(it), torch.Tensor)]

    # Proofs

    def _recorded(self) -> GraphValues:
        recorded = GraphValues(array_of, copy_of)
        for node, number in self.nodes.items():
            for output, tensor in enumerate(tensors_in(self._run[node])):
                recorded.outputs[number, output] = tensor
            if node.op == "call_function":
                recorded.reruns[number] = self._rerun(node)
        return recorded

    def _rerun(self, node: Any) -> Rerun | Absence:
        inputs = list(dict.fromkeys(self._tensor_operands(node)))
        operands = []
        for operand in inputs:
            origin, output = self._part.shown_by(operand, self._run)
            value = tensors_in(self._run[origin])[output]
            operands.append(Operand((self.nodes[origin], output), value))

        def compute(values: list[torch.Tensor]) -> list[torch.Tensor]:
            given = dict(zip(inputs, values, strict=True))

            def value(operand: Any) -> Any:
                return given[operand] if operand in given else self._value_of(operand)

            args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), value)
            return tensors_in(node.target(*args, **kwargs))

        return rerun(node.target, operands, compute)

    def _count_saved(self) -> None:
        """Give forward nodes the bytes of what backward reads of them, each storage once."""
        fx_nodes = self.fx_nodes()
        nodes = self._builder.nodes
        counted: set[int] = set()
        for (origin, output), target, _ in self._builder.edges():
            if self._builder.edge_kind(origin, target) != "saved":
                continue
            tensors = tensors_in(self._run[fx_nodes[origin]])
            if not tensors:
                continue
            storage = tensors[output].untyped_storage()
            if storage._cdata not in counted:
                counted.add(storage._cdata)
                nodes[origin].saved_bytes += storage.nbytes()


def _tensors(part: JointPart, run: Values, results: list[Any]) -> list[torch.Tensor]:
    """All tensors that nodes may show: what each node of the joint graph made, and the results."""
    tensors: list[torch.Tensor] = []
    for node in part.nodes:
        if node in run:
            tensors += tensors_in(run[node])
    for result in results:
        tensors += tensors_in(result)
    return tensors


def _operands(node: Any) -> list[Any]:
    """The fx nodes among a node's arguments, from left to right."""
    operands: list[Any] = []
    torch.fx.node.map_arg((node.args, node.kwargs), operands.append)
    return operands
