"""The way back from results that differ, on both sides in step, to the ops where they first do."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from explorer.compare.align.contrasts import FoundDivergence
from explorer.compare.align.one_sided import extra_ops, is_rest, term_left_out
from explorer.compare.align.provenance import (
    are_known_equal,
    is_nothing,
    left_over,
    read_by_call,
    read_from_outside,
    terms,
    unwrapped,
    unwrapping,
)
from explorer.compare.align.sameness import are_one
from explorer.compare.align.suspects import Search, is_settled, same_work
from explorer.compare.align.two_rows import two_rows
from explorer.compare.align.vertices import OutputValue, Vertex, in_order, span
from explorer.compare.graphs.view import reach
from explorer.operators.table import TRIED

MOST_STEPS = 20_000
"""Pairs of values that are looked at on the way back."""

MOST_OPS = 24
"""Ops in a row of several lines that are compared with another row as one."""

GIVEN = frozenset({"fill", "expand", "arange", "range", "eye"})
"""Families of ops that make the same numbers whatever a net is given, if they read nothing."""

Values = list[OutputValue]


class Origin(NamedTuple):
    """Ops where two values that should be one begin to differ, and what makes a divergence of them.

    One ``is_left_out`` where it is a gradient that one side adds, and the other does not.
    """

    nodes: Sequence[Vertex]
    found: Callable[[], FoundDivergence]
    is_left_out: bool = False


def from_backtrace(search: Search, *, by_layers: bool = False) -> Iterator[FoundDivergence]:
    """The places that the way back from results leads to on both sides, earliest first.

    Before them come gradients that one side leaves out, which change all that follows, also in ops that
    differ.
    """
    origins = Backtrace(search, by_layers).origins()
    for origin in sorted(origins, key=lambda it: (not it.is_left_out, span(it.nodes))):
        yield origin.found()


def _left_out(total: Vertex, term: Vertex, rest: Vertex) -> Origin:
    """A sum of one side, a term of it that the other leaves out, and what that has instead."""
    return Origin([total], partial(term_left_out, total, term, rest), total.phase == "backward")


class Backtrace:
    """Goes back from pairs of values that should be equal through what both sides have in common.

    Of two sums the terms that agree are left out, and of two ops of a kind the inputs that agree:
    what is left should be equal too. Where nothing is left, the two ops themselves differ.

    With ``by_layers`` it goes back by whole layers too: by all ops of a module, or of one call of a
    function, that may be beside one op on the other side. Then what is made of constants alone, such
    as a mask, is not where graphs differ.
    """

    def __init__(self, search: Search, by_layers: bool) -> None:
        self._phase = search.phase
        self._by_layers = by_layers
        self._seen: set[tuple[Vertex, Vertex]] = set()
        # The first result comes first: what is put in last is taken first.
        self._waiting = [
            (mismatch.first.inputs[0], mismatch.second.inputs[0])
            for mismatch in reversed(search.results)
            if mismatch.first.inputs and mismatch.second.inputs
        ]
        self._of_leaves: dict[Vertex, bool] = {}

    def origins(self) -> Iterator[Origin]:
        """Where results begin to differ; nothing for those of which that cannot be told."""
        while self._waiting and len(self._seen) < MOST_STEPS:
            yield from self._step(*self._waiting.pop())

    def _step(self, first_end: OutputValue, second_end: OutputValue) -> Iterator[Origin]:
        """Goes back by one op on both sides, or finds that they differ here."""
        way, other_way = unwrapping(first_end), unwrapping(second_end)
        first, second = way[-1], other_way[-1]
        pair = first.node, second.node
        if pair in self._seen:
            return
        self._seen.add(pair)
        if are_one(first, second):
            # Steps may pass on equal numbers in another order or shape on the two sides.
            row, other_row = ([it.node for it in steps[-2::-1]] for steps in (way, other_way))
            if first_end.agrees(second_end) is False and row and other_row:
                yield self._rows_apart(row, other_row)
        elif is_nothing(first) or is_nothing(second):
            yield from self._sums(first, second)
        elif not (self._is_in_place(*pair) and self._is_in_place(*pair[::-1])):
            yield from self._beside_known(first, second)
        elif self._by_layers and self._goes_back_by_a_layer(*pair):
            pass
        elif "add" in (first.node.family, second.node.family):
            yield from self._sums(first, second)
        elif same_work(*pair) and first.size == second.size:
            yield from self._ops(*pair)
        else:
            yield from self._regions(*pair)

    def _is_in_place(self, node: Vertex, other: Vertex) -> bool:
        """Whether a node may stand where another does, and is not what leads to that one."""
        if self._may_be_here(node):
            return True
        there = node.there
        if node.is_leaf or node.kind == "constant" or node.phase != self._phase or there is None:
            return False
        # Few numbers are soon equal to others elsewhere: what counts is the way to the other.
        behind = reach([other], lambda it: filter(self._may_be_here, it.feeders))
        read = {feeder for node in behind for feeder in (*node.feeders, *node.origins)}
        return there not in behind and there not in read

    def _may_be_here(self, node: Vertex) -> bool:
        return not (node.is_leaf or node.is_result or is_settled(node, self._phase))

    def _unsettled(self, values: Values) -> Values:
        """The values that may differ."""
        unsettled = []
        for value in values:
            node = unwrapped(value).node
            if self._by_layers and self._may_be_here(node) and node not in self._of_leaves:
                # By layers, what computes from a leaf does, or from what has no record of what it reads.
                self._of_leaves[node] = not all(
                    it.feeders or it.kind == "constant" or it.family in GIVEN
                    for it in reach([node], lambda it: it.feeders)
                )
            if self._of_leaves.get(node, self._may_be_here(node)):
                unsettled.append(value)
        return unsettled

    def _beside_known(self, first: OutputValue, second: OutputValue) -> Iterator[Origin]:
        """Compares the terms of sums where what one of them yields is known to the other side.

        It may be a sum without one term, of one side alone or, in forward, of both, as a residual.
        """
        node, other = first.node, second.node
        is_in_forward = self._phase == "forward"
        ways = (first, second), (second, first)
        left_out = []
        for total, rest in ways if is_in_forward else ():
            term = self._only_term(total, rest, zeros=True)
            # What one side alone has of parameters is said of those.
            is_known = term and is_settled(term, self._phase) and term.kind != "parameter"
            # A sum with a term of zeros may have another value in that one's place.
            is_sum = rest.node.family == "add"
            is_with_zeros = is_sum and any(it.is_within(0.0) for it in rest.node.inputs)
            if term and is_known and self._may_be_here(total.node) and not is_with_zeros:
                left_out.append(_left_out(total.node, term, rest.node))
        are_alike = len(node.inputs) == len(other.inputs) and node.phase == other.phase
        if left_out:
            yield from left_out
        elif is_in_forward and are_alike and node.family == other.family == "add":
            # One of as many terms may be 0.
            self._waiting += zip(node.inputs, other.inputs, strict=True)
        elif way := next((it for it in ways if self._is_in_place(it[0].node, it[1].node)), None):
            total, rest = way
            term = self._only_term(total, rest, zeros=False)
            # The other side may compute with the same gradient, which it adds to nothing here.
            there = term.origin.counterpart if term and not is_in_forward else None
            is_computed_with = there and any(user.is_work for user in there.consumers)
            # Where the gradients of a leaf are added, the lines of its uses say more than one of them.
            is_of_leaf = not is_in_forward and any(it.is_result for it in total.node.consumers)
            if term and not is_of_leaf and (is_computed_with or self._may_be_here(term)):
                yield _left_out(total.node, term, rest.node)

    def _only_term(self, total: OutputValue, rest: OutputValue, *, zeros: bool) -> Vertex | None:
        """The term without which a sum is what the other side has; ``zeros`` count as terms."""
        if total.node.family != "add":
            return None
        left, right = left_over(terms(total, self._may_be_here), [rest])
        left = [it for it in left if zeros or not it.is_within(0.0)]
        if right or len(left) != 1:
            return None
        # Beside nan and 0 a sum is equal by chance.
        numbers = left[0].numbers
        adds_anything = numbers is None or numbers[np.isfinite(numbers)].any()
        return left[0].node if adds_anything else None

    def _sums(self, first: OutputValue, second: OutputValue) -> Iterator[Origin]:
        """Compares the terms of two sums; a value that is no sum is one term."""
        if self._by_layers:
            # What a layer makes is one term, whether it adds its bias in an op of its own or not.
            def is_open(node: Vertex) -> bool:
                made_of = [unwrapped(value).node.kind for value in node.inputs]
                return self._may_be_here(node) and "parameter" not in made_of

            left, right = left_over(terms(first, is_open), terms(second, is_open))
            if len(left) == len(right) > 0 and [left, right] != [[first], [second]]:
                self._waiting += zip(left, right, strict=True)
                return
        left, right = left_over(terms(first, self._may_be_here), terms(second, self._may_be_here))
        if [left, right] == [[first], [second]]:
            yield from self._regions(first.node, second.node)
            return
        if self._phase == "forward" and len(left) == len(right):
            # The terms of a sum in forward have the order in which the net adds them.
            self._waiting += zip(left, right, strict=True)
            return
        # A term that is 0 adds nothing, but for where the other side has another value.
        zeros, other_zeros = (
            [it for it in values if it.is_within(0.0)] for values in (left, right)
        )
        left, right = ([it for it in values if not it.is_within(0.0)] for values in (left, right))
        before = len(self._waiting)
        self._pair(left, right)
        self._pair(left, other_zeros)
        self._pair(zeros, right)
        if not (left and right):
            yield from filter(None, [self._gradient_left_out(first.node, second.node)])
            # Of each term that one side alone adds, the first op that begins with what both have.
            for term in left or right:
                node: Vertex | None = term.node
                while node:
                    last = node
                    feeders = [it for it in last.feeders if self._may_be_here(it)]
                    node = next((it for it in feeders if it.rank < last.rank), None)
                if self._may_be_here(last) and not last.is_bookkeeping:
                    yield Origin([last], partial(extra_ops, [last], None, is_term=True))
        elif len(self._waiting) == before:
            yield from self._regions(first.node, second.node)

    def _pair(self, left: Values, right: Values) -> None:
        """Goes on with the terms that derive from the same forward op, then with a last one each.

        These are taken out.
        """
        for value in list(left):
            forward = value.node.forward
            there = (forward.origin.counterpart or forward.partner) if forward else None
            for other in right if there else ():
                if other.node.forward and other.node.forward.origin is there:
                    self._waiting.append((value, other))
                    left.remove(value)
                    right.remove(other)
                    break
        if len(left) == len(right) == 1:
            self._waiting.append((left.pop(), right.pop()))

    def _ops(self, first: Vertex, second: Vertex) -> Iterator[Origin]:
        """Compares what two ops of a kind read."""
        read, other_read = left_over(first.inputs, second.inputs)
        left, right = self._unsettled(read), self._unsettled(other_read)
        if len(left) != len(right) and len(read) == len(other_read):
            makers = [unwrapped(value).node for value in (*read, *other_read)]
            # Nothing comes before a leaf, a constant, the seed of backward.
            if self._phase == "backward" and any(
                it.is_leaf or it.kind == "constant" for it in makers
            ):
                yield from self._regions(first, second)
                return
            left, right = read, other_read  # one is equal to something elsewhere by chance
        if left and len(left) == len(right):
            self._waiting += zip(left, right, strict=True)
        elif not left and not right:
            yield from self._observed([first], [second])

    def _regions(self, first: Vertex, second: Vertex) -> Iterator[Origin]:
        """Compares what two rows of ops read, which one line of each net became."""
        if left_over(first.inputs, second.inputs) == ([], []):
            yield from self._observed([first], [second])
            return
        if first.value.size != second.value.size:
            return  # they are not yet in one place
        row, read = self._region(first)
        other_row, other_read = self._region(second, read)
        row, read = self._region(first, other_read)
        left, right = map(self._unsettled, left_over(read, other_read))
        if not left and not right:
            yield from self._observed(row, other_row)
        elif len(left) == len(right) == 1:
            self._waiting.append((left[0], right[0]))
        elif len(left) + len(right) == 1 and len(read) > 1 and len(other_read) > 1:
            behind = (row, other_row) if left else (other_row, row)
            yield from self._ahead(unwrapped((left or right)[0]).node, read + other_read, *behind)
        elif self._by_layers and not (left and right):
            # Two rows of ops, of several lines, that lead from the same known values.
            rows, known = [], []
            for last in (first, second):
                reached = reach(
                    [last], lambda it: [read.node for read in self._unsettled(it.inputs)]
                )
                origins = {unwrapped(value).node.origin for value in read_from_outside(reached)}
                rows.append(_computing(reached) or [last])
                known.append({node for node in origins if node.counterpart is not None})
            is_same = known[0] and known[0] == {node.counterpart for node in known[1]}
            if is_same and max(map(len, rows)) <= MOST_OPS:
                yield from self._observed(*rows)

    def _ahead(
        self, last: Vertex, read: Values, behind: list[Vertex], other_row: list[Vertex]
    ) -> Iterator[Origin]:
        """Ops that one side alone has ahead of what both sides do with the same value.

        Where the other side does more than what is done ``behind`` them, it may do the same there.
        """
        row, outside = self._region(last)
        used = {value.node.origin for value in read}
        begins = [value.node.origin.counterpart for value in outside]
        if self._unsettled(outside) or used.isdisjoint(filter(None, begins)):
            return
        done = {node.family for node in behind}
        more = {it.family for it in other_row if not it.is_bookkeeping} - done
        # Each may be written out behind the ops.
        if len(row) > 1 and not all(TRIED.written_out.get(it, more) <= done for it in more):
            rows = [*row, *behind], other_row
            yield from self._observed(*(rows if last.side.is_first else rows[::-1]))
        else:
            goes_on = next((it for it in other_row if same_work(it, behind[0])), None)
            yield Origin(row, partial(extra_ops, row, goes_on))

    def _region(self, last: Vertex, known: Values | None = None) -> tuple[list[Vertex], Values]:
        """The ops of one line and module that lead to one, and what they read from outside.

        What equals a value that the other side reads, which is ``known``, is outside too.
        """
        row = {last}
        outside: Values = []
        waiting = list(last.inputs)
        while waiting:
            value = waiting.pop()
            node = value.node
            if node in row:
                continue
            is_known = any(are_known_equal(value, other) for other in known or ())
            if not is_known and self._may_be_here(node) and node.line == last.line:
                row.add(node)
                waiting += node.inputs
            else:
                outside.append(value)
        return _computing(row) or [last], outside

    def _observed(self, row: list[Vertex], other_row: list[Vertex]) -> Iterator[Origin]:
        """Two rows whose values are known.

        Where one's is not, the rest of the other one, if both begin with the same kind of op.
        """
        if row[-1].main and other_row[-1].main:
            yield self._rows_apart(row, other_row)
        elif same_work(row[0], other_row[0]):
            for shorter, longer in ((row, other_row), (other_row, row)):
                if len(shorter) == 1 < len(longer) and longer[-1].main:
                    yield Origin(longer[1:], partial(extra_ops, longer[1:], None))

    def _rows_apart(self, row: list[Vertex], other_row: list[Vertex]) -> Origin:
        """A row of ops on each side that lead to what should be one value, and do not."""
        left_out = self._gradient_left_out(row[-1], other_row[-1])
        rows = partial(two_rows, row, other_row)
        return left_out or Origin([*row, *other_row], rows)

    def _gradient_left_out(self, first: Vertex, second: Vertex) -> Origin | None:
        """A gradient that one side adds to what is the value of the other side, maybe in fewer ops."""
        for total, rest in ((first, second), (second, first)) if self._phase == "backward" else ():
            if total.family == "add" and self._may_be_here(rest):
                for term in terms(total.value, self._may_be_here):
                    # The other side has the gradient too.
                    if term.node.origin.counterpart and is_rest(rest.value, total.value, term):
                        return _left_out(total, term.node, rest)
        return None

    def _goes_back_by_a_layer(self, first: Vertex, second: Vertex) -> bool:
        """Goes back by a whole layer, where it reads one value beside its parameters on both sides.

        One side may have one op for it, and the other all ops of a call of a function.
        """
        read, other_read = read_by_call(first), read_by_call(second)
        leaves, other_leaves = (
            {value.node for value in values if value.node.kind == "parameter"}
            for values in (read, other_read)
        )
        if not leaves or leaves != {leaf.counterpart for leaf in other_leaves}:
            return False
        left, right = self._unsettled(read), self._unsettled(other_read)
        is_one = len(left) == len(right) == 1 and left[0].size == right[0].size
        self._waiting += zip(left, right, strict=True) if is_one else ()
        return is_one


def _computing(row: Iterable[Vertex]) -> list[Vertex]:
    """The ops of a row that make new numbers which are known, in execution order."""
    return [node for node in in_order(row) if node.main and not node.is_bookkeeping]
