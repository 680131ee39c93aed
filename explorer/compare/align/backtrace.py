"""The way back from results that differ, on both sides in step, to the ops where they first do."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from explorer.compare.align.matching import NOISE, Matching, Mismatch
from explorer.compare.align.provenance import unwrapped
from explorer.compare.align.suspects import same_work
from explorer.compare.align.vertices import OutputValue, Vertex, in_order, reach
from explorer.model.graph import Phase

MOST_STEPS = 20_000
"""Pairs of values that are looked at on the way back."""

MOST_TERMS = 64
"""Terms of a sum that are looked at."""

Values = list[OutputValue]


@dataclass(frozen=True)
class Origins:
    """Where two values that should be one begin to differ: ops in a row on each side.

    Only one side has ops where the other's row is empty; ``is_term`` says that they lead to a term
    that the other side does not add. Where a ``sum`` is known that the term goes into, ``term`` is
    its last op, and ``rest`` what the other side has instead of the sum.
    """

    first: tuple[Vertex, ...]
    second: tuple[Vertex, ...]
    is_term: bool = False
    sum: Vertex | None = None
    term: Vertex | None = None
    rest: Vertex | None = None

    @property
    def rows(self) -> tuple[list[Vertex], list[Vertex]]:
        """The ops of the first side, and of the second."""
        return list(self.first), list(self.second)


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
        self._waiting: list[tuple[OutputValue, OutputValue]] = []

    def origins(self, results: Iterable[Mismatch]) -> Iterator[Origins]:
        """Where results begin to differ; nothing for those of which that cannot be told."""
        for mismatch in results:
            if mismatch.first.inputs and mismatch.second.inputs:
                self._waiting.append((mismatch.first.inputs[0], mismatch.second.inputs[0]))
            while self._waiting and len(self._seen) < MOST_STEPS:
                yield from self._step(*self._waiting.pop())

    def _step(self, first: OutputValue, second: OutputValue) -> Iterator[Origins]:
        """Goes back by one op on both sides, or finds that they differ here."""
        ends = first, second
        first, second = unwrapped(first), unwrapped(second)
        pair = first.node, second.node
        if pair in self._seen or not self._do_differ(first, second):
            if pair not in self._seen:
                yield from _moved(*ends)
            self._seen.add(pair)
            return
        self._seen.add(pair)
        if _is_nothing(first) or _is_nothing(second):
            yield from self._sums(first, second)
            return
        are_in_place = self._is_in_place(*pair), self._is_in_place(*pair[::-1])
        if not all(are_in_place):
            if any(are_in_place):
                yield from self._terms_left_out(*((first, second)[:: 1 if are_in_place[0] else -1]))
            return
        if "add" in (first.node.family, second.node.family):
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

    def _sums(self, first: OutputValue, second: OutputValue) -> Iterator[Origins]:
        """Compares the terms of two sums; a value that is no sum is one term."""
        terms, other_terms = self._terms(first), self._terms(second)
        left, right = self._left_over(terms, other_terms)
        if not left and not right:
            return
        if len(terms) == len(other_terms) == 1 and first.node.family == second.node.family:
            return
        if [left, right] == [[first], [second]]:
            yield from self._regions(first.node, second.node)
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

    def _terms_left_out(self, total: OutputValue, rest: OutputValue) -> Iterator[Origins]:
        """A term of a sum in forward, of one side alone, without which it is what the other has."""
        if total.node.family != "add" or self._phase != "forward":
            return
        terms = self._terms(total)
        left, right = self._left_over(terms, [rest])
        left, _zeros = _apart(left)
        if right or len(left) != 1 or not self._may_be_here(left[0].node):
            return
        (term,) = left
        yield Origins(
            *((total.node,), ())[:: 1 if total.node.side.is_first else -1],
            is_term=True,
            sum=total.node,
            term=term.node,
            rest=rest.node,
        )

    def _terms(self, total: OutputValue) -> Values:
        """The terms of a sum, with those of the sums among them; what is no sum is its own term."""
        terms: Values = []
        waiting = [total]
        while waiting and len(terms) < MOST_TERMS:
            value = unwrapped(waiting.pop(0))
            node = value.node
            is_sum = node.family == "add" and len(node.inputs) > 1
            if is_sum and (value is total or self._may_be_here(node)):
                waiting += node.inputs
            elif not _is_nothing(value):
                terms.append(value)
        return terms

    def _only_one_has(self, terms: Values) -> Iterator[Origins]:
        """Terms that one side alone adds: the first op of each that begins with what both have."""
        for term in terms:
            node = term.node
            while True:
                behind = [it for it in node.feeders if self._may_be_here(it)]
                if not behind or node.is_leaf:
                    break
                node = behind[0]
            if self._may_be_here(node) and not node.is_bookkeeping:
                here: tuple[Vertex, ...] = (node,)
                rows = (here, ()) if node.side.is_first else ((), here)
                yield Origins(*rows, is_term=True)

    # Ops

    def _ops(self, first: Vertex, second: Vertex) -> Iterator[Origins]:
        """Compares what two ops of a kind read."""
        read, other_read = self._left_over(first.inputs, second.inputs)
        left, right = self._unsettled(read), self._unsettled(other_read)
        if len(left) != len(right) and len(read) == len(other_read):
            left, right = read, other_read  # one is equal to something elsewhere by chance
        if left and len(left) == len(right):
            self._waiting += zip(left, right, strict=True)
        elif not left and not right:
            yield from _observed([first], [second])

    def _unsettled(self, values: Values) -> Values:
        return [value for value in values if self._may_be_here(unwrapped(value).node)]

    def _regions(self, first: Vertex, second: Vertex) -> Iterator[Origins]:
        """Compares what two rows of ops read, which one line of each net became."""
        if self._left_over(first.inputs, second.inputs) == ([], []):
            yield from _observed([first], [second])
            return
        row, read = self._region(first)
        other_row, other_read = self._region(second, read)
        row, read = self._region(first, other_read)
        left, right = self._left_over(read, other_read)
        left, right = self._unsettled(left), self._unsettled(right)
        if not left and not right:
            yield from _observed(row, other_row)
        elif len(left) == len(right) == 1:
            self._waiting.append((left[0], right[0]))
        elif len(left) + len(right) == 1 and len(read) > 1 and len(other_read) > 1:
            yield from self._ahead(unwrapped((left or right)[0]).node, read + other_read)

    def _ahead(self, last: Vertex, read: Values) -> Iterator[Origins]:
        """Ops that one side alone has ahead of what both sides do with the same value."""
        row, outside = self._region(last)
        used = {value.node.origin for value in read}
        begins = [value.node.origin for value in outside]
        if self._unsettled(outside) or not any(it.counterpart in used for it in begins):
            return
        yield Origins(tuple(row), ()) if last.side.is_first else Origins((), tuple(row))

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
        observed = [node for node in in_order(row) if node.main and not node.is_bookkeeping]
        return observed or [last], outside

    # Both

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
        # The terms of a sum in forward have the order in which the net adds them.
        if len(left) == len(right) and (len(left) == 1 or self._phase == "forward"):
            self._waiting += zip(left, right, strict=True)
            left.clear()
            right.clear()


def _apart(values: Values) -> tuple[Values, Values]:
    """The values that are not 0 throughout, and those that are."""
    others = [value for value in values if not value.is_within(0.0)]
    return others, [value for value in values if value.is_within(0.0)]


def _is_nothing(value: OutputValue) -> bool:
    """Whether a value is a constant 0: the gradient of what nothing depends on."""
    node = value.node.origin
    is_made_of_nothing = node.kind == "constant" or node.family == "fill"
    return is_made_of_nothing and value.is_within(0.0)


def _observed(row: list[Vertex], other_row: list[Vertex]) -> Iterator[Origins]:
    """Two rows whose values are known; of what both begin with but for that, the rest of one."""
    if row[-1].main and other_row[-1].main:
        yield Origins(tuple(row), tuple(other_row))
    elif same_work(row[0], other_row[0]) and len(row) != len(other_row):
        if len(row) == 1 and other_row[-1].main:
            yield Origins((), tuple(other_row[1:]))
        elif len(other_row) == 1 and row[-1].main:
            yield Origins(tuple(row[1:]), ())


def _moved(first: OutputValue, second: OutputValue) -> Iterator[Origins]:
    """Steps that pass on equal numbers in another order or shape on the two sides."""
    if first.agrees(second) is False and first.node.side is not second.node.side:
        row, other_row = _steps(first), _steps(second)
        if row and other_row:
            yield Origins(row, other_row)


def _steps(value: OutputValue) -> tuple[Vertex, ...]:
    steps = []
    last = unwrapped(value)
    while value is not last:
        steps.append(value.node)
        value = value.node.inputs[0]
    return tuple(reversed(steps))


def _are_equal(value: OutputValue, other: OutputValue) -> bool:
    counterpart = value.node.origin.counterpart
    if counterpart is not None and counterpart is other.node.origin:
        return True
    value, other = unwrapped(value), unwrapped(other)
    return value.agrees(other) is True


def _derive_from_one(node: Vertex, other: Vertex) -> bool:
    if node.forward is None or other.forward is None:
        return False
    counterpart = node.forward.origin.counterpart or node.forward.partner
    return counterpart is not None and counterpart is other.forward.origin


def _is_of_one_line(node: Vertex, last: Vertex) -> bool:
    place = node.phase, node.scope, node.source
    return place == (last.phase, last.scope, last.source)
