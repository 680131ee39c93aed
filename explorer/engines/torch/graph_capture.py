"""A joint graph, run node by node, as a gradient graph."""

import operator
import re
from collections.abc import Iterable
from typing import Any

import msgspec
import torch

from explorer.engines.capture.summation import sourced
from explorer.engines.torch.joint_graph import Joint
from explorer.engines.torch.net import SEED, Net, array_of, dtype_of
from explorer.engines.torch.source_lines import Line, lines_of, source, told
from explorer.engines.torch.state import changed, snapshot
from explorer.engines.torch.tape_recorder import tensors_in
from explorer.model.graph import Edge, GradGraph, Kind, Node, Output, Phase
from explorer.numeric.summaries import summarise

ACCUMULATION = "Gradient addition node"
"""What AOTAutograd writes into the stack of a sum that gathers the gradients of several uses (torch
2.13).
"""

UNWRITTEN = (
    "no line of the net made it: the capture did, where it nests gradients or sets outputs aside"
)
UNLINKED = "the joint graph gives it no sequence number of a forward operator"
KINDS: dict[str, Kind] = {"input": "input", "parameter": "parameter", "tangent": "constant"}
SHOWN = frozenset({"output", "state"})
"""What a graph shows of a forward's results, whatever is asked of its backward."""

STEP = re.compile(r"\[['\"]?([^'\"\]]+)['\"]?\]")

Slot = tuple[Any, int]
"""An fx node and the number of one of its outputs."""


class JointCapture:
    """The part of a joint graph behind a forward and the ``asked`` gradients, being run and turned
    into nodes and edges.

    ``asked`` holds keys of ``joint.outputs``. ``identity`` maps fx nodes to nodes; picking one of
    several outputs, and autograd's own detached aliases, get none.
    """

    def __init__(
        self,
        joint: Joint,
        net: Net,
        asked: set[Any],
        primals: list[torch.Tensor],
        tangents: list[torch.Tensor],
    ) -> None:
        self.joint = joint
        self.net = net
        self.asked = asked
        every = list(joint.module.graph.nodes)
        placeholders = [node for node in every if node.op == "placeholder"]
        self.given = dict(zip(placeholders, [*primals, *tangents], strict=True))
        self.roles = dict(zip(placeholders, joint.inputs, strict=True))
        ends = zip(joint.outputs, every[-1].args[0], strict=True)
        self.ends = [
            end if kind in SHOWN or (kind == "gradient" and key in asked) else None
            for (kind, key), end in ends
        ]
        inputs = [node for node in placeholders if self.roles[node][0] == "input"]
        needed = _ancestors([*inputs, *(end for end in self.ends if end is not None)])
        self.fx = [node for node in every if node in needed]
        self.phases: dict[Any, Phase] = {
            node: "backward"
            if node.meta.get("partitioner_tag") == "is_backward" or self._by_hand(node)
            else "forward"
            for node in self.fx
        }
        self.identity: dict[Any, str] = {}
        self.nodes: list[Node] = []
        self.edges: dict[tuple[str, str, int, int, str], None] = {}

    # Running

    def run(self, order: Iterable[Any]) -> dict[Any, Any]:
        """The value of every fx node, computed in the given order."""
        made: dict[Any, Any] = {}
        torch.manual_seed(SEED)
        with torch.no_grad():
            for node in order:
                if node.op == "placeholder":
                    made[node] = self.given[node]
                elif node.op == "get_attr":
                    made[node] = operator.attrgetter(node.target)(self.joint.module)
                elif node.op == "call_function" and not _picks(node):
                    args, kwargs = (
                        torch.fx.node.map_arg(part, lambda n: self._read(made, n))
                        for part in (node.args, node.kwargs)
                    )
                    made[node] = node.target(*args, **kwargs)
        return made

    def _read(self, made: dict[Any, Any], node: Any) -> Any:
        if node in made:
            return made[node]
        if _picks(node):
            return self._read(made, node.args[0])[node.args[1]]
        return self._read(made, node.args[0])

    def results(self, made: dict[Any, Any]) -> list[Any]:
        """What the graph module would return, in the order of ``joint.outputs``."""
        return [end if end is None else self._read(made, end) for end in self.ends]

    # Nodes and edges

    def graph(self, case: str, values: bool) -> GradGraph:
        """The record of the graph with its values; without ``values`` just the shapes."""
        self.values = values
        self.made = self.run(self.fx)
        self.owners = self._owners()
        forwards = (
            node
            for node in self.fx
            if node.op == "call_function" and self.phases[node] == "forward"
        )
        self.calls = {
            lines[depth:]: node
            for node in forwards
            for lines in [_callers(node)]
            for depth in range(1, len(lines))
        }
        results, state = self.results(self.made), snapshot(self.net)
        for phase in ("forward", "backward"):
            for node in self.fx:
                if self.phases[node] == phase and not self._hidden(node):
                    self._node(node)
            for (kind, key), end, value in zip(self.joint.outputs, self.ends, results, strict=True):
                if phase == "forward" and kind == "output":
                    self._result(self.net.scenario.outputs(self._count())[key], end, value, phase)
                elif (
                    phase == "forward"
                    and kind == "state"
                    and key in state
                    and changed(state[key], value)
                ):
                    self._result(key, end, value, phase)
                elif phase == "backward" and kind == "gradient" and end is not None:
                    self._result(f"d{self._name(key)}", end, value, phase)
        self._zeros()
        self._edges()
        self._count_saved()
        made = [Edge(a, b, out, into, kind) for a, b, out, into, kind in self.edges]  # type: ignore[arg-type]  # kinds by _edge
        return sourced(
            GradGraph(
                engine="torch-graph",
                case=case,
                stage="joint",
                nodes=tuple(self.nodes),
                edges=tuple(made),
            )
        )

    def _count(self) -> int:
        return sum(kind == "output" for kind, _ in self.joint.outputs)

    def _name(self, key: Any) -> str:
        return key if isinstance(key, str) else list(self.net.inputs)[key]

    def _owners(self) -> dict[int, Any]:
        owners: dict[int, Any] = {}
        for node in self.fx:
            if (
                node.op == "call_function"
                and self.phases[node] == "forward"
                and "seq_nr" in node.meta
            ):
                owners.setdefault(node.meta["seq_nr"], node)
        return owners

    def _hidden(self, node: Any) -> bool:
        if _picks(node):
            return True
        if node.target is not torch.ops.aten.detach.default:
            return False
        read = any(self.phases.get(user) == "forward" for user in node.users)
        return not read and not (_lines(node) and any(user.op == "output" for user in node.users))

    def slot(self, node: Any) -> Slot:
        """The node and output that show the value of an fx node."""
        out = 0
        while node not in self.identity:
            if _picks(node):
                held = self.made[node.args[0]]
                out = sum(item is not None for item in held[: node.args[1]])
            node = node.args[0]
        return node, out

    def _by_hand(self, node: Any) -> bool:
        """Whether a node is from the backward of a custom function, which torch 2.13 leaves without
        a tag in a joint graph.
        """
        return (
            node.op == "call_function"
            and "partitioner_tag" not in node.meta
            and self.joint.differentiates
        )

    def _called_with(self, node: Any) -> Any:
        """The last forward fx node that was called from the same line as a backward written by
        hand, or from around it.
        """
        lines = _callers(node)
        return next(
            (
                self.calls[lines[depth:]]
                for depth in range(len(lines))
                if lines[depth:] in self.calls
            ),
            None,
        )

    def _owner(self, node: Any) -> Any:
        if _accumulates(node):
            return None
        return (
            self._called_with(node)
            if self._by_hand(node)
            else self.owners.get(node.meta.get("seq_nr"))
        )

    def _link(self, node: Any) -> Any:
        """The forward fx node that a backward one derives from: by its sequence number, or as what
        its consumer derives from.
        """
        while node is not None and self.phases[node] == "backward":
            owner = self._owner(node)
            if owner is not None:
                return self.slot(owner)[0]
            gradient = next(
                (
                    key
                    for (kind, key), end in zip(self.joint.outputs, self.ends, strict=True)
                    if end is node
                ),
                None,
            )
            if gradient is not None:
                return self._leaf(self._name(gradient))
            node = next((user for user in node.users if user in self.phases), None)
        return None

    def _leaf(self, name: str) -> Any:
        names = {
            node: key if kind == "parameter" else self._name(key)
            for node, (kind, key) in self.roles.items()
            if kind != "tangent"
        }
        return next((node for node, known in names.items() if known == name), None)

    def _node(self, node: Any) -> None:
        self.identity[node] = f"n{len(self.nodes)}"
        kind: Kind = "accumulate" if _accumulates(node) else "op"
        role, key = self.roles.get(node, ("", ""))
        if node.op != "call_function":
            kind = KINDS.get(role, "constant")
        phase = self.phases[node]
        link = self._link(node) if phase == "backward" and node.op == "call_function" else None
        told = link or node
        missing = {}
        if node.op == "call_function":
            missing = {"forward": UNLINKED} if phase == "backward" and link is None else {}
            missing |= {} if _lines(told) else {"source": UNWRITTEN}
        self.nodes.append(
            Node(
                id=self.identity[node],
                op=str(node.target) if node.op == "call_function" else kind,
                kind=kind,
                phase=phase,
                name="seed" if role == "tangent" else self._name(key) if role else "",
                scope=self._scope(told),
                source=source(
                    _lines(node if self._by_hand(node) else told), self.net.scenario.path
                ),
                forward=None if link is None else self.identity[link],
                order=len(self.nodes),
                outputs=tuple(self._output(tensor) for tensor in tensors_in(self.made[node])),
                missing=missing,
            )
        )

    def _scope(self, node: Any) -> str:
        stack = node.meta.get("nn_module_stack")
        if not stack:
            return ""
        path = (
            STEP.sub(r".\1", str(list(stack.values())[-1][0]))
            .removeprefix("L.self")
            .replace("._modules", "")
        )
        return path.lstrip(".").removeprefix("net." * self.joint.depth)

    def _output(self, tensor: torch.Tensor) -> Output:
        name = dtype_of(tensor)
        return Output(
            tuple(tensor.shape), name, summarise(array_of(tensor), name) if self.values else None
        )

    def _result(self, name: str, end: Any, value: torch.Tensor, phase: Phase) -> None:
        node, out = self.slot(end)
        leaf = self._leaf(name[1:]) if phase == "backward" else None
        linked = None if leaf is None else self.identity[leaf]
        identity, order = f"n{len(self.nodes)}", len(self.nodes)
        shown = (self._output(value),)
        self.nodes.append(
            Node(
                id=identity,
                op="output",
                kind="output",
                phase=phase,
                name=name,
                forward=linked,
                order=order,
                outputs=shown,
            )
        )
        self._edge(self.identity[node], identity, out, 0)

    def _zeros(self) -> None:
        """Add the gradients that the joint graph leaves out, since the outputs do not depend on
        their leaves.
        """
        ends = zip(self.joint.outputs, self.ends, strict=True)
        made = {key for (kind, key), end in ends if kind == "gradient" and end is not None}
        for key in sorted(self.asked - made, key=str):
            leaf = self.net.state[key] if isinstance(key, str) else self.net.arguments[key]
            shown, name = (self._output(torch.zeros_like(leaf)),), self._name(key)
            linked = self.identity.get(self._leaf(name))
            for kind, label in (("constant", ""), ("output", f"d{name}")):
                identity, order = f"n{len(self.nodes)}", len(self.nodes)
                self.nodes.append(
                    Node(
                        id=identity,
                        op=kind,
                        kind=kind,  # type: ignore[arg-type]  # the loop's strings are kinds
                        phase="backward",
                        name=label,
                        forward=linked,
                        order=order,
                        outputs=shown,
                    )
                )
            self._edge(self.nodes[-2].id, self.nodes[-1].id, 0, 0)

    def _edges(self) -> None:
        drawn = None
        for node, identity in self.identity.items():
            if node.op != "call_function":
                continue
            for place, given in enumerate(_nodes_in((node.args, node.kwargs))):
                origin, out = self.slot(given)
                self._edge(self.identity[origin], identity, out, place)
            if torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ()):
                if drawn:
                    self.edges[drawn, identity, 0, 0, "control"] = None
                drawn = identity

    def _edge(self, origin: str, target: str, out: int, into: int) -> None:
        phases = (self.nodes[int(origin[1:])].phase, self.nodes[int(target[1:])].phase)
        self.edges[
            origin, target, out, into, "saved" if phases == ("forward", "backward") else "data"
        ] = None

    def _count_saved(self) -> None:
        """Give every forward value that backward reads the bytes of its storage, each storage once."""
        counted: set[int] = set()
        nodes = {identity: node for node, identity in self.identity.items()}
        for origin, _, out, _, kind in list(self.edges):
            held = tensors_in(self.made[nodes[origin]]) if kind == "saved" else []
            if not held:
                continue
            storage = held[out].untyped_storage()
            if storage._cdata not in counted:
                counted.add(storage._cdata)
                number = int(origin[1:])
                total = self.nodes[number].saved_bytes + storage.nbytes()
                self.nodes[number] = msgspec.structs.replace(self.nodes[number], saved_bytes=total)


def _ancestors(nodes: list[Any]) -> set[Any]:
    found: set[Any] = set()
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting.extend(node.all_input_nodes)
    return found


def _picks(node: Any) -> bool:
    return node.op == "call_function" and node.target is operator.getitem


def _lines(node: Any) -> tuple[Line, ...]:
    return lines_of(node.meta.get("stack_trace") or "")


def _callers(node: Any) -> tuple[Line, ...]:
    """The user's lines on the way to a node, innermost first."""
    return tuple(line for line in _lines(node) if told(line[0]) == "user")


def _accumulates(node: Any) -> bool:
    return ACCUMULATION in (node.meta.get("stack_trace") or "")


def _nodes_in(value: Any) -> list[Any]:
    found: list[Any] = []
    torch.fx.node.map_arg(value, found.append)
    return found
