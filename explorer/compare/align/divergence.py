"""The first divergence: the earliest place whose inputs agree and whose value does not."""

from explorer.compare.align.matching import Matching, Mismatch
from explorer.compare.align.one_sided import (
    ABSENT,
    extra_ops,
    first_close,
    gradients_added,
    gradients_stopped,
    nothing_in_common,
    ops_ahead,
)
from explorer.compare.align.provenance import read_alone, reads_unobserved, shared_origins
from explorer.compare.align.rearrangement import (
    are_in_another_order,
    parting_of_order,
    rearranged_input,
    swapped_before,
)
from explorer.compare.align.sides import Side, Vertex, as_seen
from explorer.compare.align.suspects import (
    Suspects,
    SuspectsBySide,
    find_suspects,
    same_work,
    unpaired_onwards,
)
from explorer.compare.align.wording import (
    FIRST,
    NO_DIVERGENCE,
    Contrast,
    Finding,
    between,
    contrast,
    named,
    on_one_side,
    reading,
    row_of,
)
from explorer.model.graph import Phase

FEW_NAMED = 2
"""So many inputs are named that one side alone reads."""

NOT_ALIKE = 0, False, False
"""The likeness of two nodes that have nothing in common."""


def diverge(matching: Matching, missing: list[Vertex]) -> Finding:
    """The place where two graphs part, if a named result differs.

    ``missing`` are gradients that only the one or the other side has, the first side's first.
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
    return from_missing(missing[0]) if missing else NO_DIVERGENCE


def _before_results(
    matching: Matching, results: list[Mismatch], suspects_of: SuspectsBySide, phase: Phase
) -> Finding:
    """The earliest place among the suspects; where there is none, what makes the first result."""
    return (
        _from_leaves(matching, suspects_of, phase)
        or _from_entries(matching, suspects_of, phase)
        or from_result(results[0], phase)
    )


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


def _from_leaves(matching: Matching, suspects_of: SuspectsBySide, phase: Phase) -> Finding | None:
    """A leaf among the suspects: one with another value on each side, or on one side only.

    Leaves come before all computation, so they are looked at before ops are.
    """
    first, second = suspects_of.values()
    suspected = {*first.nodes, *second.nodes}
    for mismatch in matching.mismatches:
        is_suspect = not suspected.isdisjoint((mismatch.first, mismatch.second))
        if is_suspect and mismatch.first.is_leaf:
            return from_leaf(mismatch, phase)
    leaves = []
    for suspects in suspects_of.values():
        leaves += [leaf for leaf in suspects.leaves() if suspects.is_alone(leaf)]
    if not leaves:
        return None
    return from_lone_leaf(leaves[0], suspects_of[leaves[0].side].user_of(leaves[0]), phase)


def from_leaf(mismatch: Mismatch, phase: Phase = "forward") -> Finding:
    """A leaf from whose values the two nets start differently."""
    left, right = as_seen(mismatch.first, mismatch.second)
    readings = contrast(left.value, right.value)
    sentence = (
        f"{FIRST}: the nets start from different values of `{left.name}`: {readings.in_words()}"
    )
    return between(left, right, phase, sentence, readings, [left, right], ends=(left, right))


def from_lone_leaf(leaf: Vertex, user: Vertex | None, phase: Phase) -> Finding:
    """A leaf that only one side has; ``user`` is what reads it."""
    used = f"; {named(user)} uses it" if user else ""
    sentence = (
        f"{FIRST}: the {leaf.kind} `{leaf.name or leaf.op}` exists in {leaf.side.engine} only{used}"
    )
    readings = Contrast(reading(leaf.value), ABSENT)
    if user is None:
        return on_one_side(leaf, phase, sentence, readings, [leaf])
    return on_one_side(leaf, phase, sentence, readings, [leaf, user], user.source)


# Ops


def _from_entries(matching: Matching, suspects_of: SuspectsBySide, phase: Phase) -> Finding | None:
    """The earliest suspects whose inputs agree: two ops that part, or work of one side only."""
    if not any(suspects.entries for suspects in suspects_of.values()):
        return None
    # A gradient that is left out changes all that follows: it is looked for before ops that differ.
    left_out = _left_out(suspects_of) if phase == "backward" else None
    if left_out:
        return left_out
    for suspects in suspects_of.values():
        swapped = swapped_before(matching, suspects.entries)
        if swapped:
            return two_ops(matching, *swapped, suspects_of, swapped[0].phase)
    counterparts = _counterparts(suspects_of)
    if counterparts is None:
        return nothing_in_common(suspects_of, phase)
    first, second = counterparts
    for node, other in ((first, second), (second, first)):
        row = ops_ahead(node, other, suspects_of)
        if row:
            return extra_ops(row, other, phase)
    return two_ops(matching, first, second, suspects_of, phase)


def _left_out(suspects_of: SuspectsBySide) -> Finding | None:
    stopped = next(gradients_stopped(suspects_of), None)
    return stopped or next(gradients_added(suspects_of), None)


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
            return node, best
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
) -> Finding:
    """Two ops in one place with other values, and whether their inputs are equal.

    Ops of different kinds are compared as the stretches of ops that two lines of code became.
    """
    moved = parting_of_order(matching, node, other)
    if moved:
        # The two only notice that their inputs are in another order: this is where it parts.
        node, other = moved
        phase = node.phase
    rows = ([node], [other]) if moved else _rows(node, other, suspects_of)
    left, right = rows if node.side.is_left else rows[::-1]
    inputs = _inputs(matching, node, other, left, right)
    readings = contrast(left[-1].value, right[-1].value)
    sentence = (
        f"{FIRST} in {phase}: {row_of(left)} and {row_of(right)} take {inputs}"
        f" give different values: {readings.in_words()}"
    )
    ends = left[-1], right[-1]
    return between(left[0], right[0], phase, sentence, readings, [*left, *right], ends)


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
    return _up_to_size(row, other_row[-1].value.size), other_row


def _up_to_size(row: list[Vertex], size: int) -> list[Vertex]:
    """Ops in a row up to the last one whose value has ``size`` elements; all where none has."""
    for length in range(len(row), 0, -1):
        if row[length - 1].value.size == size:
            return row[:length]
    return row


def _inputs(
    matching: Matching, node: Vertex, other: Vertex, left: list[Vertex], right: list[Vertex]
) -> str:
    """What two ops read, in words that lead on to what they give: "equal inputs but"."""
    fed = matching.differing(node.side).intersection(node.feeders)
    if fed:
        names = " and ".join(f"`{name}`" for name in sorted(leaf.name for leaf in fed))
        return f"equal inputs but for {names} but"
    alone, other_alone = read_alone(left, right), read_alone(right, left)
    if alone and other_alone:
        # What is read in the place of something else is the parting itself.
        return f"different inputs, {_named_all(alone)} against {_named_all(other_alone)}, and"
    extra = _extra(alone or other_alone)
    if reads_unobserved(left, right) or reads_unobserved(right, left):
        extra += ", as far as their values are known,"
    return f"equal inputs{extra}{_inputs_note(matching, node, other)} but"


def _named_all(nodes: list[Vertex]) -> str:
    names = " and ".join(map(named, nodes[:FEW_NAMED]))
    return f"{names} and {len(nodes) - FEW_NAMED} more" if len(nodes) > FEW_NAMED else names


def _extra(alone: list[Vertex]) -> str:
    """A note on what one side alone reads: the other may have it as a setting, or not at all."""
    if not alone:
        return ""
    engine = alone[0].side.engine
    shown = " and ".join(reading(node.value) for node in alone[:FEW_NAMED])
    if all(node.kind == "constant" for node in alone) and len(alone) <= FEW_NAMED:
        constants = "a constant" if len(alone) == 1 else "constants"
        return f" (beside {shown}, {constants} of {engine} alone)"
    return f" but for {_named_all(alone)} of {engine} alone,"


def _inputs_note(matching: Matching, left: Vertex, right: Vertex) -> str:
    """A note on inputs that agree as sets of numbers and still differ.

    They may differ in their order as arguments, or in the order of the numbers in one of them.
    """
    if are_in_another_order(left, right):
        return ", given in another order,"
    return _layout_note(matching, left, right)


def _layout_note(matching: Matching, left: Vertex, right: Vertex) -> str:
    """The first input whose numbers lie in another layout on the other side."""
    read = rearranged_input(matching, left, right)
    if read is None:
        return ""
    value, other = read
    names = f"{named(value.node)} against {named(other.node)}"
    return f" ({names}: the same numbers, {matching.layout(value, other)})"


# Results


def from_result(mismatch: Mismatch, phase: Phase) -> Finding:
    """A result whose maker has a partner on the other side that is not the result's maker there."""
    left, right = as_seen(mismatch.first, mismatch.second)
    maker = left.inputs[0].node if left.inputs else left
    other_maker = right.inputs[0].node if right.inputs else right
    readings = contrast(left.result, right.result)
    sentence = (
        f"{FIRST} in {phase}: `{left.name or left.id}` comes from {named(maker)} in"
        f" {maker.side.engine} and {named(other_maker)} in {other_maker.side.engine}, which are not"
        f" the same: {readings.in_words()}"
    )
    return between(maker, other_maker, phase, sentence, readings, [left, right])


def from_missing(result: Vertex) -> Finding:
    """Everything that both sides name agrees, but one of them has a gradient more."""
    side = result.side
    sentence = (
        f"{FIRST} in backward: `{result.name}` is a result of {side.engine} only;"
        f" {side.other.engine} has none"
    )
    readings = Contrast(reading(result.result), ABSENT)
    return on_one_side(result, "backward", sentence, readings, [result])
