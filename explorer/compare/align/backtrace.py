"""The way back from results that differ, on both sides in step, to the ops where they first do."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from explorer.compare.align.fingerprints import elements
from explorer.compare.align.matching import NOISE, Matching, Mismatch
from explorer.compare.align.provenance import unwrapped
from explorer.compare.align.suspects import same_work
from explorer.compare.align.vertices import OutputValue, Vertex, in_order
from explorer.compare.graphs.view import reach
from explorer.model.graph import Phase

MOST_STEPS = 20_000
"""Pairs of values that are looked at on the way back."""

MOST_TERMS = 64
"""Terms of a sum that are looked at."""

Values = list[OutputValue]

ValuePair = tuple[OutputValue, OutputValue]
"""Two values that should be one, the first side's first."""

Row = tuple[Vertex, ...]
"""Ops of one side in execution order."""


@dataclass(frozen=True)
class RowsApart:
    """A row of ops on each side that lead to what should be one value, and do not."""

    first: Row
    second: Row

    @property
    def nodes(self) -> Row:
        """All that takes part."""
        return self.first + self.second


@dataclass(frozen=True)
class ExtraRow:
    """A row of ops of one side; ``is_term`` where they lead to a term that the other does not add.

    ``goes_on`` is what the other side does instead, with what the row reads.
    """

    row: Row
    is_term: bool
    goes_on: Vertex | None = None

    @property
    def nodes(self) -> Row:
        """All that takes part."""
        return self.row


@dataclass(frozen=True)
class TermLeftOut:
    """A sum of one side, a term of it that the other leaves out, and what that has instead."""

    total: Vertex
    term: Vertex
    rest: Vertex

    @property
    def nodes(self) -> Row:
        """All that takes part."""
        return (self.total,)


Origin = RowsApart | ExtraRow | TermLeftOut
"""Where two values that should be one begin to differ."""


class Backtrace:
    """Goes back from pairs of values that should be equal through what both sides have in common.

    Of two sums the terms that agree are left out, and of two ops of a kind the inputs that agree:
    what is left should be equal too. Where nothing is left, the two ops themselves differ.
    ``is_settled`` says which nodes are known to agree, or cannot be where graphs differ.
    """

    def __init__(
        self, matching: Matching, phase: Phase, is_settled: Callable[[Vertex], bool]
    ) -> None:
        self._matching = matching
        self._phase = phase
        self._is_settled = is_settled
        self._seen: set[tuple[Vertex, Vertex]] = set()
        self._waiting: list[ValuePair] = []

    def origins(self, results: Iterable[Mismatch]) -> Iterator[Origin]:
        """Where results begin to differ; nothing for those of which that cannot be told."""
        for mismatch in results:
            if mismatch.first.inputs and mismatch.second.inputs:
                self._waiting.append((mismatch.first.inputs[0], mismatch.second.inputs[0]))
            while self._waiting and len(self._seen) < MOST_STEPS:
                yield from self._step(*self._waiting.pop())

    def _step(self, first_end: OutputValue, second_end: OutputValue) -> Iterator[Origin]:
        """Goes back by one op on both sides, or finds that they differ here."""
        first, second = unwrapped(first_end), unwrapped(second_end)
        pair = first.node, second.node
        if pair in self._seen:
            return
        self._seen.add(pair)
        if not self._do_differ(first, second):
            yield from _moved(first_end, second_end)
        elif is_nothing(first) or is_nothing(second):
            yield from self._sums(first, second)
        elif not (self._is_in_place(*pair) and self._is_in_place(*pair[::-1])):
            yield from self._beside_known(first, second)
        elif read := self._read_by_one_layer(*pair):
            self._waiting.append(read)
        elif "add" in (first.node.family, second.node.family):
            yield from self._sums(first, second)
        elif same_work(*pair) and first.size == second.size:
            yield from self._ops(*pair)
        else:
            yield from self._regions(*pair)

    def _do_differ(self, first: OutputValue, second: OutputValue) -> bool:
        if self._matching.are_noise(first, second, NOISE):
            return False
        return first.agrees(second) is not True

    def _is_in_place(self, node: Vertex, other: Vertex) -> bool:
        """Whether a node may stand where another does, and is not what leads to that one."""
        if self._may_be_here(node):
            return True
        there = node.partner if node.is_agreed else node.origin.counterpart
        if node.is_leaf or node.kind == "constant" or node.phase != self._phase or there is None:
            return False
        # Few numbers are soon equal to others elsewhere: what counts is the way to the other.
        behind = reach([other], lambda it: [it for it in it.feeders if self._may_be_here(it)])
        read = {feeder for node in behind for feeder in (*node.feeders, *node.origins)}
        return there not in behind and there not in read

    def _may_be_here(self, node: Vertex) -> bool:
        return not (node.is_leaf or node.is_result or self._is_settled(node))

    # Sums

    def _beside_known(self, first: OutputValue, second: OutputValue) -> Iterator[Origin]:
        """Compares the terms of sums where what one of them yields is known to the other side."""
        left_out = list(self._settled_terms_left_out(first, second))
        if left_out:
            yield from left_out
        elif self._are_sums_alike(first.node, second.node):
            self._waiting += zip(first.node.inputs, second.node.inputs, strict=True)
        elif self._is_in_place(first.node, second.node):
            yield from self._terms_left_out(first, second)
        elif self._is_in_place(second.node, first.node):
            yield from self._terms_left_out(second, first)

    def _settled_terms_left_out(self, first: OutputValue, second: OutputValue) -> Iterator[Origin]:
        """A term of a sum in forward that the other side knows and does not add, as a residual."""
        if self._phase != "forward":
            return
        for total, rest in ((first, second), (second, first)):
            if total.node.family != "add" or not self._may_be_here(total.node) or _adds_zero(rest):
                continue
            left, right = self._left_over(self._terms(total), [rest])
            if right or len(left) != 1 or not _adds_anything(left[0]):
                continue
            term = left[0].node
            # What one side alone has of parameters is said of those.
            if self._is_settled(term) and term.kind != "parameter":
                yield TermLeftOut(total.node, term, rest.node)

    def _are_sums_alike(self, first: Vertex, second: Vertex) -> bool:
        """Whether both are sums in forward of as many terms, one of which may be 0."""
        if self._phase != "forward" or len(first.inputs) != len(second.inputs):
            return False
        return first.family == second.family == "add" and first.phase == second.phase

    def _terms_left_out(self, total: OutputValue, rest: OutputValue) -> Iterator[Origin]:
        """A term of a sum, of one side alone, without which it is what the other has."""
        is_of_leaf = any(user.is_result for user in total.node.consumers)
        # Where the gradients of a leaf are added, the lines of its uses say more than one of them.
        if total.node.family != "add" or (self._phase == "backward" and is_of_leaf):
            return
        left, right = self._left_over(self._terms(total), [rest])
        left, _zeros = _apart(left)
        if right or len(left) != 1 or not _adds_anything(left[0]):
            return
        term = left[0].node
        if self._may_be_here(term) or (self._phase == "backward" and _goes_on_elsewhere(term)):
            yield TermLeftOut(total.node, term, rest.node)

    def _sums(self, first: OutputValue, second: OutputValue) -> Iterator[Origin]:
        """Compares the terms of two sums; a value that is no sum is one term."""
        of_layers = self._terms_of_layers(first, second)
        if of_layers:
            self._waiting += of_layers
            return
        left, right = self._left_over(self._terms(first), self._terms(second))
        if [left, right] == [[first], [second]]:
            yield from self._regions(first.node, second.node)
            return
        if self._phase == "forward" and len(left) == len(right):
            # The terms of a sum in forward have the order in which the net adds them.
            self._waiting += zip(left, right, strict=True)
            return
        # A term that is 0 adds nothing, but for where the other side has another value.
        left, zeros = _apart(left)
        right, other_zeros = _apart(right)
        before = len(self._waiting)
        self._pair(left, right)
        self._pair(left, other_zeros)
        self._pair(zeros, right)
        if not (left and right):
            yield from self._only_one_has(left or right)
        elif len(self._waiting) == before:
            yield from self._regions(first.node, second.node)

    def _terms(
        self, total: OutputValue, is_one: Callable[[Vertex], bool] = lambda _node: False
    ) -> Values:
        """The terms of a sum, with those of the sums among them; what is no sum is its own term.

        A sum among them that ``is_one`` is a term as it is.
        """
        terms: Values = []
        waiting = [total]
        while waiting and len(terms) < MOST_TERMS:
            value = unwrapped(waiting.pop(0))
            node = value.node
            is_sum = node.family == "add" and len(node.inputs) > 1
            is_open = value is total or (self._may_be_here(node) and not is_one(node))
            if is_sum and is_open:
                waiting += node.inputs
            elif not is_nothing(value):
                terms.append(value)
        return terms

    def _pair(self, left: Values, right: Values) -> None:
        """Goes on with the terms that derive from the same forward op, then with a last one each.

        These are taken out.
        """
        for value in list(left):
            for other in right:
                if _derive_from_one(value.node, other.node):
                    self._waiting.append((value, other))
                    left.remove(value)
                    right.remove(other)
                    break
        if len(left) == len(right) == 1:
            self._waiting.append((left.pop(), right.pop()))

    def _only_one_has(self, terms: Values) -> Iterator[Origin]:
        """Terms that one side alone adds: the first op of each that begins with what both have."""
        for term in terms:
            node = term.node
            while True:
                behind = [feeder for feeder in node.feeders if self._may_be_here(feeder)]
                behind = [feeder for feeder in behind if feeder.rank < node.rank]
                if not behind:
                    break
                node = behind[0]
            if self._may_be_here(node) and not node.is_bookkeeping:
                yield ExtraRow((node,), is_term=True)

    # Ops

    def _ops(self, first: Vertex, second: Vertex) -> Iterator[Origin]:
        """Compares what two ops of a kind read."""
        read, other_read = self._left_over(first.inputs, second.inputs)
        left, right = self._unsettled(read), self._unsettled(other_read)
        if len(left) != len(right) and len(read) == len(other_read):
            if self._phase == "backward" and any(map(_begins, (*read, *other_read))):
                yield from self._regions(first, second)
                return
            left, right = read, other_read  # one is equal to something elsewhere by chance
        if left and len(left) == len(right):
            self._waiting += zip(left, right, strict=True)
        elif not left and not right:
            yield from observed([first], [second])

    def _unsettled(self, values: Values) -> Values:
        """The values that may differ."""
        return [value for value in values if self._may_differ(unwrapped(value).node)]

    def _may_differ(self, node: Vertex) -> bool:
        return self._may_be_here(node)

    def _regions(self, first: Vertex, second: Vertex) -> Iterator[Origin]:
        """Compares what two rows of ops read, which one line of each net became."""
        if self._left_over(first.inputs, second.inputs) == ([], []):
            yield from observed([first], [second])
            return
        if first.value.size != second.value.size:
            return  # they are not yet in one place
        row, read = self._region(first)
        other_row, other_read = self._region(second, read)
        row, read = self._region(first, other_read)
        left, right = self._left_over(read, other_read)
        left, right = self._unsettled(left), self._unsettled(right)
        if not left and not right:
            yield from observed(row, other_row)
        elif len(left) == len(right) == 1:
            self._waiting.append((left[0], right[0]))
        elif len(left) + len(right) == 1 and len(read) > 1 and len(other_read) > 1:
            rows = (row, other_row) if left else (other_row, row)
            yield from self._ahead(unwrapped((left or right)[0]).node, read + other_read, *rows)
        elif not (left and right):
            yield from self._from_what_is_known(first, second)

    # What goes back further by whole layers

    def _read_by_one_layer(self, first: Vertex, second: Vertex) -> ValuePair | None:
        """What two layers read beside their parameters; none here, where one op is beside one."""
        del first, second
        return None

    def _terms_of_layers(self, first: OutputValue, second: OutputValue) -> list[ValuePair]:
        """The terms of two sums, of which what a layer makes is one; none here."""
        del first, second
        return []

    def _from_what_is_known(self, first: Vertex, second: Vertex) -> Iterator[Origin]:
        """Two rows of ops, of several lines, that lead from the same known values; none here."""
        del first, second
        yield from ()

    # Rows

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
        if len(row) > 1 and not _families(other_row) <= _families(behind):
            rows = [*row, *behind], other_row
            yield from observed(*(rows if last.side.is_first else rows[::-1]))
        else:
            goes_on = next((it for it in other_row if same_work(it, behind[0])), None)
            yield ExtraRow(tuple(row), is_term=False, goes_on=goes_on)

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
            is_known = any(_are_equal(value, other) for other in known or ())
            if not is_known and self._may_be_here(node) and _is_of_one_line(node, last):
                row.add(node)
                waiting += node.inputs
            else:
                outside.append(value)
        computing = [node for node in in_order(row) if node.main and not node.is_bookkeeping]
        return computing or [last], outside

    def _left_over(self, values: Values, others: Values) -> tuple[Values, Values]:
        """The values of each side that none of the other equals."""
        right = list(others)
        left = []
        for value in values:
            equal = next((other for other in right if _are_equal(value, other)), None)
            if equal is None:
                left.append(value)
            else:
                right.remove(equal)
        return left, right


# What was found


def observed(row: list[Vertex], other_row: list[Vertex]) -> Iterator[Origin]:
    """Two rows whose values are known.

    Where one's is not, the rest of the other one, if both begin with the same kind of op.
    """
    if row[-1].main and other_row[-1].main:
        yield RowsApart(tuple(row), tuple(other_row))
    elif same_work(row[0], other_row[0]):
        for shorter, longer in ((row, other_row), (other_row, row)):
            if len(shorter) == 1 < len(longer) and longer[-1].main:
                yield ExtraRow(tuple(longer[1:]), is_term=False)


def _moved(first: OutputValue, second: OutputValue) -> Iterator[Origin]:
    """Steps that pass on equal numbers in another order or shape on the two sides."""
    if first.agrees(second) is False:
        row, other_row = _steps(first), _steps(second)
        if row and other_row:
            yield RowsApart(row, other_row)


def _steps(value: OutputValue) -> Row:
    steps = []
    last = unwrapped(value)
    while value is not last:
        steps.append(value.node)
        value = value.node.inputs[0]
    return tuple(reversed(steps))


# Values


def _goes_on_elsewhere(term: Vertex) -> bool:
    """Whether the other side computes with the same gradient, which it adds to nothing here."""
    there = term.origin.counterpart
    return there is not None and any(user.is_work for user in there.consumers)


def _adds_zero(value: OutputValue) -> bool:
    """Whether a value is a sum with a term of zeros, which may be the one that has another value."""
    node = value.node
    return node.family == "add" and any(it.is_within(0.0) for it in node.inputs)


def _adds_anything(term: OutputValue) -> bool:
    """Whether a term holds a finite number other than 0: beside nan and 0 a sum is equal by chance."""
    if term.whole is None:
        return True
    numbers = elements(term.whole)
    return bool(numbers[np.isfinite(numbers)].any())


def _apart(values: Values) -> tuple[Values, Values]:
    """The values that are not 0 throughout, and those that are."""
    others = [value for value in values if not value.is_within(0.0)]
    return others, [value for value in values if value.is_within(0.0)]


def is_nothing(value: OutputValue) -> bool:
    """Whether a value is a constant 0: the gradient of what nothing depends on."""
    node = value.node.origin
    is_made_of_nothing = node.kind == "constant" or node.family == "fill"
    return is_made_of_nothing and value.is_within(0.0)


def _begins(value: OutputValue) -> bool:
    """Whether nothing comes before a value: a leaf, a constant, the seed of backward."""
    node = unwrapped(value).node
    return node.is_leaf or node.kind == "constant"


def _are_equal(value: OutputValue, other: OutputValue) -> bool:
    counterpart = value.node.origin.counterpart
    if counterpart is not None and counterpart is other.node.origin:
        return True
    return unwrapped(value).agrees(unwrapped(other)) is True


def _families(row: Iterable[Vertex]) -> set[str]:
    return {node.family for node in row if not node.is_bookkeeping}


def _derive_from_one(node: Vertex, other: Vertex) -> bool:
    if node.forward is None or other.forward is None:
        return False
    counterpart = node.forward.origin.counterpart or node.forward.partner
    return counterpart is not None and counterpart is other.forward.origin


def _is_of_one_line(node: Vertex, last: Vertex) -> bool:
    place = node.phase, node.scope, node.source
    return place == (last.phase, last.scope, last.source)
