"""The nodes of autograd's tape: which operator made each, which one runs, and what they save."""

import functools
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from explorer.engines.torch.operators import tensors_in
from explorer.engines.torch.tape_records import OperatorRecord, Origin
from explorer.engines.torch.versions import offered

NextFunctions = tuple[tuple[Any, int], ...]
"""The tape nodes that a node's gradients go to, each with the number of the input there."""

LEAF = 2**64 - 1
"""The sequence number of a tape node that accumulates into a leaf (torch 2.13)."""

_is_hooked = offered("is_hooked")
_current_node = torch._C._current_autograd_node
_next_sequence_number = torch.autograd._get_sequence_nr


class Finished:
    """The sequence number of the hooked tape node that ran last in this pass; None before the first.

    The tape holds its hooks, and Python does not see that it does (torch 2.13): were they methods of
    what holds the tape, neither would ever be freed.
    """

    def __init__(self) -> None:
        self.sequence: int | None = None

    def note(self, *_: Any) -> None:
        """Note that the running node has run; a hook of the node."""
        self.sequence = _current_node()._sequence_nr()


class TapeNodes:
    """The nodes of the tape while a net is recorded.

    The recorder reports every operator, and every backward pass before that starts.
    ``origins`` says where a tensor comes from by its ``id``. Nodes are known by their sequence
    numbers, which autograd counts up through the life of the process. ``walked`` are the nodes
    behind all passes so far.
    """

    def __init__(self, records: Sequence[OperatorRecord], origins: Mapping[int, Origin]) -> None:
        self.walked: set[Any] = set()
        self._records = records
        self._origins = origins
        self._first = self._newest = _next_sequence_number() - 1
        # The records of operators that made tape nodes, and beside each the newest node's number.
        self._makers: list[int] = []
        self._made: list[int] = []
        self._running: Any = None
        self._facts: tuple[str, int, Origin | None] = ("", 0, None)
        self._finished = Finished()
        self._feed_leaves: set[Any] = set()
        self._unhooked: list[tuple[Any, NextFunctions]] = []
        self._arrivals: Counter[tuple[Any, int]] = Counter()
        self._saved_storages: set[int] = set()
        self._saved: list[torch.Tensor] = []

    # Operators

    def attribute(self, record: OperatorRecord) -> None:
        """Note the tape node that runs an operator, and the nodes that the operator made.

        ``record`` is the operator's, and the next one to be recorded.
        """
        # Autograd makes an operator's node before it dispatches the operator: a new sequence number
        # is that of the operator at hand. Only the first operator at a number made the node.
        newest = _next_sequence_number() - 1
        if newest > self._newest:
            self._makers.append(len(self._records))
            self._made.append(newest)
            self._newest = newest
        node = _current_node()
        if node is None:
            return
        if node is not self._running:
            self._running = node
            self._facts = self._facts_of(node)
        record.tape, record.sequence, record.leaf = self._facts
        if record.sequence in (LEAF, self._finished.sequence):
            record.kind = "accumulate"

    def _facts_of(self, node: Any) -> tuple[str, int, Origin | None]:
        """The name, the sequence number and the leaf of a tape node, as a record has them."""
        sequence = node._sequence_nr()
        leaf = None
        if sequence == LEAF:
            leaf = self._origins.get(id(node.variable))
        return node.name().removeprefix("torch::autograd::"), sequence, leaf

    @property
    def is_idle(self) -> bool:
        """Whether no node runs."""
        return _current_node() is None

    def feeds_leaf(self, record: OperatorRecord) -> bool:
        """Whether the tape node that runs ``record`` feeds an AccumulateGrad node."""
        return bool(record.tape) and self._running in self._feed_leaves

    def maker(self, sequence: int) -> int | None:
        """The record of the operator that made the tape node of a sequence number.

        It is the last record that had made any node by then; None for a node that is older than the
        recording.
        """
        # Not every node's number is among the makers: CopySlices, which a write through a view
        # makes, sits one below (torch 2.13).
        place = bisect_right(self._made, sequence) - 1
        if place < 0 or sequence <= self._first:
            return None
        return self._makers[place]

    # Backward passes

    def expect_pass(self, heads: list[torch.Tensor]) -> None:
        """Hook the tape behind ``heads``, and count what it saves.

        A backward pass from ``heads`` comes next.
        """
        self._finished.sequence = None
        # Reading a saved tensor runs operators, which are none of the net's.
        with torch.utils._python_dispatch._disable_current_modes():
            fresh = self._walk(heads)
            self._hook_sums(heads, fresh)
            for node, edges in fresh:
                self._count_saved(node)
                for child, _ in edges:
                    if child is not None and child._sequence_nr() == LEAF:
                        self._feed_leaves.add(node)

    def _walk(self, heads: list[torch.Tensor]) -> list[tuple[Any, NextFunctions]]:
        """The nodes behind ``heads`` that were not walked yet, each with its next functions."""
        waiting = [head.grad_fn for head in heads]
        fresh = []
        while waiting:
            node = waiting.pop()
            if node is None or node in self.walked:
                continue
            self.walked.add(node)
            edges = node.next_functions
            fresh.append((node, edges))
            waiting.extend(child for child, _ in edges)
        return fresh

    def _hook_sums(self, heads: list[torch.Tensor], fresh: list[tuple[Any, NextFunctions]]) -> None:
        """Hook every node whose gradients arrive where those of others do.

        The engine sums what arrives at one place from several nodes, right after each of them ran:
        operators between a node's hook and the next node are such sums.
        """
        self._arrivals.update((head.grad_fn, head.output_nr) for head in heads)
        for _, edges in fresh:
            self._arrivals.update(edges)
        self._unhooked += fresh
        unhooked = []
        for node, edges in self._unhooked:
            if any(self._arrivals[edge] > 1 for edge in edges):
                node.register_hook(self._finished.note)
            else:
                unhooked.append((node, edges))
        # A later pass may bring another gradient to where theirs arrive.
        self._unhooked = unhooked

    def _count_saved(self, node: Any) -> None:
        """Add what a tape node keeps to the operator that made it; every storage counts once."""
        maker = None
        if node._sequence_nr() != LEAF:
            maker = self.maker(node._sequence_nr())
        if maker is None:
            return
        for tensor in saved_tensors(node):
            if is_number(tensor):
                continue  # PyTorch does not count these among its saved tensors either
            storage = tensor.untyped_storage()
            if storage._cdata not in self._saved_storages:
                self._saved_storages.add(storage._cdata)
                self._saved.append(tensor)  # held, so that no other storage gets its address
                self._records[maker].saved_bytes += storage.nbytes()


PROBES = {
    torch.int64: torch.int8,
    torch.float64: torch.float16,
    torch.complex128: torch.complex64,
}
"""The dtypes of Python's numbers as tensors, each with a smaller one that a number leaves as it is."""


def is_number(tensor: torch.Tensor) -> bool:
    """Whether a tensor stands for a number of Python's, as the 2 in ``2 * x``."""
    smaller = PROBES.get(tensor.dtype)
    if tensor.dim() or smaller is None:
        return False
    kept: bool = torch.result_type(torch.zeros((), dtype=smaller), tensor) == smaller
    return kept


def saved_tensors(node: Any) -> list[torch.Tensor]:
    """The tensors that a tape node keeps for backward, in the order of its fields.

    ``saved_tensors_hooks`` would see it too, but they switch off the check of versions that makes
    PyTorch refuse a saved tensor that was overwritten (torch 2.13).
    """
    tensors: list[torch.Tensor] = []
    for plain, raw in _saved_fields(node.__class__):
        tensors += tensors_in(_saved_value(node, plain, raw))
    return tensors


@functools.cache
def _saved_fields(kind: Any) -> tuple[tuple[str, str], ...]:
    """The attributes in which a class of tape nodes keeps tensors.

    Of each: as it was saved, and as it is held.
    """
    fields = []
    for raw in dir(kind):
        if raw.startswith("_raw_saved_"):
            plain = raw.removeprefix("_raw")
            # A custom autograd.Function has saved_tensors, without an underscore in front.
            fields.append((plain if hasattr(kind, plain) else plain[1:], raw))
    return tuple(fields)


def _saved_value(node: Any, plain: str, raw: str) -> Any:
    """The content of a node's field; None where it was overwritten since.

    Where a hook has packed it, this is what the hook returned: unpacking may compute it anew.
    """
    try:
        held = getattr(node, raw)
        parts = held if isinstance(held, (tuple, list)) else (held,)
        if any(map(_is_hooked, parts)):
            return [part.data for part in parts]
        return getattr(node, plain)
    except RuntimeError:  # backward itself will raise and say so
        return None
