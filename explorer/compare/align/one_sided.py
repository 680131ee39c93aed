"""Divergences at work of one side only: an op too many, a gradient added in or stopped, a value rounded."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from explorer.compare.align.contrasts import (
    Contrast,
    FoundDivergence,
    alone,
    contrast,
    found,
    place,
    reading,
    row_of,
)
from explorer.compare.align.matching import Matching
from explorer.compare.align.provenance import readers, unwrapped
from explorer.compare.align.sameness import unit_of
from explorer.compare.align.suspects import (
    PRODUCTS,
    SILENT,
    Search,
    Suspects,
    are_followed_alike,
    kind,
)
from explorer.compare.align.vertices import OutputValue, Side, Vertex, in_order
from explorer.compare.graphs.sameness import within
from explorer.compare.graphs.view import reach
from explorer.model.divergence import (
    ExtraOps,
    GradientAdded,
    GradientStopped,
    Reading,
    Rounded,
)
from explorer.numeric.differences import Floats
from explorer.operators.families import MASKING

STOPS_GRADIENT = re.compile(r"detach|stop_?gradient", re.IGNORECASE)
"""Operators that hand their input on and stop its gradient."""

LEAST_PART = 1e-3
"""A term that is a smaller part of its sum cannot be distinguished from the sum's rounding."""

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
    ends: tuple[Vertex, Vertex] | None = None
    values = alone(last.value)
    # What the other side has of the last input that is as large as the value. A gradient is compared with
    # a gradient, unless gradients are added: a product has the other factor for one.
    read = [value for node in reversed(row) for value in node.inputs]
    as_large = [
        it.counterpart
        for it in (value.node.origin for value in read)
        if it.counterpart and it.value.size == last.value.size
        if gradients or it.phase == last.phase
    ]
    there = as_large[0] if as_large and not is_term else None
    # Both sides may do this with it, one of them inside of another op.
    if there and (goes_on or is_in_backward or are_followed_alike(last, there)):
        # Its value as the row reads it.
        as_read = [it for it in read if it.summary and it.node.origin.counterpart is there]
        beside = contrast(last.value, next(iter(as_read), there.value))
        if beside.gap.greatest != 0:
            ends, values = (last, there), beside
    # The lines of the uses of a value whose gradients are added, where a compiler made no one call of them.
    users = [it.node.forward for it in last.inputs if it.node.forward and it.node.forward.source]
    uses = dict.fromkeys(user.source for user in users if gradients)
    if len(uses) == 1:
        # A module that is called twice has one line inside, and two that call it.
        uses = dict.fromkeys(user.caller for user in users if user.caller)
    # The line that calls where a value is made; "" outside all modules, whose line is known.
    made = last.forward if gradients and len(uses) < 2 else None
    facts: dict[str, Any] = {
        "row": row_of(row),
        "gradients": gradients,
        "uses": tuple(uses) if len(uses) > 1 else (),
        "made_at": made.caller if made else "",
    }
    return found(ExtraOps, values, last, parts=row, ends=ends, goes_on=goes_on, **facts)


def ops_of_one_side(search: Search) -> Iterator[FoundDivergence]:
    """The ops of one of two sides ahead of the op with which the other side starts at once.

    None where both sides start with the same kind of op. Where no two of them correspond, one side does
    something first, or something of its own.
    """
    if search.counterparts is None:
        first, second = search.suspects_of.values()
        if search.phase == "forward" and not (first.nodes and second.nodes):
            yield from _behind_results(search, first if first.nodes else second)
        for here, there in ((first, second), (second, first)):
            behind = [node for node in here.nodes if node not in here.entries]
            for other in there.entries[:1]:
                row = _before(other, behind, here)
                if row:
                    yield extra_ops(row, other)
        yield from (extra_ops([entry], None) for entry in (*first.entries, *second.entries))
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
        if is_ahead and not all(it.is_bookkeeping or _passes_on(it) for it in row):
            yield extra_ops(row, other)


def _passes_on(node: Vertex) -> bool:
    """Whether an op gives just the numbers that it reads, as a product with 1 does."""
    return any(contrast(node.value, it).gap.greatest == 0 for it in node.inputs if it.summary)


def _behind_results(search: Search, here: Suspects) -> Iterator[FoundDivergence]:
    """The ops that one side alone does with what the other side returns as it is."""
    for mismatch in search.results:
        for result in (mismatch.first, mismatch.second):
            last = unwrapped(result.inputs[0]).node if result.inputs else None
            made = last.origin.counterpart if last else None
            onwards = [it for it in here.nodes if made and made in it.origins][:1]
            row = [it for first in onwards for it in (first, *here.downstream(first))]
            row = [it for it in row if it.main and not it.is_bookkeeping]
            # Where both end alike, the other side has come to a value that it has ahead of it too.
            if row and last and row[-1].family != last.family:
                yield extra_ops(row, None)


def _before(other: Vertex, nodes: list[Vertex], suspects: Suspects) -> list[Vertex]:
    """The ops before the first of ``nodes`` that does the same work as the other side's op.

    They lead to the last suspect that it reads; to one that computes, if there is such.
    """
    for node in nodes:
        # All that put a number in the place of elements do the same work.
        is_one_kind = node.family == other.family or {node.family, other.family} <= MASKING
        if is_one_kind and not _read_something_else(node, other):
            read = in_order(it for it in set(node.feeders).intersection(suspects.nodes) if it.main)
            read = [it for it in read if it.family not in SILENT] or read
            # The parameters that they read are no ops of their own.
            return [it for it in suspects.lineage(read[-1]) if not it.is_leaf] if read else []
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


# Sums


def are_close(held: Floats, wanted: Floats) -> bool:
    """Whether two values hold one quantity, with more rounding than their noise."""
    rtol, share = CLOSE
    floor = share * np.abs(wanted).max(initial=0.0)
    return held.size == wanted.size and within(held, wanted, (rtol, floor))


def is_rest(rest: OutputValue, total: OutputValue, term: OutputValue) -> bool:
    """Whether a value is what is left of a sum without a term of it."""
    wanted, numbers, part = rest.finite_numbers, total.finite_numbers, term.finite_numbers
    if wanted is None or numbers is None or part is None or part.size != numbers.size:
        return False
    # Nothing is left of a sum with one term: every zero of the other side would hold that.
    least = LEAST_PART * np.abs(numbers).max(initial=0.0)
    is_clear = min(np.abs(part).max(), np.abs(numbers - part).max()) > least
    return bool(is_clear) and are_close(wanted, numbers - part)


def term_left_out(node: Vertex, term: Vertex, rest: Vertex) -> FoundDivergence:
    """A sum of one side, a term of it that the other leaves out, and what that has instead."""
    values, ends = contrast(node.value, rest.value), (node, rest)
    total, part, left = map(place, (node, term, rest))
    return found(GradientAdded, values, node, ends=ends, total=total, term=part, rest=left)


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
            if node.origin not in side.derived:
                # A sum hands its gradient on as it is: then the first op is that of what was stopped.
                users.append(node.origin)
            gradient = _gradient_of_one(there, users, node)
            if gradient:
                values = Contrast((Reading("stopped"), reading(gradient.value)))
                yield found(GradientStopped, values, node, gradient, phase="backward")


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
        gradients = [it for it in suspects.nodes if it.forward in ops and _is_float(it)]
        gradients = [it for it in gradients if not _is_here_too(it, own)]
        if gradients:
            return min(gradients, key=lambda node: node.value.size != stopped.value.size)
    return None


def _is_here_too(gradient: Vertex, own: Vertex) -> bool:
    """Whether an op has as many ops of a gradient's kind in backward as its partner has.

    Of an op with several results that is not known.
    """
    partner = gradient.forward
    if partner is None or partner is not own.partner or len(gradient.record.outputs) > 1:
        return False
    derived = (node.side.derived.get(node, ()) for node in (own, partner))
    here, there = (sum(it.family == gradient.family for it in some) for some in derived)
    return here >= there


def _is_float(node: Vertex) -> bool:
    """Whether a node may hold a gradient, as a mask and the index of a maximum do not."""
    dtype = next((output.dtype for output in node.record.outputs), "")
    return "float" in dtype or "complex" in dtype


def _stopping(side: Side) -> Iterator[Vertex]:
    """The forward ops of a side that stop a gradient, last first.

    Then the values that are computed of weights, without gradients, and read where there are some.
    """
    ops = [it for it in side.nodes if it.phase == "forward" and it.kind == "op" and it.is_needed]
    for node in ops[::-1]:
        # What is computed of constants alone has no gradient.
        stops = STOPS_GRADIENT.search(node.op) is not None
        if stops and any(it.is_leaf for it in reach([node], lambda it: it.feeders)):
            yield node
    differentiated = {node.forward for node in side.nodes if node.phase == "backward"} - {None}
    for node in ops[::-1]:
        if _is_float(node) and not differentiated.isdisjoint(node.consumers):
            made_of = reach([node], lambda it: it.work_read)
            of_weights = any(it.family in PRODUCTS for it in made_of)
            if of_weights and differentiated.isdisjoint(made_of):
                yield node


# Values that one side alone rounds


def rounded_on_one_side(
    matching: Matching, findings: Iterable[FoundDivergence]
) -> Iterator[FoundDivergence]:
    """The places in forward where one side alone rounds to a narrower dtype, and goes on in the wider one.

    What is rounded has a counterpart on the other side, and so has what comes of it; nothing between
    those two, nor anything that passes the former's numbers on, is narrower there. A value that is not
    changed by rounding, and what is in a divergence of ``findings``, is left out.
    """
    taken = {part for finding in findings for part in finding.parts}
    for node in (node for side in matching.sides for node in side.nodes):
        if node not in taken and node.is_needed and node.phase == "forward" and node.is_work:
            finding = _rounding(node)
            if finding is not None and taken.isdisjoint(finding.parts):
                taken |= finding.parts
                yield finding


def _rounding(node: Vertex) -> FoundDivergence | None:
    """What begins at a node that rounds what it reads; None where it does not, or both sides do."""
    wider = (it for it in node.feeders if _is_narrower(node, it) and it.kind != "constant")
    given = next(wider, None)
    counterpart = _counterpart(given) if given and given.main else None
    if given is None or counterpart is None or _is_narrower(counterpart, given):
        return None

    def narrow_users(it: Vertex) -> list[Vertex]:
        users = (user for user in it.consumers if user.phase == "forward")
        return [user for user in users if _is_narrower(user, given)]

    narrow = reach([node], narrow_users)
    # What reads the narrow values, is as wide as what was given and was observed.
    users = reach(narrow, lambda it: it.consumers if it in narrow or it.main is None else ())
    for wide in in_order(users - narrow):
        is_in_net = wide.phase == "forward" and (wide.is_work or wide.is_result)
        if not (is_in_net and wide.main and wide.value.dtype == given.value.dtype):
            continue
        other = _counterpart(wide)
        if other is None or not _leads_without_rounding(counterpart, other, given):
            continue
        # Where no difference is known of two values of one size, rounding changes nothing.
        pairs = (node.value, given.value), (wide.value, other.value)
        of_one_size = [contrast(*pair) for pair in pairs if pair[0].size == pair[1].size]
        if all(values.gap.greatest != 0 for values in of_one_size):
            # Both values behind it, where these are of one shape.
            is_one_shape = wide.value.shape == other.value.shape
            values = contrast(*pairs[1]) if is_one_shape else alone(wide.value)
            parts, dtypes = (*narrow, wide), (node.value.dtype, given.value.dtype)
            facts: dict[str, Any] = {"dtypes": dtypes, "result": wide.id}
            return found(Rounded, values, node, other, parts=parts, ends=(wide, other), **facts)
    return None


def _counterpart(node: Vertex) -> Vertex | None:
    """The node of the other side that holds the same quantity, maybe in another shape."""
    if not node.is_result:
        return node.there
    makers = node.partner.feeders if node.partner else []
    return next(iter(makers), None)


def _leads_without_rounding(start: Vertex, end: Vertex, given: Vertex) -> bool:
    """Whether one node leads to another, and nothing on the way is narrower than what was given.

    Nothing that passes the first one's numbers on may be either, wherever it leads.
    """
    passed_on = reach(
        [start.origin, start], lambda it: [user for user in it.consumers if user.is_bookkeeping]
    )
    onwards = reach([start], lambda it: it.consumers)
    if end not in onwards and end.origin is not start.origin:
        return False
    leading = reach([end], lambda it: it.feeders)
    return not any(_is_narrower(it, given) for it in (*passed_on, *(onwards & leading)))


def _is_narrower(node: Vertex, other: Vertex) -> bool:
    """Whether the numbers of a node have fewer digits than those of another one."""
    return unit_of(node.value) > unit_of(other.value) > 0
