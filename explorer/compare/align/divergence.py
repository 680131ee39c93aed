"""The first divergence: the earliest place whose inputs agree and whose value does not."""

from collections.abc import Iterator, Sequence

from explorer.compare.align.backtrace import Backtrace, ExtraRow, Origin, TermLeftOut
from explorer.compare.align.contrasts import (
    NO_DIVERGENCE,
    FoundDivergence,
    alone,
    both,
    contrast,
    ends_of,
    place,
    reading,
    row_of,
)
from explorer.compare.align.matching import Matching, Mismatch
from explorer.compare.align.one_sided import (
    extra_ops,
    first_close,
    gradients_added,
    gradients_stopped,
    nothing_in_common,
    ops_ahead,
    term_left_out,
)
from explorer.compare.align.provenance import (
    read_alone,
    reads_unobserved,
    shared_origins,
    spread_otherwise,
    unwrapped,
)
from explorer.compare.align.rearrangement import (
    are_in_another_order,
    parting_of_order,
    rearranged_input,
    swapped_before,
)
from explorer.compare.align.suspects import (
    Suspects,
    SuspectsBySide,
    find_suspects,
    is_settled,
    same_work,
    unpaired_onwards,
)
from explorer.compare.align.vertices import OutputValue, Side, Vertex, as_seen
from explorer.model.divergence import (
    Inputs,
    LoneLeaf,
    OtherStart,
    OtherValue,
    Reading,
    Rearranged,
    ResultElsewhere,
    ResultMissing,
    Spread,
)
from explorer.model.graph import Phase

FEW_CONSTANTS = 2
"""The most constants, read by one side alone, that are reported with their values."""

FEW_OPS = 12
"""The most ops of one side that are compared as one, from all that is known to a gradient."""

NOT_ALIKE = 0, False, False
"""The likeness of two nodes that have nothing in common."""


def diverge(
    matching: Matching, missing: list[Vertex], apart: Sequence[FoundDivergence] = ()
) -> FoundDivergence:
    """The place where two graphs part, if a named result differs.

    ``missing`` are gradients that only the one or the other side has, the first side's first;
    ``apart`` those that both hold in other pieces, and that differ.
    """
    in_forward = matching.differing_results("forward")
    if in_forward:
        suspects_of = suspects_behind(matching, in_forward, "forward")
        return _before_results(matching, in_forward, suspects_of, "forward")
    in_backward = matching.differing_results("backward")
    if in_backward:
        early = _early(matching, in_backward)
        if early:
            return _before_results(matching, in_backward, early, "forward")
        suspects_of = suspects_behind(matching, in_backward, "backward")
        return _before_results(matching, in_backward, suspects_of, "backward")
    # A graph that names no results, such as a compiler's early stage, still has its leaves.
    if matching.mismatches and not matching.first.results():
        return from_leaf(matching.mismatches[0])
    if missing:
        return from_missing(missing[0])
    return next(iter(apart), NO_DIVERGENCE)


def _before_results(
    matching: Matching, results: list[Mismatch], suspects_of: SuspectsBySide, phase: Phase
) -> FoundDivergence:
    """The earliest place among the suspects; where there is none, what makes the first result."""
    found = (
        _from_other_starts(matching, suspects_of, phase)
        or (_left_out(suspects_of) if phase == "backward" else None)
        or _from_swapped(matching, suspects_of, phase)
        or next(from_backtrace(matching, results, phase), None)
        or _from_lone_leaves(suspects_of, phase)
        or _from_entries(matching, results, suspects_of, phase)
    )
    if found and is_difference(found, phase):
        return found
    return from_result(results[0], phase)


def is_difference(found: FoundDivergence, phase: Phase) -> bool:
    """Whether there is a difference, between what can be one quantity.

    Two gradients of other sizes are not: they are steps on two ways to it.
    """
    divergence = found.divergence
    if divergence is None or divergence.gap.greatest == 0:
        return False
    is_of_other_sizes = any(end.value.what == "shape" for end in divergence.ends)
    is_two_ways = isinstance(divergence, OtherValue) and divergence.rows[0].count > 1
    return not (phase == "backward" and is_of_other_sizes and is_two_ways)


def suspects_behind(matching: Matching, results: list[Mismatch], phase: Phase) -> SuspectsBySide:
    """The suspects of both sides."""
    suspects_of = {}
    for side in matching.sides:
        suspects_of[side] = find_suspects([mismatch.on(side) for mismatch in results], phase)
    return suspects_of


def _early(matching: Matching, results: list[Mismatch]) -> SuspectsBySide | None:
    """Suspects of a forward that differs although its results agree.

    They agree within tolerance, or because a later op hides the difference. Steps that one side
    alone breaks down are no difference; the same op on both sides with another value is.
    """
    # The way back from a gradient leads through backward first: what is there is no suspect here.
    suspects_of: dict[Side, Suspects] = {}
    for side, suspects in suspects_behind(matching, results, "forward").items():
        suspects_of[side] = suspects.forward_only()
    counterparts = _counterparts(suspects_of)
    if counterparts is None:
        return None
    work, other_work = (_work_onwards(node) for node in counterparts)
    return suspects_of if work & other_work else None


def _work_onwards(first: Vertex) -> set[tuple[str, int]]:
    """The family and size of every op that follows from a node before values agree again."""
    work = set()
    for node in unpaired_onwards(first):
        if not node.is_bookkeeping:
            work.add((node.family, node.value.size))
    return work


# Leaves


def _from_other_starts(
    matching: Matching, suspects_of: SuspectsBySide, phase: Phase
) -> FoundDivergence | None:
    """A leaf among the suspects that has another value on each side.

    Leaves come before all computation, so they are looked at before ops are.
    """
    first, second = suspects_of.values()
    suspected = {*first.nodes, *second.nodes}
    for mismatch in matching.mismatches:
        is_suspect = not suspected.isdisjoint((mismatch.first, mismatch.second))
        if is_suspect and mismatch.first.is_leaf:
            return from_leaf(mismatch, phase)
    return None


def _from_lone_leaves(suspects_of: SuspectsBySide, phase: Phase) -> FoundDivergence | None:
    """A leaf among the suspects that only one side has."""
    leaves = []
    for suspects in suspects_of.values():
        leaves += [leaf for leaf in suspects.leaves() if suspects.is_alone(leaf)]
    if not leaves:
        return None
    return from_lone_leaf(leaves[0], suspects_of[leaves[0].side].user_of(leaves[0]), phase)


def from_leaf(mismatch: Mismatch, phase: Phase = "forward") -> FoundDivergence:
    """A leaf from whose values the two nets start differently."""
    left, right = as_seen(mismatch.first, mismatch.second)
    values = contrast(left.value, right.value)
    divergence = OtherStart(
        phase=phase, ends=ends_of(left, values, right), gap=values.gap, name=left.name
    )
    return FoundDivergence(divergence, frozenset((left, right)), ends=(left, right))


def from_lone_leaf(leaf: Vertex, user: Vertex | None, phase: Phase) -> FoundDivergence:
    """A leaf that only one side has; ``user`` is what reads it."""
    divergence = LoneLeaf(
        phase=phase,
        ends=ends_of(leaf, alone(leaf.value), source=user.source if user else ""),
        side=leaf.side.name,
        leaf=leaf.kind,
        name=leaf.name or leaf.op,
        user=place(user) if user else None,
    )
    return FoundDivergence(divergence, frozenset((leaf, user) if user else (leaf,)))


# Ops


def _from_two_ways(
    matching: Matching, results: list[Mismatch], phase: Phase
) -> FoundDivergence | None:
    """All ops in backward that lead to one gradient, if they are few and all else is known.

    Two formulas need not have a step in common: then none of them can be set beside another.
    """
    if phase == "forward":
        return None
    shortest: tuple[list[Vertex], list[Vertex]] | None = None
    for mismatch in results:
        row, other_row = _way_to(mismatch.first), _way_to(mismatch.second)
        beyond = _beyond(mismatch.second, row) or _beyond(mismatch.first, other_row)
        if beyond:
            return extra_ops([beyond], None, phase)
        if not row or not other_row or row[-1].value.size != other_row[-1].value.size:
            continue
        if shortest is None or len(row) + len(other_row) < len(shortest[0]) + len(shortest[1]):
            shortest = row, other_row
    return _two_rows(matching, *shortest) if shortest else None


def _beyond(result: Vertex, other_row: list[Vertex]) -> Vertex | None:
    """The first op of the other side's way to a gradient that works on what is returned here.

    Where it adds to that, the term is what only one side has.
    """
    if not result.inputs:
        return None
    returned = unwrapped(result.inputs[0]).node.origin.counterpart
    for node in other_row:
        if returned is not None and returned in node.origins:
            return None if node.family == "add" else node
    return None


def _way_to(result: Vertex) -> list[Vertex]:
    """The observed ops in backward that lead to a gradient from what is known; none where many do."""
    nodes = find_suspects([result], "backward").nodes
    ops = [node for node in nodes if node.main and not node.is_bookkeeping]
    is_known = not any(node.is_leaf or node.phase == "forward" for node in nodes)
    return ops if is_known and len(ops) <= FEW_OPS else []


def _from_entries(
    matching: Matching, results: list[Mismatch], suspects_of: SuspectsBySide, phase: Phase
) -> FoundDivergence | None:
    """The earliest suspects whose inputs agree: two ops that part, or work of one side only."""
    if not any(suspects.entries for suspects in suspects_of.values()):
        return None
    counterparts = _counterparts(suspects_of)
    if counterparts is None:
        return _from_two_ways(matching, results, phase) or nothing_in_common(suspects_of, phase)
    first, second = counterparts
    for node, other in ((first, second), (second, first)):
        row = ops_ahead(node, other, suspects_of)
        # What passes on the numbers that it reads is not where they begin to differ.
        if row and not all(ahead.is_bookkeeping for ahead in row):
            return extra_ops(row, other, phase)
    if not same_work(first, second):
        two_ways = _from_two_ways(matching, results, phase)
        if two_ways:
            return two_ways
        # Another op comes first where one side does the same work on something else.
        first, second = _of_one_layer(first, second, suspects_of)
    return two_ops(matching, first, second, suspects_of, phase)


def _of_one_layer(
    first: Vertex, second: Vertex, suspects_of: SuspectsBySide
) -> tuple[Vertex, Vertex]:
    """Two ops that do the same work with one parameter, one of which is given; else the given two."""
    for node in suspects_of[first.side].nodes:
        if _share_parameter(node, second):
            return node, second
    for node in suspects_of[second.side].nodes:
        if _share_parameter(first, node):
            return first, node
    return first, second


def _share_parameter(node: Vertex, other: Vertex) -> bool:
    parameters = {origin.counterpart for origin in node.origins if origin.kind == "parameter"}
    return same_work(node, other) and not parameters.isdisjoint(other.origins)


def _left_out(suspects_of: SuspectsBySide) -> FoundDivergence | None:
    """A gradient that is left out: it changes all that follows, also in ops that differ."""
    stopped = next(gradients_stopped(suspects_of), None)
    return stopped or next(gradients_added(suspects_of), None)


def _from_swapped(
    matching: Matching, suspects_of: SuspectsBySide, phase: Phase
) -> FoundDivergence | None:
    """Equal inputs that two ops put together in another order."""
    for suspects in suspects_of.values():
        swapped = swapped_before(matching, suspects.entries)
        if swapped:
            return two_ops(matching, *swapped, suspects_of, swapped[0].phase)
    return None


def from_backtrace(
    matching: Matching, results: list[Mismatch], phase: Phase
) -> Iterator[FoundDivergence]:
    """The places that the way back from results leads to on both sides, earliest first."""
    backtrace = Backtrace(matching, phase, lambda node: is_settled(node, phase))
    for origin in sorted(backtrace.origins(results), key=_place):
        if isinstance(origin, TermLeftOut):
            yield term_left_out(origin.total, origin.term, origin.rest)
        elif isinstance(origin, ExtraRow):
            row = list(origin.row)
            yield extra_ops(row, None, row[0].phase, is_term=origin.is_term)
        else:
            yield _two_rows(matching, list(origin.first), list(origin.second))


def _place(origin: Origin) -> tuple[int, int]:
    """The sort key of an origin: what runs first."""
    steps = [node.step for node in origin.nodes]
    return min(steps), max(steps)


def _counterparts(suspects_of: SuspectsBySide) -> tuple[Vertex, Vertex] | None:
    """The first side's earliest entry that has a counterpart, and that one."""
    first, second = suspects_of.values()
    for node in first.entries:
        best: Vertex | None = None
        best_likeness = NOT_ALIKE
        for other in second.entries:
            likeness = _likeness(node, other)
            if likeness > best_likeness:
                best, best_likeness = other, likeness
        if best:
            return _on_shared_inputs(node, best, suspects_of)
    return None


def _on_shared_inputs(
    node: Vertex, other: Vertex, suspects_of: SuspectsBySide
) -> tuple[Vertex, Vertex]:
    """Two entries, or one of them and a later suspect with which it shares inputs, where it has none."""
    if not shared_origins(node, other):
        later = _same_work_on_more(node, suspects_of[other.side])
        if later:
            return node, later
        later = _same_work_on_more(other, suspects_of[node.side])
        if later:
            return later, other
    return node, other


def _same_work_on_more(node: Vertex, suspects: Suspects) -> Vertex | None:
    """A later suspect that does the work of an entry on some of the same inputs.

    It is no entry itself where one of its inputs is something else on its side.
    """
    for other in suspects.nodes:
        if other.phase == node.phase and same_work(node, other) and shared_origins(node, other):
            return other
    return None


def _likeness(node: Vertex, other: Vertex) -> tuple[int, bool, bool]:
    """The likeness of two nodes; of more similar nodes the tuple is greater.

    Shared inputs count first, then the same kind of op, then the same module.
    """
    if node.phase != other.phase:
        return NOT_ALIKE
    is_same_module = node.scope != "" and node.scope == other.scope
    return shared_origins(node, other), same_work(node, other), is_same_module


def two_ops(
    matching: Matching, node: Vertex, other: Vertex, suspects_of: SuspectsBySide, phase: Phase
) -> FoundDivergence:
    """Two ops in one place with other values, and whether their inputs are equal.

    Ops of different kinds are compared as the stretches of ops that two lines of code became.
    """
    moved = parting_of_order(matching, node, other)
    if moved:
        # The two only notice that their inputs are in another order: this is where it parts.
        node, other = _as_made(*moved)
        phase = node.phase
    rows = ([node], [other]) if moved else _rows(node, other, suspects_of)
    return _other_value(matching, *rows, phase)


def _two_rows(matching: Matching, row: list[Vertex], other_row: list[Vertex]) -> FoundDivergence:
    """Ops in a row on each side that lead to what should be one value."""
    moved = parting_of_order(matching, row[0], other_row[0])
    if moved:
        return _other_value(matching, [moved[0]], [moved[1]], moved[0].phase)
    own, others = read_alone(row, other_row), read_alone(other_row, row)
    lone = [leaf for leaf in (*own, *others) if leaf.is_leaf and not leaf.is_reserved]
    if len(lone) == len(own) + len(others) == 1:
        users = [node for node in (*row, *other_row) if lone[0] in node.origins]
        return from_lone_leaf(lone[0], users[0], row[-1].phase)
    return _other_value(matching, row, other_row, row[-1].phase)


def _as_made(node: Vertex, other: Vertex) -> tuple[Vertex, Vertex]:
    """Two nodes whose numbers are in another order: what one passes on by the op that made it."""
    if same_work(node.origin, other):
        return node.origin, other
    if same_work(node, other.origin):
        return node, other.origin
    return node, other


def _other_value(
    matching: Matching, row: list[Vertex], other_row: list[Vertex], phase: Phase
) -> FoundDivergence:
    node, other = row[0], other_row[0]
    left, right = (row, other_row) if node.side.is_left else (other_row, row)
    values = contrast(left[-1].value, right[-1].value)
    divergence = OtherValue(
        phase=phase,
        ends=ends_of(left[0], values, right[0]),
        gap=values.gap,
        rows=(row_of(left), row_of(right)),
        inputs=_inputs(matching, node, other, left, right),
    )
    return FoundDivergence(divergence, frozenset((*left, *right)), (left[-1], right[-1]))


def _rows(
    node: Vertex, other: Vertex, suspects_of: SuspectsBySide
) -> tuple[list[Vertex], list[Vertex]]:
    """The ops of both sides whose values are compared, of which the last ones hold these.

    Two formulas of one quantity are compared where both have come to it.
    """
    is_same = same_work(node, other) and node.value.size == other.value.size
    if is_same and first_close([node], [other]):
        return [node], [other]
    row = suspects_of[node.side].stretch(node)
    other_row = suspects_of[other.side].stretch(other)
    close = first_close(row, other_row)
    if close:
        return row[: close[0] + 1], other_row[: close[1] + 1]
    if is_same:
        return [node], [other]
    row = _up_to_size(row, other_row[-1].value.size)
    return _up_to_result(row, other_row, suspects_of), _up_to_result(other_row, row, suspects_of)


def _up_to_result(
    row: list[Vertex], other_row: list[Vertex], suspects_of: SuspectsBySide
) -> list[Vertex]:
    """A row of ops, longer where the other one ends in a result: up to that result here."""
    last = row[-1]
    names = {
        result.name for result in other_row[-1].side.results() if _maker(result) is other_row[-1]
    }
    for result in last.side.results():
        maker = _maker(result)
        if result.name not in names or maker is None or maker is last:
            continue
        onwards = {last, *suspects_of[last.side].downstream(last)}
        if maker in onwards:
            way = suspects_of[last.side].lineage(maker)
            return row + [node for node in way if node in onwards and node is not last]
    return row


def _maker(result: Vertex) -> Vertex | None:
    """The op that makes a result, whatever hands it on."""
    return unwrapped(result.inputs[0]).node if result.inputs else None


def _up_to_size(row: list[Vertex], size: int) -> list[Vertex]:
    """Ops in a row up to the last one whose value has ``size`` elements; all where none has."""
    for length in range(len(row), 0, -1):
        if row[length - 1].value.size == size:
            return row[:length]
    return row


def _inputs(
    matching: Matching, node: Vertex, other: Vertex, left: list[Vertex], right: list[Vertex]
) -> Inputs:
    """What two ops read, or two rows of ops that they begin."""
    fed = matching.differing(node.side).intersection(node.feeders)
    if fed:
        return Inputs(differing=tuple(sorted(leaf.name for leaf in fed)))
    own = _telling(read_alone(left, right))
    others = _telling(read_alone(right, left))
    spread = spread_otherwise(left, right)
    if spread:
        return Inputs(spread=tuple(map(_spread, spread)))
    places = tuple(map(place, own)), tuple(map(place, others))
    if own and others:
        # What is read in the place of something else is the divergence itself.
        return Inputs(alone=places)
    is_unobserved = reads_unobserved(left, right) or reads_unobserved(right, left)
    are_swapped = are_in_another_order(node, other)
    return Inputs(
        alone=places,
        constants=_constants(own or others),
        are_observed=not is_unobserved,
        are_swapped=are_swapped,
        rearranged=None if are_swapped else _rearranged(matching, node, other),
    )


def _spread(values: tuple[OutputValue, ...]) -> Spread:
    left, right = values
    origin = unwrapped(left).node.origin
    return Spread(origin.name or origin.op, (left.shape, right.shape))


def _telling(nodes: list[Vertex]) -> list[Vertex]:
    """Nodes without the constants among them, unless these are few and all: an op has settings."""
    others = [node for node in nodes if node.kind != "constant"]
    return others or (nodes if len(nodes) <= FEW_CONSTANTS else [])


def _constants(nodes: list[Vertex]) -> tuple[Reading, ...]:
    """The values of nodes where all are constants: the other side may have them as settings."""
    if len(nodes) > FEW_CONSTANTS or any(node.kind != "constant" for node in nodes):
        return ()
    return tuple(reading(node.value) for node in nodes)


def _rearranged(matching: Matching, node: Vertex, other: Vertex) -> Rearranged | None:
    """The first input whose numbers lie in another layout on the other side."""
    read = rearranged_input(matching, node, other)
    if read is None:
        return None
    value, other_value = read
    layout = matching.layout(value, other_value)
    return Rearranged(both(value.node, other_value.node), layout) if layout else None


# Results


def from_result(mismatch: Mismatch, phase: Phase) -> FoundDivergence:
    """A result whose maker has a partner on the other side that is not the result's maker there."""
    left, right = as_seen(mismatch.first, mismatch.second)
    maker = left.inputs[0].node if left.inputs else left
    other_maker = right.inputs[0].node if right.inputs else right
    values = contrast(left.result, right.result)
    divergence = ResultElsewhere(
        phase=phase,
        ends=ends_of(maker, values, other_maker),
        gap=values.gap,
        name=left.name or left.id,
        makers=both(maker, other_maker),
        do_correspond=maker.partner is other_maker,
    )
    return FoundDivergence(divergence, frozenset((left, right)))


def from_missing(result: Vertex) -> FoundDivergence:
    """Everything that both sides name agrees, but one of them has a gradient more."""
    divergence = ResultMissing(
        phase="backward",
        ends=ends_of(result, alone(result.result)),
        side=result.side.name,
        name=result.name,
    )
    return FoundDivergence(divergence, frozenset((result,)))
