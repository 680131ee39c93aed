"""MindSpore's tape as a gradient graph: every operator that a recorder saw becomes a node."""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import mindspore as ms
import numpy as np

from explorer.engines.capture.builder import Slot
from explorer.engines.capture.proof import prove
from explorer.engines.mindspore.dispatch import identity_of
from explorer.engines.mindspore.net import array_of, tensor_like
from explorer.engines.mindspore.operator_arguments import call_arguments, takes_more_than_tensors
from explorer.engines.mindspore.operators import (
    differentiated_op,
    plain,
    unwritten_outputs,
)
from explorer.engines.mindspore.proof import (
    Pullback,
    RecordedCall,
    TapeReruns,
    calls_by_node,
)
from explorer.engines.mindspore.source_lines import CallSite
from explorer.engines.mindspore.tape_nodes import SavedBytes, TapeNodes
from explorer.engines.mindspore.tape_tensors import (
    SUMS_AGREE,
    OperatorCall,
    TapeTensor,
    TensorGraph,
    TensorOrigins,
    holds_sum_of,
    on_tape,
)
from explorer.model.graph import Absence, GradGraph, Layer, NodeKind, Phase

TapeEdge = tuple[int | None, int]
"""Where a tape node's gradient goes: the identity of a tape node, and the number of its input."""


PART = "Slice"
"""What indexing does with a tensor that is not on the tape; no operator is announced (2.10.0)."""

WHOLE_BLOCK = "CellCustomBackward"
"""The node of the tape of a block that is computed again, whose backward is that of many operators."""


class TapeCapture:
    """A graph that grows with the events of a recorder, in the order in which they happened.

    ``phase`` is that of the operators that come next; those around the forward belong to backward.
    """

    def __init__(self, values: bool) -> None:
        self.graph = TensorGraph(values)
        self.phase: Phase = "backward"
        self._origins = TensorOrigins()
        self._tape = TapeNodes(self.graph.nodes)
        self._saved = SavedBytes(self.graph.nodes)
        self._running: int | None = None
        self._running_name = ""
        # By name, module and innermost line: a block that is computed again has other callers.
        self._called: dict[tuple[str, str, tuple[str, ...]], deque[int]] = {}
        # By the identity of the tape's node, which is held: another one would get its identity.
        self._views: dict[int, tuple[Any, CallSite]] = {}
        # What the running node of the tape has made, and no operator has read yet.
        self._unread: dict[int, None] = {}
        self._arriving: dict[tuple[int, int], list[Slot]] = {}
        self._targets: dict[Slot, list[int]] = {}
        self._unpacked: list[TapeTensor] = []
        self._leaves: dict[str, int] = {}
        # By the identity of the tape's node and the number of its output.
        self._outputs: dict[tuple[int, int], tuple[Any, Any]] = {}
        self._summands: dict[tuple[int, int], list[Any]] = {}
        self._reruns = TapeReruns(self.graph)
        self._overwritten: dict[Slot, Slot] = {}

    def prove(self, everything: bool) -> None:
        """Call every operator again; see ``explorer.engines.capture.proof``."""
        prove(self.graph, self._reruns.recorded(self._overwritten), everything)

    def calls_of(self, nodes: Iterable[str]) -> dict[str, RecordedCall]:
        """What the operators of the nodes with these ids were called with, as far as it is known."""
        return calls_by_node(self.graph, self._reruns.call_of, nodes)

    def record(self, case: str, layers: Mapping[str, Layer]) -> GradGraph:
        """The record of the graph for the case with that label; lets go of the tensors.

        ``layers`` are those of the net, by path.
        """
        self.graph.let_go()
        return self.graph.record("mindspore-tape", case, "tape", layers=layers)

    # Operators

    def operator_starts(self) -> None:
        """An operator is about to run."""
        self._saved.operator_starts()

    def operator_ran(self, call: OperatorCall, outputs: list[Any], site: CallSite) -> None:
        """An operator has run, which the net called at ``site``."""
        op = call.op
        inputs = tuple(self._origin(operand) for operand in call.operands)
        if self.phase == "forward":
            number = self._forward(call, inputs, outputs, site)
        elif self._running is None and not inputs:
            number = self.graph.add_tensors(op, "constant", "backward", (), outputs, name="seed")
        elif self._running is None:
            number = self._sum(op, inputs, outputs)
        else:
            number = self._computed_in_backward(call, inputs, outputs, site)
            self._note_reading(inputs, number)
        self._note_arguments(number, call)
        self._saved.operator_made(number)
        self._reruns.note_call(number, call, inputs)
        self._origins.note_views(call.op, number, call.operands, outputs)
        self._origins.register(number, outputs)

    def _note_arguments(self, number: int, call: OperatorCall) -> None:
        node = self.graph.nodes[number]
        node.arguments, absence = call_arguments(call.op, call.values, call.primitive)
        if absence:
            node.missing = {**node.missing, "arguments": absence}

    def _note_unannounced(self, number: int, forward: int | None = None) -> None:
        """Note that no operator says what a node takes beside tensors.

        Where it is the gradient of an operator, it is so with that one's arguments.
        """
        node = self.graph.nodes[number]
        if forward is not None and node.op == f"{self.graph.nodes[forward].op}Backward":
            node.arguments = self.graph.nodes[forward].arguments
        elif takes_more_than_tensors(node.op):
            node.missing = {**node.missing, "arguments": Absence("unannounced")}

    def view_taken(self, node: Any, site: CallSite) -> None:
        """A view was taken at ``site`` that no operator announced; ``node`` is its of the tape."""
        self._views[identity_of(node)] = node, site

    def part_taken(self, whole: Any, part: Any, site: CallSite) -> None:
        """A part of a tensor was taken at ``site`` that neither the tape nor an operator knows of."""
        slot = self._origins.slot(whole)
        if slot is None or self._origins.slot(part) is not None:
            return
        scope, source = site
        number = self.graph.add_tensors(
            PART, "op", "forward", (slot,), [part], scope=scope, source=source
        )
        self._note_unannounced(number)
        self._origins.note_part(number, part)

    def _forward(
        self, call: OperatorCall, inputs: tuple[Slot, ...], outputs: list[Any], site: CallSite
    ) -> int:
        scope, source = site
        unwritten = unwritten_outputs(call.op, call.flags)
        number = self.graph.add_tensors(
            call.op, "op", "forward", inputs, outputs, unwritten, scope=scope, source=source
        )
        self._tape.expect(number)
        self._called.setdefault((call.op, scope, source[:1]), deque()).append(number)
        return number

    def _computed_in_backward(
        self, call: OperatorCall, inputs: tuple[Slot, ...], outputs: list[Any], site: CallSite
    ) -> int:
        """A node for an operator of backward.

        One with a line of the user's was called by a block that is computed again, or by the user's
        own backward.
        """
        unwritten = unwritten_outputs(call.op, call.flags)
        again = self._forward_again(call.op, site)
        if again is not None:
            return self._backward(call.op, "op", inputs, outputs, again, unwritten)
        running = self._tape.number(self._running)
        forward = self._of_family(call.op, inputs, running)
        number = self._backward(call.op, "op", inputs, outputs, forward, unwritten)
        if site[1]:
            self.graph.nodes[number].source = site[1]
        return number

    def _forward_again(self, op: str, site: CallSite) -> int | None:
        """The operator of forward that is computed again: the next one of that name and line."""
        waiting = self._called.get((op, site[0], site[1][:1]))
        if not site[1] or not waiting:
            return None
        # A block may be computed again several times.
        number = waiting.popleft()
        waiting.append(number)
        return number

    def _of_family(self, op: str, inputs: tuple[Slot, ...], running: int | None) -> int | None:
        """The node that an operator derives from.

        It is that of the running node of the tape, unless the operator is the gradient of another
        one that it reads: the whole backward of a block that is computed again is one node.
        """
        family = differentiated_op(op)
        linked = self.graph.forward_of(running)
        if not family or linked is None or plain(self.graph.nodes[linked].op) == family:
            return running
        for origin, _ in inputs:
            read = self.graph.forward_of(origin)
            if read is not None and plain(self.graph.nodes[read].op) == family:
                return read
        return running

    def _note_reading(self, inputs: tuple[Slot, ...], number: int) -> None:
        """Note that node ``number``, which the running node of the tape made, has read ``inputs``."""
        for origin, _ in inputs:
            self._unread.pop(origin, None)
        self._unread[number] = None

    def _sum(self, op: str, inputs: tuple[Slot, ...], outputs: list[Any]) -> int:
        """A node for an operator between two tape nodes: it sums gradients that go to one node."""
        target = self._common_target(inputs)
        number = self._backward(op, "accumulate", inputs, outputs, self._tape.number(target))
        if target is not None:
            self._targets[number, 0] = [target]
        return number

    def _common_target(self, addends: tuple[Slot, ...]) -> int | None:
        """The tape node that all addends go to; None where that of none of them is known.

        One gradient may go to several nodes: what reaches a sum reaches both its terms.
        """
        known = [self._targets[slot] for slot in addends if slot in self._targets]
        if not known:
            return None
        first, *others = known
        common = [target for target in first if all(target in targets for targets in others)]
        return (common or first)[-1]

    def _backward(
        self,
        op: str,
        kind: NodeKind,
        inputs: tuple[Slot, ...],
        outputs: list[Any],
        number: int | None,
        unwritten: tuple[int, ...] = (),
    ) -> int:
        """A node of backward, deriving from the forward node that ``number`` is or derives from."""
        linked = self.graph.forward_of(number)
        if linked is None:
            missing = {"forward": Absence("unlinked_on_tape")}
            return self.graph.add_tensors(
                op, kind, "backward", inputs, outputs, unwritten, missing=missing
            )
        forward = self.graph.nodes[linked]
        source = forward.source
        if inputs and not source:
            # It derives from a leaf, which is on no line of the net: what feeds it is.
            source = self.graph.nodes[inputs[0][0]].source
        return self.graph.add_tensors(
            op,
            kind,
            "backward",
            inputs,
            outputs,
            unwritten,
            scope=forward.scope,
            source=source,
            forward=linked,
        )

    def assigned(self, tensor: Any, value: Any) -> Slot:
        """A tensor was assigned the ``value`` of another one: from now on it comes from that slot."""
        slot = self._origin(on_tape(value))
        self._origins.alias(tensor, slot)
        return slot

    # Nodes of the tape

    def gradients_arrive(self, identity: int, name: str, gradients: Sequence[Any]) -> None:
        """A node of the tape is about to run on ``gradients``, one for each of its outputs.

        Gradients that come from several nodes are summed already.
        """
        self._running = None
        for place, gradient in enumerate(gradients):
            if not isinstance(gradient, ms.Tensor) or self._origins.slot(gradient) is not None:
                continue
            # MindSpore sums what arrives from several nodes, and announces no operator (2.10.0).
            addends = tuple(self._arriving.get((identity, place), ()))
            if addends:
                addends += self._seed_of((identity, place), gradient)
                forward = self._tape.number(identity)
                number = self._backward("Add", "accumulate", addends, [gradient], forward)
                self._reruns.note_sum(number, addends)
                self._origins.register(number, [gradient])
            else:
                self._constant(gradient)
        self._running = identity
        self._running_name = name
        self._unread.clear()
        self._unpacked.clear()

    def tape_node_ran(
        self,
        identity: int,
        name: str,
        gradients: dict[int, TapeTensor],
        results: dict[int, TapeTensor],
        edges: list[TapeEdge],
    ) -> None:
        """A node of the tape has run, and its ``results`` go along ``edges``.

        Results that no operator made get a node, which is fed by ``gradients`` and by the saved
        tensors that were unpacked.
        """
        unannounced = {}
        for place, result in results.items():
            if self._origins.slot(result.tensor) is None:
                unannounced[place] = result.tensor
        if unannounced:
            # Some nodes compute what they yield without announcing operators (2.10.0).
            arriving = {place: self._origin(operand) for place, operand in gradients.items()}
            inputs = (*arriving.values(), *map(self._origin, self._unpacked))
            forward = self._tape.number(identity)
            tensors = list(unannounced.values())
            number = self._backward(f"{name}Backward", "op", inputs, tensors, forward)
            self._note_unannounced(number, forward)
            if forward is not None and name != WHOLE_BLOCK:
                pullback = Pullback(forward, arriving, tuple(unannounced))
                self._reruns.note_pullback(number, pullback)
            self._origins.register(number, tensors)
        self._origins.hold(results)
        for place, (child, child_place) in enumerate(edges):
            if child is not None and place in results:
                slot = self._origin(results[place])
                self._arriving.setdefault((child, child_place), []).append(slot)
                self._summands.setdefault((child, child_place), []).append(results[place].tensor)
                self._targets.setdefault(slot, []).append(child)
        self._running = None

    def find_operator(self, node: Any) -> None:
        """Find the operator that made a node of the tape, after those of all later nodes."""
        self._tape.match(node)

    # What is saved for backward

    def saved(self, tensor: Any) -> None:
        """A tensor was saved, during an operator or right after it."""
        self._saved.saved(tensor)

    def unpacked(self, tensor: TapeTensor) -> None:
        """A saved tensor was taken out again."""
        self._unpacked.append(tensor)

    # Leaves and results

    def _add_leaf(self, kind: NodeKind, name: str, tensor: Any) -> None:
        number = self.graph.add_tensors(kind, kind, "forward", (), [tensor], name=name)
        self._leaves[name] = number
        if self._origins.slot(tensor) is None:  # one tensor may be two inputs
            self._origins.register(number, [tensor])

    def leave(self, outputs: list[Any], seeds: Sequence[Any] = ()) -> None:
        """The net, or an inner gradient, has returned ``outputs``.

        ``seeds`` are their cotangents where these are given.
        """
        given = [*seeds, *[None] * len(outputs)]
        for tensor, seed in zip(outputs, given, strict=False):
            output = on_tape(tensor)
            self._origin(output)
            if output.node is not None and not output.node.is_leaf():
                self._outputs[identity_of(output.node), output.output] = tensor, seed

    def _seed_of(self, target: tuple[int, int], gradient: Any) -> tuple[Slot, ...]:
        """The seed of an output of the net, where it is one of the addends of its gradient.

        That of an output which the net reads again is added to what comes from there, and without
        dispatch modes nobody sees it. An output that has_aux leaves out has none.
        """
        if target not in self._outputs:
            return ()
        output, seed = self._outputs[target]
        if seed is None:
            seed = tensor_like(np.ones(output.shape), output.dtype)
        parts = list(map(array_of, (*self._summands[target], seed)))
        if not np.allclose(sum(parts), array_of(gradient), rtol=SUMS_AGREE, atol=0.0):
            return ()
        return (self._constant(seed),)

    def add_gradients(self, names: tuple[str, ...], tensors: list[Any]) -> None:
        """Add nodes for the gradients that the call returned, and read all values."""
        for name, tensor in zip(names, tensors, strict=True):
            leaf = self._leaves.get(name.removeprefix("d"))
            slot = self._origins.slot(tensor) or self._summed_at_leaf(leaf, tensor)
            if slot is None:
                # The outputs do not depend on the leaf: zeros are made when the walk is over.
                slot = self.graph.add_tensors("Zeros", "constant", "backward", (), [tensor]), 0
            self.graph.add_tensors(
                "output", "output", "backward", (slot,), [tensor], name=name, forward=leaf
            )
        self.graph.read_values()

    def _summed_at_leaf(self, leaf: int | None, gradient: Any) -> Slot | None:
        """The slot of the sum of what has arrived at a leaf that several operators read.

        Without dispatch modes nobody sees it (2.8). None where nothing has arrived.
        """
        addends: list[Slot] = []
        for (identity, _), slots in self._arriving.items():
            if self._tape.number(identity) == leaf:
                addends += slots
        if leaf is None or not addends:
            return None
        number = self._backward("Add", "accumulate", tuple(addends), [gradient], leaf)
        self._reruns.note_sum(number, tuple(addends))
        return number, 0

    # Where tensors come from

    def _origin(self, operand: TapeTensor) -> Slot:
        """The slot that a tensor comes from; one that no operator was seen to make gets a node."""
        tensor, node, output = operand
        if node is None:
            return self._origin_off_tape(tensor)
        if node.is_leaf():
            slot = self._origin_off_tape(tensor)
            self._tape.set_leaf(node, slot[0])
            return slot
        known = self._tape.slot(node, output)
        if known is not None:
            return known
        slot = self._origins.slot(tensor) or self._unannounced(node, tensor)
        self._tape.set_slot(node, output, slot)
        return slot

    def _origin_off_tape(self, tensor: Any) -> Slot:
        """The slot of a tensor that no node of the tape has made."""
        slot = self._origins.slot(tensor) or self._origins.copied_view(tensor)
        if slot is None and self._running is not None:
            slot = self._spread(tensor)
        return self._constant(tensor) if slot is None else slot

    def _spread(self, tensor: Any) -> Slot | None:
        """The slot of a gradient in which what the running node has made is spread over zeros.

        The gradients of indexing and of top-k are made so, and no operator is announced (2.10.0).
        None where a tensor is nothing of the kind.
        """
        elements = array_of(tensor)
        if elements.dtype.kind != "f" or elements.size == 1 or elements.all():
            return None
        for number in self._unread:
            made = self.graph.first_output(number)
            if made is None or made.dtype != tensor.dtype:
                continue
            if holds_sum_of(elements, array_of(made)):
                inputs = tuple((other, 0) for other in self._unread)
                forward = self._tape.number(self._running)
                name = f"{self._running_name}Backward"
                spread = self._backward(name, "op", inputs, [tensor], forward)
                self._note_unannounced(spread)
                self._note_reading(inputs, spread)
                self._origins.register(spread, [tensor])
                return spread, 0
        return None

    def _constant(self, tensor: Any) -> Slot:
        is_seed = self.phase == "backward" and self._running is None
        number = self.graph.add_tensors(
            "constant", "constant", self.phase, (), [tensor], name="seed" if is_seed else ""
        )
        self._origins.register(number, [tensor])
        return number, 0

    def _unannounced(self, node: Any, tensor: Any) -> Slot:
        """The slot of a tape node that no operator announced, which gets a node in the graph."""
        # MindSpore copies a view into contiguous memory without an operator (2.10.0).
        makers = self._tape.makers_of_children(node)
        inputs = tuple((maker, 0) for maker in makers)
        number = self.graph.add_tensors(node.name(), "op", self.phase, inputs, [tensor])
        self._note_unannounced(number)
        if makers:
            copy, copied = self.graph.nodes[number], self.graph.nodes[makers[0]]
            copy.scope, copy.source = copied.scope, copied.source
            view = self._tape.unannounced_view(node)
            if view is not None:
                # What is copied is a view of another line, which may have been seen.
                _, site = self._views.get(identity_of(view), (None, (copied.scope, ())))
                copy.scope, copy.source = site
            self._reruns.note_copy(number, inputs[0])
        self._origins.register(number, [tensor])
        return number, 0
