"""MindSpore's tape while it is recorded and walked back: every operator of forward and backward
becomes a node.

One dispatch mode sees the operators, hooks on the tape's nodes say which of them runs backward.
Tensors are known by where their data lie: all of them are kept alive until the end, so that no
place is used twice. To ask where they lie is to wait for them, and MindSpore computes behind the
program's back: so what happens is only noted, and made into nodes when a pass is over.
"""

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

import mindspore as ms
from mindspore.utils.ms_dispatch import MsDispatchMode

from explorer.engines.mindspore.draft import UNWRITTEN, UNWRITTEN_REASON, Draft, Slot, shapes
from explorer.engines.mindspore.net import Net, array_of
from explorer.engines.mindspore.source_lines import Places
from explorer.engines.mindspore.state import moved, results, snapshot
from explorer.engines.mindspore.tape_tensors import Key, Seen, inner_nodes, key, seen, tensors_in
from explorer.engines.mindspore.tape_values import READ, STATISTICS, Values, writes
from explorer.model.graph import Kind, Phase


class Recorder(MsDispatchMode):  # type: ignore[misc]  # mindspore ships no types
    """Records one gradient computation of one net; use ``watch`` around the net, run, then read
    ``draft``.
    """

    def __init__(self, net: Net, values: bool) -> None:
        self.draft = Draft()
        self.values = Values(values)
        self.net = net
        self.places = Places(net.call)
        self.phase: Phase = "backward"
        self.start = snapshot(net)
        self.events: list[Callable[[], None]] = []
        self.made: dict[Key, Slot] = {}
        self.leaves: dict[str, int] = {}
        self.by_tensor: dict[tuple[int, int], Slot] = {}
        self.by_tape: dict[int, int] = {}
        self.sequence: list[tuple[int, int]] = []
        self.unclaimed: dict[str, deque[int]] = {}
        self.hooked: dict[int, Any] = {}
        self.running: int | None = None
        self.flows: dict[tuple[int, int], list[Slot]] = {}
        self.toward: dict[Slot, int] = {}
        self.viewed: dict[tuple[tuple[int, ...], Any], list[tuple[Slot, Any]]] = {}
        self.used: list[Seen] = []
        self.kept: list[Any] = []
        self.looking = False
        self.storages: set[int] = set()
        self.last: int | None = None
        self.unowned = 0
        self._leaves()

    def close(self) -> None:
        """Let go of the tensors; hooks inside MindSpore keep the recorder itself alive."""
        for held in (
            self.kept,
            self.made,
            self.by_tensor,
            self.hooked,
            self.flows,
            self.viewed,
            self.used,
        ):
            held.clear()
        self.values, self.events = Values(False), []

    def settle(self) -> None:
        """Make nodes of what was noted."""
        before, self.looking = (
            self.looking,
            True,
        )  # reading a bfloat16 tensor casts it, which is none of the net's business
        events, self.events = self.events, []
        for event in events:
            event()
        self.looking = before

    # Forward and backward operators

    def __ms_dispatch__(
        self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None
    ) -> Any:
        if self.looking:
            return func(*args, **(kwargs or {}))
        given = [
            seen(tensor)
            for tensor in tensors_in(
                args[2] if args and isinstance(args[0], ms.ops.Primitive) else args
            )
        ]
        told = self.places.here(__file__) if self.phase == "forward" else ("", ())
        if self.values.wanted:
            self._spare(func.name, [each.tensor for each in given])
        self.events.append(self._starts)
        result = func(*args, **(kwargs or {}))
        outputs = list(tensors_in((result,)))
        if outputs:
            self.events.append(partial(self._ran, func.name, given, outputs, told))
            self.kept.append((args, result))
        return result

    def _spare(self, op: str, given: list[Any]) -> None:
        """Read what an operator is about to overwrite, unless that was read at the start and
        nothing has looked at it since.
        """
        written = writes(op)
        if written and not all(tensor._get_user_data(READ) for tensor in given[written]):
            self.settle()
            self.values.freeze(given[written])
        for tensor in () if op in STATISTICS else given:
            if tensor._get_user_data(READ):
                tensor._set_user_data(READ, False)

    def _starts(self) -> None:
        self.last = None

    def _ran(
        self, name: str, given: list[Seen], outputs: list[Any], told: tuple[str, tuple[str, ...]]
    ) -> None:
        number = self._operator(name, tuple(self._origin(each) for each in given), outputs, told)
        self._views(number, given, outputs)
        self._register(number, outputs)

    def _add(
        self,
        op: str,
        kind: Kind,
        phase: Phase,
        inputs: tuple[Slot | None, ...],
        tensors: list[Any],
        **rest: Any,
    ) -> int:
        """A new node that yields ``tensors``."""
        number = self.draft.add(op, kind, phase, inputs, outputs=shapes(tensors), **rest)
        self.values.hold(number, tensors, UNWRITTEN.get(op, ()))
        return number

    def _operator(
        self,
        name: str,
        inputs: tuple[Slot, ...],
        outputs: list[Any],
        told: tuple[str, tuple[str, ...]],
    ) -> int:
        if self.phase == "forward":
            missing = (
                {"values": UNWRITTEN_REASON} if self.values.wanted and name in UNWRITTEN else {}
            )
            number = self._add(
                name,
                "op",
                "forward",
                inputs,
                outputs,
                scope=told[0],
                source=told[1],
                missing=missing,
            )
            self.unclaimed.setdefault(name, deque()).append(number)
        elif self.running is None and not inputs:
            number = self._add(name, "constant", "backward", (), outputs, name="seed")
        else:
            number = self._backward(name, inputs, outputs)
        self.last = number
        if self.unowned:
            self.draft.saved[number] = self.unowned
            self.unowned = 0
        return number

    def _backward(self, name: str, inputs: tuple[Slot, ...], outputs: list[Any]) -> int:
        if self.running is not None:
            return self._derived(name, "op", inputs, outputs, self.by_tape.get(self.running))
        target = next((self.toward[slot] for slot in inputs if slot in self.toward), None)
        number = self._derived(
            name,
            "accumulate",
            inputs,
            outputs,
            None if target is None else self.by_tape.get(target),
        )
        if target is not None:
            self.toward[number, 0] = target
        return number

    def _derived(
        self,
        name: str,
        kind: Kind,
        inputs: tuple[Slot, ...],
        outputs: list[Any],
        origin: int | None,
    ) -> int:
        linked = self.draft.forward_of(origin)
        where: dict[str, Any] = {
            "missing": {"forward": "the tape does not say what this derives from"}
        }
        if linked is not None:
            forward = self.draft.nodes[linked]
            told = forward if forward.source or not inputs else self.draft.nodes[inputs[0][0]]
            where = {"scope": told.scope, "source": told.source, "forward": linked}
        return self._add(name, kind, "backward", inputs, outputs, **where)

    # Tensors and where they come from

    def _leaves(self) -> None:
        leaves: list[tuple[Kind, str, Any]] = [
            ("input", name, tensor) for name, tensor in self.net.inputs.items()
        ]
        leaves += [
            ("parameter", name, parameter) for name, parameter in self.net.parameters.items()
        ]
        for kind, name, tensor in leaves:
            number = self.leaves[name] = self._add(kind, kind, "forward", (), [tensor], name=name)
            if name in self.start:
                self.values.know(number, self.start[name])
                tensor._set_user_data(READ, True)
            self.made.setdefault(key(tensor), (number, 0))
            self.kept.append(tensor)

    def _register(self, number: int, tensors: list[Any]) -> None:
        for slot, tensor in enumerate(tensors):
            self.made[key(tensor)] = (number, slot)

    def _origin(self, given: Seen) -> Slot:
        """The slot that a tensor comes from; one never seen before is a constant, or of a tape node
        without an operator.
        """
        tensor, node, output = given
        if node is None or node.is_leaf():
            slot = self.made.get(key(tensor)) or self._copied(tensor) or self._constant(tensor)
            if node is not None:
                self.by_tape.setdefault(node._unique_id(), slot[0])
            return slot
        identity = (node._unique_id(), output)
        slot = (
            self.by_tensor.get(identity) or self.made.get(key(tensor)) or self._unseen(node, tensor)
        )
        if identity not in self.by_tensor:
            self.by_tensor[identity] = slot
            self._claim(node, slot[0])
        return slot

    def _views(self, number: int, given: list[Seen], outputs: list[Any]) -> None:
        places = {each.tensor.data_ptr() for each in given}
        for slot, tensor in enumerate(outputs):
            if tensor.data_ptr() in places:
                self.viewed.setdefault(key(tensor)[1:], []).append(((number, slot), tensor))

    def _copied(self, tensor: Any) -> Slot | None:
        """The view that a tensor is a contiguous copy of: MindSpore copies on the way to a kernel,
        unannounced.
        """
        slot: Slot
        for slot, view in reversed(self.viewed.get(key(tensor)[1:], ())):
            if array_of(view).tobytes() == array_of(tensor).tobytes():
                self.made[key(tensor)] = slot
                self.kept.append(tensor)
                return slot
        return None

    def _constant(self, tensor: Any) -> Slot:
        name = "seed" if self.phase == "backward" and self.running is None else ""
        number = self._add("constant", "constant", self.phase, (), [tensor], name=name)
        self._register(number, [tensor])
        self.kept.append(tensor)
        return number, 0

    def _claim(self, node: Any, number: int) -> None:
        if node._unique_id() in self.by_tape:
            return
        self.by_tape[node._unique_id()] = number
        insort(self.sequence, (node._sequence_nr(), number))
        waiting = self.unclaimed.get(self.draft.nodes[number].op)
        if waiting and number in waiting:
            waiting.remove(number)

    def _unseen(self, node: Any, tensor: Any) -> Slot:
        """A node for a tape node that no operator announced (MindSpore copies a view into
        contiguous memory without one).
        """
        children = [child for child, _ in node.next_functions if child is not None]
        for child in children:
            self._match(child)
        inputs = tuple(
            (self.by_tape[child._unique_id()], 0)
            for child in children
            if child._unique_id() in self.by_tape
        )
        nearest = self.draft.nodes[inputs[0][0]] if inputs else None
        where = {"scope": nearest.scope, "source": nearest.source} if nearest else {}
        number = self._add(node.name(), "op", self.phase, inputs, [tensor], **where)
        self._register(number, [tensor])
        self.kept.append(tensor)
        return number, 0

    def _match(self, node: Any) -> None:
        """Find the operator of a tape node whose tensor nobody used: the first of its name between
        its neighbours on the tape.
        """
        waiting = self.unclaimed.get(node.name())
        if node._unique_id() in self.by_tape or not waiting:
            return
        place = bisect_left(self.sequence, (node._sequence_nr(),))
        low = self.sequence[place - 1][1] if place else -1
        high = self.sequence[place][1] if place < len(self.sequence) else len(self.draft.nodes)
        number = next((number for number in waiting if low < number < high), None)
        if number is not None:
            self._claim(node, number)

    # The net, and the tape that it leaves behind

    def watch(self, call: Any, phase: Phase) -> Callable[..., Any]:
        """``call`` as a function that also hooks the tape it leaves; operators inside belong to
        ``phase``.
        """

        def watched(*arguments: Any) -> Any:
            self.settle()
            for tensor, given in zip(self.net.inputs.values(), arguments, strict=True):
                self.made[key(given)] = self.made[key(tensor)]
                self._origin(seen(given))
            before, self.phase = self.phase, phase
            outputs = call(*arguments)
            self.settle()
            self.phase = before
            self._hook(list(tensors_in((outputs,))))
            if phase == "forward":
                self._forward_outputs(list(tensors_in((outputs,))))
            return outputs

        return watched

    def _forward_outputs(self, outputs: list[Any]) -> None:
        for name, tensor in zip(self.net.scenario.outputs(len(outputs)), outputs, strict=True):
            origin = self._origin(seen(tensor))
            self._add("output", "output", "forward", (origin,), [tensor], name=name)
        self.looking = True
        results(self.draft, self.net, moved(self.net, self.start), self.values.wanted)
        self.looking = False

    def _hook(self, outputs: list[Any]) -> None:
        for tensor in outputs:
            self._origin(seen(tensor))
        for node in inner_nodes([tensor._grad_node for tensor in outputs], self.hooked):
            self._match(node)
            identity = node._unique_id()
            self.hooked[identity] = node
            edges = [(child and child._unique_id(), slot) for child, slot in node.next_functions]
            node.register_prehook(self._before(identity))
            node.register_hook(self._after(identity, node.name(), edges))

    def _before(self, identity: int) -> Callable[[Any], None]:
        def arrives(gradients: Any) -> None:
            self.events.append(partial(self._arrived, identity, gradients))

        return arrives

    def _arrived(self, identity: int, gradients: Any) -> None:
        self.running = None
        for slot, gradient in enumerate(gradients):
            if isinstance(gradient, ms.Tensor) and key(gradient) not in self.made:
                parts = tuple(self.flows.get((identity, slot), ()))
                if parts:
                    number = self._derived(
                        "Add", "accumulate", parts, [gradient], self.by_tape.get(identity)
                    )
                    self._register(number, [gradient])
                    self.kept.append(gradient)
                else:
                    self._constant(gradient)
        self.running = identity
        self.used.clear()

    def _after(
        self, identity: int, name: str, edges: list[tuple[int | None, int]]
    ) -> Callable[[Any, Any], None]:
        def leaves(results: Any, gradients: Any) -> None:
            made, given = (
                [seen(each) for each in part if isinstance(each, ms.Tensor)]
                for part in (results, gradients)
            )
            ends = [
                end
                for end, result in zip(edges, results, strict=False)
                if isinstance(result, ms.Tensor)
            ]
            self.events.append(partial(self._left, identity, name, made, given, ends))

        return leaves

    def _left(
        self,
        identity: int,
        name: str,
        made: list[Seen],
        given: list[Seen],
        ends: list[tuple[int | None, int]],
    ) -> None:
        """A tape node has run: what it made was announced by its operators, or is theirs together."""
        unannounced = [each.tensor for each in made if key(each.tensor) not in self.made]
        if unannounced:
            arrived = tuple(self._origin(each) for each in (*given, *self.used))
            number = self._derived(
                f"{name}Backward", "op", arrived, unannounced, self.by_tape.get(identity)
            )
            self._register(number, unannounced)
        self.kept.append(made)
        for (child, slot), each in zip(ends, made, strict=False):
            if child is not None:
                origin = self._origin(each)
                self.flows.setdefault((child, slot), []).append(origin)
                self.toward[origin] = child
        self.running = None

    # What is kept for backward, and what comes out

    def keep(self, tensor: Any) -> Any:
        """The hook of saved tensors, called during an operator or right after: counts a storage
        once, for its first saver.
        """
        self.events.append(partial(self._saved, tensor))
        return tensor

    def _saved(self, tensor: Any) -> None:
        place = tensor.data_ptr()
        if place not in self.storages:
            self.storages.add(place)
            if self.last is None:
                self.unowned += int(tensor.nbytes)
            else:
                self.draft.saved[self.last] = self.draft.saved.get(self.last, 0) + int(
                    tensor.nbytes
                )

    def use(self, tensor: Any) -> Any:
        """The hook of saved tensors as they are taken out again."""
        if isinstance(tensor, ms.Tensor):
            self.events.append(partial(self.used.append, seen(tensor)))
        return tensor

    def gradients(self, names: tuple[str, ...], tensors: list[Any]) -> None:
        """Output nodes of the gradients that the call returned, and with them the end."""
        self.settle()
        for name, tensor in zip(names, tensors, strict=True):
            slot = self.made.get(key(tensor))
            if slot is None:
                slot = self._add("Zeros", "constant", "backward", (), [tensor]), 0
            linked = self.leaves.get(name.removeprefix("d"))
            self._add("output", "output", "backward", (slot,), [tensor], name=name, forward=linked)
        self.looking = True
        self.values.fill(self.draft)
        self.looking = False
