"""Divergences at work of one side only: an op too many, a gradient added in, a gradient stopped."""

import re
from collections.abc import Iterable, Iterator

import numpy as np

from explorer.compare.align.contrasts import (
    Contrast,
    FoundDivergence,
    alone,
    at,
    both,
    contrast,
    place,
    reading,
    row_of,
)
from explorer.compare.align.provenance import readers, unwrapped
from explorer.compare.align.suspects import (
    PRODUCTS,
    Search,
    Suspects,
    are_followed_alike,
    kind,
)
from explorer.compare.align.vertices import OutputValue, Side, Vertex
from explorer.compare.graphs.sameness import within
from explorer.compare.graphs.view import reach
from explorer.model.divergence import ExtraOps, GradientAdded, GradientStopped, Reading
from explorer.numeric.differences import Floats
from explorer.operators.families import MASKING

STOPS_GRADIENT = re.compile(r"detach|stop_?gradient", re.IGNORECASE)
"""Operators that hand their input on and stop its gradient."""

MOST_TERMS = 64
"""Terms of a sum, and ops of one line, that are looked at."""

CLOSE = 1e-3, 1e-5
"""(rtol, floor) within which a difference of two gradients equals a third.

Wider than the tolerance of values, because subtraction loses digits.
"""

# An op too many


def extra_ops(
    row: list[Vertex], goes_on: Vertex | None, *, is_term: bool = False
) -> FoundDivergence:
    """Ops in a row that only one side has.

    Their value is read against that of the input which the other side uses as it is, unless they
    lead to a term that it does not add. ``goes_on`` is what the other side does instead.
    """
    last = row[-1]
    is_in_backward = last.phase == "backward"
    # A forward that is computed again in backward adds other things than gradients.
    are_of_backward = all(it.is_work and it.phase == "backward" for it in last.feeders)
    adds_gradients = last.family == "add" and len(last.inputs) > 1 and are_of_backward
    gradients = len(last.inputs) if is_in_backward and adds_gradients else 0
    there = None if is_term else _input_of_equal_size(row, of_any_phase=bool(gradients))
    as_it_is, values = None, alone(last.value)
    # Both sides may do this with it, one of them inside of another op.
    if there and (goes_on or is_in_backward or are_followed_alike(last, there[0])):
        beside = contrast(last.value, there[1])
        if beside.gap.greatest != 0:
            as_it_is, values = there[0], beside
    uses = _uses(last) if gradients else ()
    # The line that calls where a value is made; "" outside all modules, whose line is known.
    made = last.forward if gradients and not uses else None
    divergence = ExtraOps(
        phase=last.phase,
        **at(last, values),
        side=last.side.name,
        row=row_of(row),
        gradients=gradients,
        uses=uses,
        made_at=made.caller if made else "",
        goes_on=place(goes_on) if goes_on else None,
    )
    ends = (last, as_it_is) if as_it_is else None
    return FoundDivergence(divergence, frozenset(row), ends, goes_on)


def _uses(sum_of_gradients: Vertex) -> tuple[str, ...]:
    """The lines of the uses of a value whose gradients are added; none where they have one line.

    A compiler makes one of equal calls.
    """
    sources: dict[str, None] = {}
    callers: dict[str, None] = {}
    for term in sum_of_gradients.inputs:
        user = term.node.forward
        if user and user.source:
            sources[user.source] = None
            callers[user.caller] = None
    # A module that is called twice has one line inside, and two that call it.
    lines = callers if len(sources) == 1 else sources
    lines.pop("", None)
    return tuple(lines) if len(lines) > 1 else ()


def _input_of_equal_size(
    row: list[Vertex], of_any_phase: bool
) -> tuple[Vertex, OutputValue] | None:
    """The counterpart of the last input of a row of ops that is as large as the row's value.

    With its value as the row reads it. A gradient is compared with a gradient, unless gradients are
    added: a product has the other factor for one.
    """
    read = [value for node in reversed(row) for value in node.inputs]
    for origin in (value.node.origin for value in read):
        there = origin.counterpart
        is_like = of_any_phase or origin.phase == row[-1].phase
        if is_like and there and origin.value.size == row[-1].value.size:
            as_read = [it for it in read if it.summary and it.node.origin.counterpart is there]
            return there, next(iter(as_read), there.value)
    return None


def ops_ahead(search: Search) -> Iterator[FoundDivergence]:
    """The ops of one of two sides ahead of the op with which the other side starts at once.

    None where both sides start with the same kind of op.
    """
    if search.counterparts is None:
        return
    for node, other in (search.counterparts, search.counterparts[::-1]):
        here, there = search.suspects_of[node.side], search.suspects_of[other.side]
        # What hands a part of what it reads on takes it by a view that is not recorded: a slice.
        is_part = other.is_bookkeeping and other.inputs and other.value.size < other.inputs[0].size
        if is_part and kind(node) == "slice":
            continue
        # The other side does the same work as often.
        own, others = (
            [later for later in (first, *suspects.downstream(first)) if later.family == node.family]
            for first, suspects in ((node, here), (other, there))
        )
        others = [it for it in others if not _read_something_else(it, node)]
        if other in others or len(others) >= len(own):
            continue
        row = _before(other, here.downstream(node), here)
        read = {origin.counterpart for it in row for origin in it.origins} - {None, *other.origins}
        # The other side, too, may have ops for what the row reads beside the inputs of ``other``.
        is_ahead = all(read.isdisjoint(it.origins) for it in there.nodes)
        # What passes on the numbers that it reads is not where they begin to differ.
        if is_ahead and not all(it.is_bookkeeping for it in row):
            yield extra_ops(row, other)


def _before(other: Vertex, nodes: list[Vertex], suspects: Suspects) -> list[Vertex]:
    """The ops before the first of ``nodes`` that does the same work as the other side's op."""
    for node in nodes:
        # All that put a number in the place of elements do the same work.
        is_one_kind = node.family == other.family or {node.family, other.family} <= MASKING
        if is_one_kind and not _read_something_else(node, other):
            return suspects.lineage_of_inputs(node)
    return []


ARITHMETIC = frozenset({"add", "sub", "mul", "div"})
"""Families of which an op with a number does something else than one with two tensors."""


def _numbers_given(node: Vertex) -> set[float]:
    """The numbers that an op is given, as precisely as single precision has them."""
    given = [it for it in node.record.arguments.values() if isinstance(it, float)]
    given += [it.only_number for it in node.inputs if it.size == 1 and it.node.kind == "constant"]
    return {float(f"{it:.6g}") for it in given}


def _read_something_else(node: Vertex, other: Vertex) -> bool:
    """Whether two ops each read what is known to both sides, and nothing of it in common.

    Two layers of a net do, by their parameters; two products with other numbers do by these.
    """
    numbers, other_numbers = _numbers_given(node), _numbers_given(other)
    are_products = node.family == other.family and node.family in ARITHMETIC
    if numbers.isdisjoint(other_numbers) and (
        (numbers and other_numbers) or (are_products and (numbers or other_numbers))
    ):
        return True
    known = {origin.counterpart for origin in node.origins} - {None}
    others = {origin for origin in other.origins if origin.counterpart}
    return bool(known and others) and known.isdisjoint(others)


def nothing_in_common(search: Search) -> Iterator[FoundDivergence]:
    """Entries without a counterpart: one side does something first, or something of its own."""
    first, second = search.suspects_of.values()
    if search.phase == "forward" and not (first.nodes and second.nodes):
        # Of what the other side returns as it is.
        here = first if first.nodes else second
        for mismatch in search.results:
            for result in (mismatch.first, mismatch.second):
                returned = _maker_of(result)
                onwards = [it for it in here.nodes if returned and returned in it.origins]
                row = here.downstream(onwards[0]) if onwards else []
                row = [it for it in [*onwards[:1], *row] if it.main and not it.is_bookkeeping]
                if row:
                    yield extra_ops(row, None)
                    return
    for here, there in ((first, second), (second, first)):
        behind = [node for node in here.nodes if node not in here.entries]
        for other in there.entries[:1]:
            row = _before(other, behind, here)
            if row:
                yield extra_ops(row, other)
    yield extra_ops([(first.entries + second.entries)[0]], None)


def _maker_of(result: Vertex) -> Vertex | None:
    """What the other side has of a value that is returned as a result."""
    return unwrapped(result.inputs[0]).node.origin.counterpart if result.inputs else None


# Sums


def first_close(row: list[Vertex], other_row: list[Vertex]) -> tuple[int, int] | None:
    """The places of the first two of some ops whose values are close; None without such.

    They hold one quantity, with more rounding than their noise. Of each row as many as MOST_TERMS
    are looked at.
    """
    others = [node.value.finite_numbers for node in other_row[:MOST_TERMS]]
    for own_place, node in enumerate(row[:MOST_TERMS]):
        numbers = node.value.finite_numbers
        for other_place, held in enumerate(others):
            if numbers is not None and held is not None and are_close(held, numbers):
                return own_place, other_place
    return None


def are_close(held: Floats, wanted: Floats) -> bool:
    """Whether two values hold one quantity, with more rounding than their noise."""
    rtol, share = CLOSE
    floor = share * np.abs(wanted).max(initial=0.0)
    return held.size == wanted.size and within(held, wanted, (rtol, floor))


def term_left_out(node: Vertex, term: Vertex, rest: Vertex) -> FoundDivergence:
    """A sum of one side, a term of it that the other leaves out, and what that has instead."""
    values = contrast(node.value, rest.value)
    divergence = GradientAdded(
        phase=node.phase,
        **at(node, values),
        side=node.side.name,
        total=place(node),
        term=place(term),
        rest=place(rest),
    )
    return FoundDivergence(divergence, frozenset((node,)), (node, rest))


# A gradient stopped


def gradients_stopped(search: Search) -> Iterator[FoundDivergence]:
    """The ops that stop a gradient which the other side computes.

    A user of such an op has a partner on the other side, from which a suspect derives; or the op
    that makes what is stopped has one, and no gradient on this side.
    """
    for side in search.matching.sides:
        there = search.suspects_of[side.other]
        stopped_there = {node.origin for node in _stopping(side.other)}
        for node in _stopping(side):
            if node.origin.counterpart in stopped_there:
                continue
            users = [user for user in readers(node) if user.phase == "forward"]
            if not any(it.forward is node.origin for it in side.nodes):
                # A sum hands its gradient on as it is: then the first op is that of what was stopped.
                users.append(node.origin)
            gradient = _gradient_of_one(there, users, node)
            if gradient:
                values = Contrast((Reading("stopped"), reading(gradient.value)))
                divergence = GradientStopped(
                    phase="backward",
                    **at(node, values, gradient),
                    side=node.side.name,
                    places=both(node, gradient),
                )
                yield FoundDivergence(divergence, frozenset((node, gradient)))


def _gradient_of_one(suspects: Suspects, users: Iterable[Vertex], stopped: Vertex) -> Vertex | None:
    """The gradient of what is stopped that the first of its users has on the other side.

    A product with a bias may be two ops there, and a loss many, of which the first reads what is stopped,
    and has gradients of its other operands too: one of the size of what is stopped is preferred.
    """
    for own in users:
        user = own.counterpart if own is stopped.origin else own.partner
        if user is None:
            continue
        own_steps = reach(
            [user],
            lambda it: [step for step in it.feeders if step.phase == it.phase and step.is_free],
        )
        reading_it = [it for it in own_steps if stopped.origin.counterpart in it.origins]
        ops = {user, *user.steps, *reading_it}
        gradients = [node for node in suspects.nodes if node.forward in ops and _is_float(node)]
        gradients = [node for node in gradients if not _is_here_too(node, own)]
        gradients.sort(key=lambda node: node.value.size != stopped.value.size)
        if gradients:
            return gradients[0]
    return None


def _is_here_too(gradient: Vertex, own: Vertex) -> bool:
    """Whether an op has as many ops of a gradient's kind in backward as its partner has.

    Of an op with several results that is not known.
    """
    partner = gradient.forward
    if partner is None or partner is not own.partner or len(gradient.record.outputs) > 1:
        return False
    counts = []
    for node in (own, partner):
        derived = node.side.derived.get(node, ())
        counts.append(sum(it.family == gradient.family for it in derived))
    return counts[0] >= counts[1]


def _is_float(node: Vertex) -> bool:
    """Whether a node may hold a gradient, as a mask and the index of a maximum do not."""
    dtype = next((output.dtype for output in node.record.outputs), "")
    return "float" in dtype or "complex" in dtype


def _stopping(side: Side) -> Iterator[Vertex]:
    """The forward ops of a side that stop a gradient, last first.

    Then the values that are computed of weights, without gradients, and read where there are some.
    """
    ops = [it for it in side.nodes if it.phase == "forward" and it.kind == "op" and it.is_needed]
    for node in reversed(ops):
        # What is computed of constants alone has no gradient.
        if STOPS_GRADIENT.search(node.op) and any(
            it.is_leaf for it in reach([node], lambda it: it.feeders)
        ):
            yield node
    differentiated = {node.forward for node in side.nodes if node.phase == "backward"} - {None}
    for node in reversed(ops):
        if not _is_float(node) or differentiated.isdisjoint(node.consumers):
            continue
        made_of = reach(
            [node],
            lambda it: [read for read in it.feeders if read.phase == "forward" and read.is_work],
        )
        of_weights = any(it.family in PRODUCTS for it in made_of)
        if of_weights and differentiated.isdisjoint(made_of):
            yield node
