"""The way back from results that differ, where all ops of a layer may be beside one op on the other side."""

from collections.abc import Callable, Iterator

from explorer.compare.align.backtrace import Backtrace, Origin, ValuePair, Values, observed
from explorer.compare.align.matching import Matching
from explorer.compare.align.provenance import unwrapped
from explorer.compare.align.vertices import OutputValue, Vertex, in_order
from explorer.compare.graphs.view import reach
from explorer.model.graph import Phase, is_users

GIVEN = frozenset({"fill", "expand", "arange", "range", "eye"})
"""Families of ops that make the same numbers whatever a net is given, if they read nothing."""

MOST_OPS = 24
"""Ops in a row of several lines that are compared with another row as one."""


class LayerBacktrace(Backtrace):
    """Goes back by whole layers too: by all ops of a module, or of one call of a function.

    What is made of constants alone, such as a mask, is not where graphs differ.
    """

    def __init__(
        self, matching: Matching, phase: Phase, is_settled: Callable[[Vertex], bool]
    ) -> None:
        super().__init__(matching, phase, is_settled)
        self._of_leaves: dict[Vertex, bool] = {}

    def _may_differ(self, node: Vertex) -> bool:
        return super()._may_differ(node) and self._is_of_leaves(node)

    def _is_of_leaves(self, node: Vertex) -> bool:
        """Whether a node computes from a leaf, or from what has no record of what it reads."""
        if node not in self._of_leaves:
            behind = reach([node], lambda it: it.feeders)
            self._of_leaves[node] = not all(it.feeders or _is_made_of_nothing(it) for it in behind)
        return self._of_leaves[node]

    def _read_by_one_layer(self, first: Vertex, second: Vertex) -> ValuePair | None:
        """What a layer reads on both sides, beside its parameters.

        One side may have one op for it, and the other all ops of a call of a function.
        """
        read, other_read = _read_by_call(first), _read_by_call(second)
        leaves, other_leaves = _leaves(read), _leaves(other_read)
        if not leaves or leaves != {leaf.counterpart for leaf in other_leaves}:
            return None
        left, right = self._unsettled(read), self._unsettled(other_read)
        if len(left) == len(right) == 1 and left[0].size == right[0].size:
            return left[0], right[0]
        return None

    def _terms_of_layers(self, first: OutputValue, second: OutputValue) -> list[ValuePair]:
        """The terms of two sums that differ, in their order, where there are as many.

        What a layer makes is one term, whether it adds its bias in an op of its own or not.
        """
        left, right = self._left_over(
            self._terms(first, _adds_a_parameter), self._terms(second, _adds_a_parameter)
        )
        if len(left) != len(right) or [left, right] == [[first], [second]]:
            return []
        return list(zip(left, right, strict=True))

    def _from_what_is_known(self, first: Vertex, second: Vertex) -> Iterator[Origin]:
        """Two rows of ops, of several lines, that lead from the same known values."""
        row, read = self._way(first)
        other_row, other_read = self._way(second)
        if max(len(row), len(other_row)) > MOST_OPS:
            return
        known, other_known = _known(read), _known(other_read)
        if known and known == {node.counterpart for node in other_known}:
            yield from observed(row, other_row)

    def _way(self, last: Vertex) -> tuple[list[Vertex], Values]:
        """All ops that lead to one from what is known, and what they read of that."""
        row = reach([last], lambda it: [read.node for read in self._unsettled(it.inputs)])
        outside = [value for node in row for value in node.inputs if value.node not in row]
        computing = [node for node in in_order(row) if node.main and not node.is_bookkeeping]
        return computing or [last], outside


def _known(values: Values) -> set[Vertex]:
    """What both sides have of some values."""
    origins = {unwrapped(value).node.origin for value in values}
    return {node for node in origins if node.counterpart is not None}


def _read_by_call(last: Vertex) -> Values:
    """What the ops read that lead to one in its module and in the call that makes it."""
    row = reach([last], lambda it: [read for read in it.feeders if _is_of_one_call(read, last)])
    outside: dict[tuple[Vertex, int], OutputValue] = {}
    for node in in_order(row):
        for value in node.inputs:
            if value.node not in row:
                passed = unwrapped(value)
                outside[passed.node, passed.output] = passed
    return list(outside.values())


def _is_of_one_call(node: Vertex, last: Vertex) -> bool:
    """Whether two ops are of one module, and of one call of one function where there are no modules."""
    if not node.is_work or node.phase != last.phase or node.scope != last.scope:
        return False
    return _calls(node) == _calls(last)


def _calls(node: Vertex) -> list[str]:
    """The user's lines that call the one on which a node stands."""
    return [line for line in node.record.source[1:] if is_users(line)]


def _adds_a_parameter(node: Vertex) -> bool:
    return bool(_leaves(list(map(unwrapped, node.inputs))))


def _leaves(values: Values) -> set[Vertex]:
    return {value.node for value in values if value.node.kind == "parameter"}


def _is_made_of_nothing(node: Vertex) -> bool:
    """Whether a node that reads nothing is the same whatever a net is given: numbers in a row, ones."""
    return node.kind == "constant" or node.family in GIVEN
