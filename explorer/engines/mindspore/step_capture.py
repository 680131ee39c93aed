"""The tape of a program's step as a gradient graph, whose leaves are found as the step runs."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import mindspore as ms
import numpy as np

from explorer.engines.capture.builder import Slot
from explorer.engines.capture.proof import GraphValues
from explorer.engines.mindspore.net import HeldTensor, array_of, dtype_of
from explorer.engines.mindspore.optimizer_state import SHARED
from explorer.engines.mindspore.source_lines import CallSite
from explorer.engines.mindspore.state import add_state
from explorer.engines.mindspore.tape_capture import TapeCapture
from explorer.engines.mindspore.tape_tensors import OperatorCall, TapeTensor, on_tape
from explorer.engines.step_names import free_name
from explorer.model.arrays import AnyArray
from explorer.model.graph import Absence, NodeKind
from explorer.model.trace import StartRole
from explorer.scenario.layouts import Layout, torch_name

ADDS = frozenset({"Add", "AddExt", "AddN", "InplaceAddExt", "AssignAdd"})
"""Operators by which a program adds the gradients of several passes."""

STATISTICS = frozenset({"running_mean", "running_var"})
"""Parameters of MindSpore that are buffers in PyTorch, by the last part of their names there."""


class Known:
    """A tensor that the step found: its role, where its values lie in the graph, and its layout."""

    def __init__(
        self, name: str, role: StartRole, tensor: Any, number: int, layout: Layout
    ) -> None:
        self.name = name
        self.role = role
        self.tensor = tensor
        self.number = number
        self.layout = layout


class StepCapture(TapeCapture):
    """A graph that grows with the events of a step; operators behind a pass belong to backward.

    ``known`` has the tensors that the step found, by name, and ``outputs`` the losses and gradients:
    the number of the node of each. ``updates`` has the slots of what optimizers wrote, each with the
    slot that was there before and that of the gradient.
    """

    def __init__(self) -> None:
        super().__init__(values=True)
        self.phase = "forward"
        self.known: dict[str, Known] = {}
        self.outputs: dict[str, int] = {}
        self._by_identity: dict[int, Known] = {}
        self._gradients: dict[str, set[Slot | None]] = {}
        self._read: dict[str, Slot] = {}
        self.updates: dict[Slot, tuple[Slot, Slot]] = {}

    # Leaves

    def add(self, name: str, tensor: Any, role: StartRole, layout: Layout = ()) -> None:
        """Note a tensor that the step did not make, unless it is known."""
        slot = self._slot_of(tensor)
        if id(tensor) in self._by_identity or not self._is_new(tensor, slot):
            return
        name = free_name(name, self.known)
        kind: NodeKind = "input" if role == "input" else "parameter"
        if slot is None:
            self._add_leaf(kind, name, tensor)
            number = self._leaves[name]
        else:
            # An operator has read it before it was known what it is.
            number = self._leaves[name] = slot[0]
            node = self.graph.nodes[number]
            node.kind, node.op, node.name, node.phase = kind, kind, name, "forward"
        self.known[name] = Known(name, role, tensor, number, layout)
        self._by_identity[id(tensor)] = self.known[name]

    def add_held(self, held: Mapping[str, HeldTensor]) -> None:
        """Note what a Cell holds: parameters and buffers."""
        for name, entry in held.items():
            is_statistic = name.rpartition(".")[2] in STATISTICS
            is_buffer = is_statistic or not isinstance(entry.tensor, ms.Parameter)
            self.add(name, entry.tensor, "buffer" if is_buffer else "parameter", entry.layout)

    def name_of(self, tensor: Any) -> str | None:
        """The name of a tensor that the step found."""
        known = self._by_identity.get(id(tensor))
        if known is None:
            slot = self._slot_of(tensor)
            names = [it.name for it in self.known.values() if (it.number, 0) == slot]
            return next(iter(names), None)
        return known.name

    def _slot_of(self, tensor: Any) -> Slot | None:
        return self._origins.slot(tensor)

    def _is_new(self, tensor: Any, slot: Slot | None) -> bool:
        node = on_tape(tensor).node
        if node is not None and not node.is_leaf():
            return False
        return slot is None or self.graph.nodes[slot[0]].kind == "constant"

    def _constant(self, tensor: Any) -> Slot:
        if isinstance(tensor, ms.Parameter):
            self.add(torch_name(tensor.name, "", {}, {}), tensor, "parameter")
            return self.known[self._by_identity[id(tensor)].name].number, 0
        return super()._constant(tensor)

    # Operators

    def operator_ran(self, call: OperatorCall, outputs: list[Any], site: CallSite) -> None:
        """An operator has run, which the program, a Cell or a pass called at ``site``."""
        is_behind = self.phase == "forward" and self._is_behind_a_pass(call.operands)
        read = [self._origins.slot(operand.tensor) for operand in call.operands]
        super().operator_ran(call, outputs, site)
        if is_behind:
            number = len(self.graph.nodes) - 1
            node = self.graph.nodes[number]
            node.phase = "backward"
            node.missing = {**node.missing, "forward": Absence("outside_pass")}
            if node.op in ADDS:
                self._note_sum_of_passes(number, read)

    def compiled_ran(
        self,
        name: str,
        operands: Sequence[TapeTensor],
        outputs: list[Any],
        written: Sequence[Any],
        site: CallSite,
    ) -> None:
        """A compiled function has run: one node, which also yields what it has ``written``."""
        inputs = tuple(map(self._origin, operands))
        phase = self.phase
        is_behind = phase == "forward" and self._is_behind_a_pass(operands)
        scope, source = site
        number = self.graph.add_tensors(
            name,
            "op",
            "backward" if is_behind else phase,
            inputs,
            [*outputs, *written],
            scope=scope,
            source=source,
            missing={"forward": Absence("outside_pass")} if is_behind else {},
        )
        if not is_behind:
            self._tape.expect(number)
        for place, tensor in enumerate(written, len(outputs)):
            self._note_update((number, place), tensor)
        self._origins.register(number, [*outputs, *written])

    def _note_update(self, slot: Slot, tensor: Any) -> None:
        """Note that a compiled optimizer has written a parameter, or what it holds for one."""
        before, known = self._origins.slot(tensor), self._by_identity.get(id(tensor))
        if before is None or known is None:
            return
        parameter = known.name.rpartition(".")[0] if known.role == "optimizer" else known.name
        gradient = self._read.get(f"d{parameter}")
        if gradient is not None:
            self.updates[slot] = before, gradient

    def _is_behind_a_pass(self, operands: Sequence[TapeTensor]) -> bool:
        """Whether an operator that no pass runs reads what one has left: it clips, scales or updates."""
        for operand in operands:
            slot = self._origins.slot(operand.tensor)
            if slot is not None and self.graph.nodes[slot[0]].phase == "backward":
                return True
        return False

    # Results

    def add_loss(self, tensor: Any) -> None:
        """Note a tensor that a pass starts from."""
        slot = self._origin(on_tape(tensor))
        if slot not in self._read.values():
            self._add_result(free_name("loss", self.outputs), slot, tensor)

    def add_gradient(self, leaf: str, tensor: Any) -> None:
        """Note the gradient of a leaf; a later one takes the place of an earlier one."""
        slot = self._origins.slot(tensor)
        if slot is None:
            # The outputs do not depend on the leaf.
            number = self.graph.add_tensors("Zeros", "constant", "backward", (), [tensor])
            self._origins.register(number, [tensor])
            slot = number, 0
        self._gradients.setdefault(leaf, set()).add(slot)
        self._add_result(f"d{leaf}", slot, tensor, leaf)

    def _add_result(self, name: str, slot: Slot, tensor: Any, leaf: str | None = None) -> None:
        if name in self.outputs:
            self.graph.remove(self.outputs[name])
        self._read[name] = slot
        self.outputs[name] = self.graph.add_tensors(
            "output",
            "output",
            self.graph.nodes[slot[0]].phase,
            (slot,),
            [tensor],
            name=name,
            forward=self._leaves.get(leaf) if leaf else None,
        )

    def _note_sum_of_passes(self, number: int, read: Sequence[Slot | None]) -> None:
        """Where a program adds the gradients of one leaf, the sum is its gradient."""
        for leaf, slots in self._gradients.items():
            if slots.issuperset(read):
                self.add_gradient(leaf, self.graph.first_output(number))
                return

    # Noise

    def values(self) -> GraphValues:
        """The recorded values, and how each operator is called again."""
        return self._reruns.recorded({})

    def arguments_of(self, number: int) -> tuple[Any, ...]:
        """What the operator of a node was called with."""
        return self._reruns.arguments_of(number)

    # The state

    def before(self, known: Known) -> AnyArray:
        """The values of a tensor as the step found them."""
        return self.graph.array((known.number, 0))

    def changes(self) -> Iterator[tuple[Known, AnyArray, AnyArray]]:
        """The parameters and buffers that the step has changed, as they were and as they are."""
        for known in self.known.values():
            if known.role == "input" or not self.graph.is_overwritten((known.number, 0)):
                continue
            before, after = self.before(known), array_of(known.tensor)
            if not np.array_equal(before, after, equal_nan=before.dtype.kind in "fc"):
                yield known, before, after.copy()

    def add_state(self) -> None:
        """Add nodes for the parameters and buffers that the step has changed."""
        state: dict[str, AnyArray] = {}
        dtypes = []
        written: dict[str, Slot] = {}
        for known, _, after in self.changes():
            is_shared = known.role != "optimizer" or known.name.rpartition(".")[2] in SHARED
            if after.dtype.kind not in "fc" or not is_shared:
                continue  # a counter is no result
            state[known.name] = after
            dtypes.append(dtype_of(known.tensor))
            slot = self._origins.slot(known.tensor)
            if slot is not None and slot[0] != known.number:
                written[known.name] = slot
        add_state(self.graph, dtypes, state, values=True, assigned=written)
