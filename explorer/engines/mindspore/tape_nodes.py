"""The nodes of MindSpore's tape, the nodes of the graph that stand for them, and the bytes that they save."""

from bisect import bisect_left, insort
from collections import deque
from typing import Any

from explorer.engines.capture.builder import NodeDraft, Slot
from explorer.engines.mindspore.dispatch import identity_of

COPY = "Contiguous"
"""The operator that copies a view into contiguous memory; nobody announces it (2.10.0)."""


class TapeNodes:
    """Which node of the graph made each node of the tape.

    Tape nodes are known by their identity: it is the same however often MindSpore wraps a node
    (2.10.0).
    """

    def __init__(self, nodes: list[NodeDraft]) -> None:
        self._nodes = nodes
        self._numbers: dict[int, int] = {}
        self._slots: dict[tuple[int, int], Slot] = {}
        self._sequence: list[tuple[int, int]] = []
        self._unclaimed: dict[str, deque[int]] = {}

    def number(self, identity: int | None) -> int | None:
        """The node of the graph that stands for a tape node; None where that is not known."""
        return None if identity is None else self._numbers.get(identity)

    def slot(self, node: Any, output: int) -> Slot | None:
        """The slot of an output of a tape node."""
        return self._slots.get((identity_of(node), output))

    def set_slot(self, node: Any, output: int, slot: Slot) -> None:
        """Note the slot of an output of a tape node, which stands for that node from now on."""
        self._slots[identity_of(node), output] = slot
        self._claim(node, slot[0])

    def set_leaf(self, node: Any, number: int) -> None:
        """Note that a tape node accumulates into a leaf."""
        self._numbers.setdefault(identity_of(node), number)

    def expect(self, number: int) -> None:
        """Note that a node of the graph has run, whose node of the tape has still to be found."""
        self._unclaimed.setdefault(self._nodes[number].op, deque()).append(number)

    def makers_of_children(self, node: Any) -> list[int]:
        """The nodes of the graph that stand for those to which a tape node hands its gradients.

        Indexing takes several views, none of which MindSpore announces (2.10.0): those that nothing
        stands for are passed over, and the nodes behind them count.
        """
        makers = []
        waiting = [node]
        while waiting:
            for child, _ in waiting.pop().next_functions:
                if child is None:
                    continue
                self.match(child)
                maker = self.number(identity_of(child))
                if maker is not None:
                    makers.append(maker)
                elif not child.is_leaf():
                    waiting.append(child)
        return makers

    def unannounced_view(self, node: Any) -> Any:
        """The tape's node of the view that no operator announced: ``node``, or what it copies.

        None where a copy is that of an operator's output.
        """
        if node.name() != COPY:
            return node
        view, _ = node.next_functions[0]
        if view is None or view.is_leaf() or self.number(identity_of(view)) is not None:
            return None
        return view

    def match(self, node: Any) -> None:
        """Find the operator of a tape node whose tensor no other operator read.

        It is the first of that name between the operators of the node's neighbours on the tape.
        """
        unclaimed = self._unclaimed.get(node.name())
        if identity_of(node) in self._numbers or not unclaimed:
            return
        low, high = self._neighbours(node)
        for number in unclaimed:
            if low < number < high:
                self._claim(node, number)
                return

    def _neighbours(self, node: Any) -> tuple[int, int]:
        """The numbers between which the operator of a tape node lies."""
        # Sequence numbers of the tape go up as operators run, and so do numbers in the graph.
        place = bisect_left(self._sequence, (node._sequence_nr(),))
        low, high = -1, len(self._nodes)
        if place > 0:
            low = self._sequence[place - 1][1]
        if place < len(self._sequence):
            high = self._sequence[place][1]
        return low, high

    def _claim(self, node: Any, number: int) -> None:
        if identity_of(node) in self._numbers:
            return
        self._numbers[identity_of(node)] = number
        insort(self._sequence, (node._sequence_nr(), number))
        unclaimed = self._unclaimed.get(self._nodes[number].op)
        if unclaimed and number in unclaimed:
            unclaimed.remove(number)


def inner_nodes(roots: list[Any], known: dict[int, Any]) -> list[Any]:
    """The inner nodes of a tape that are not ``known`` by their identity yet, latest first."""
    # Not by recursion, since a tape may be ten thousand nodes deep.
    fresh: dict[int, Any] = {}
    waiting = [root for root in roots if root is not None]
    while waiting:
        node = waiting.pop()
        identity = identity_of(node)
        if identity in fresh or identity in known or node.is_leaf():
            continue
        fresh[identity] = node
        waiting.extend(child for child, _ in node.next_functions if child is not None)
    return sorted(fresh.values(), key=lambda node: -int(node._sequence_nr()))


class SavedBytes:
    """Counts saved bytes by operator: every storage once, for the operator that saved it first."""

    def __init__(self, nodes: list[NodeDraft]) -> None:
        self._nodes = nodes
        self._storages: set[int] = set()
        self._last: int | None = None
        self._unowned = 0

    def operator_starts(self) -> None:
        """An operator starts: tensors that are saved from now on are its own."""
        self._last = None

    def operator_made(self, number: int) -> None:
        """The operator that has started last is node ``number``."""
        self._last = number
        # What was saved while the operator ran, before its node was known, is its own.
        if self._unowned:
            self._nodes[number].saved_bytes = self._unowned
            self._unowned = 0

    def saved(self, tensor: Any) -> None:
        """Count a tensor that was saved, during an operator or right after it."""
        address = tensor.data_ptr()
        if address in self._storages:
            return
        self._storages.add(address)
        if self._last is None:
            self._unowned += int(tensor.nbytes)
        else:
            self._nodes[self._last].saved_bytes += int(tensor.nbytes)
