"""The alignment of two gradient graphs: pairs, coverage, what is left over or drawn, where they part."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from typing import NamedTuple

from explorer.compare.align.contrasts import FoundDivergence, differing_pieces
from explorer.compare.align.correspondence import LONGEST, with_places
from explorer.compare.align.divergence import diverge, find_further
from explorer.compare.align.matching import Match, Matching, enclose_steps
from explorer.compare.align.one_sided import rounded_on_one_side
from explorer.compare.align.pairing import pair_nodes, pair_unused, share_outputs
from explorer.compare.align.reasons import random_draws, reasons
from explorer.compare.align.sameness import NOISE, are_noise, layout_of
from explorer.compare.align.suspects import kind
from explorer.compare.align.vertices import OutputValue, Side, Vertex, view
from explorer.compare.graphs.layouts import in_one_layout
from explorer.model.alignment import Alignment, Count, Coverage, How, Pair, Seen
from explorer.model.divergence import (
    ExtraOps,
    GradientStopped,
    LoneLeaf,
    OtherOp,
    ResultElsewhere,
)
from explorer.model.graph import GradGraph, Phase, SideName, Slot
from explorer.model.requests import Repacked


def align(
    left: GradGraph,
    right: GradGraph,
    alike: Collection[str] = (),
    pieces: Iterable[Repacked] = (),
) -> Alignment:
    """Pairs the nodes of two graphs by value, and finds the first divergence.

    A pair are nodes whose values agree up to layout; every other node says why it has no partner.
    Two elements agree when they do not stand clear of the noise of both sides, and where that was not
    measured, within a tolerance; values that passed through float16 or bfloat16 get the room
    that these dtypes need. Named results (outputs, gradients) are compared element by element, and
    nothing counts as a divergence unless one of them differs, but for a value that one side alone
    rounds; ``alike`` are those that are known not
    to differ, by the noise of each of their elements. ``pieces`` are parameters that the two graphs
    hold in other pieces, whose gradients are compared piece by piece. Whichever graph is named
    first, the same pairs and the same divergence are found.
    """
    return seamed(left, right, alike, pieces).alignment


class Joint(NamedTuple):
    """An output of one graph, and the one of the other whose value it gets; None: zeros.

    ``sizes`` are the shapes of both.
    """

    here: Slot
    there: Slot | None
    shapes: tuple[tuple[int, ...], tuple[int, ...]]


class Seam(NamedTuple):
    """A divergence as it is mended.

    ``parts`` are the ids of the nodes of each side that take part; leaves are left out; ``laid`` those
    before them whose gradients differ with it. ``joints`` join the graphs again where the values of a
    side are to be replaced. One that ``is_assumed`` is named by its structure alone: what its ops read
    is not known to be equal.
    """

    parts: dict[SideName, frozenset[str]]
    joints: dict[SideName, tuple[Joint, ...]]
    is_assumed: bool
    laid: frozenset[tuple[SideName, str]] = frozenset()


class Seamed(NamedTuple):
    """An alignment, and the seams of its divergences, in their order."""

    alignment: Alignment
    seams: tuple[Seam, ...]


def seamed(
    left: GradGraph,
    right: GradGraph,
    alike: Collection[str] = (),
    pieces: Iterable[Repacked] = (),
) -> Seamed:
    """The alignment of two graphs, as align() has it, and how its divergences are mended."""
    left_side, right_side = view(*in_one_layout(left, right).graphs)
    sides = (left_side, right_side) if left_side.is_first else (right_side, left_side)
    apart = differing_pieces(sides, pieces, alike)
    matching = pair_nodes(*sides, frozenset(alike))
    missing = [*_missing(matching, sides[0]), *_missing(matching, sides[1])]
    # Where the graphs part is looked for among single nodes, before steps and outputs find a place.
    finding = diverge(matching, missing, apart)
    findings = [finding, *find_further(matching, finding, missing)] if finding else []
    findings += rounded_on_one_side(matching, findings)
    findings = with_places(matching, findings)
    drawn_nodes, other_rates = random_draws(matching)
    # What no random draw explains, dropouts of other rates first.
    named = [*other_rates, *(it for it in findings if not (it.parts and it.parts <= drawn_nodes))]
    pair_unused(matching, (part for found in findings for part in found.parts))
    enclose_steps(matching)
    share_outputs(matching)

    differing: list[str] = []
    drawn: list[str] = []
    for mismatch in matching.differing_results():
        result = mismatch.first
        names = drawn if drawn_nodes.issuperset((result, mismatch.second)) else differing
        names.append(result.name or result.id)
    differing += [result.name for result in missing]
    differing += [it.divergence.name for it in apart if isinstance(it.divergence, ResultElsewhere)]
    alignment = Alignment(
        left=left.engine,
        right=right.engine,
        case=" | ".join(dict.fromkeys((left.case, right.case))),
        pairs=_pairs(matching, left_side, right_side),
        unpaired=tuple(reasons(matching, findings, drawn_nodes)),
        differing=tuple(differing),
        left_coverage=_coverage(left_side),
        right_coverage=_coverage(right_side),
        seen=tuple(Seen(found.divergence) for found in named),
        drawn=tuple(drawn),
    )
    return Seamed(alignment, tuple(_seam(found, sides) for found in named))


def _missing(matching: Matching, side: Side) -> list[Vertex]:
    """Gradients that a side names and the other, which names some, does not.

    One of nothing but zeros may as well be left out.
    """
    if not side.other.results("backward"):
        return []
    differing = matching.differing(side)
    left = [it for it in side.results("backward") if it.is_free and it not in differing]
    return [it for it in left if not it.is_packed and not it.result.is_within(0.0)]


def _pairs(matching: Matching, left: Side, right: Side) -> tuple[Pair, ...]:
    """Pairs in the left side's execution order, each followed by those that share its number."""

    def place(match: Match) -> tuple[int, int, str, int]:
        value, other = match.on(left), match.on(right)
        return value.node.rank, value.output, other.node.id, other.output

    numbers: dict[Vertex, int] = {}
    numbered: list[tuple[int, Match, How]] = []
    for number, match in enumerate(sorted(matching.matches, key=place), start=1):
        numbers[match.on(left).node] = number
        how = match.how
        is_noise = are_noise(match.first, match.second, NOISE)
        if how not in {"across", "provenance"} and not is_noise:
            # Another layout of its numbers is worth more to know of a pair than the evidence for it.
            how = layout_of(match.first, match.second) or how
        numbered.append((number, match, how))
    # A shared output has the number of the pair that its op is in.
    numbered += [
        (numbers[match.on(left).node.representative], match, match.how)
        for match in sorted(matching.shared, key=place)
    ]
    return tuple(
        Pair(
            left=match.on(left).node.id,
            right=match.on(right).node.id,
            left_output=match.on(left).output,
            right_output=match.on(right).output,
            number=number,
            how=how,
            left_within=tuple(step.id for step in match.on(left).node.steps),
            right_within=tuple(step.id for step in match.on(right).node.steps),
        )
        for number, match, how in sorted(numbered, key=lambda it: it[0])
    )


def _coverage(side: Side) -> Coverage:
    """How the op nodes of each phase stand to the other side."""
    counts: dict[Phase, Counter[str]] = {"forward": Counter(), "backward": Counter()}
    for node in side.work:
        is_in_pair = node.is_paired and not node.is_partial
        counts[node.phase]["paired" if is_in_pair else "unpaired"] += 1
    for step in (step for node in side.nodes for step in node.steps):
        counts[step.phase].update(paired=-1, inside=1, unproven=int(step.record.proof != "proven"))
    return Coverage(forward=Count(**counts["forward"]), backward=Count(**counts["backward"]))


# Where two graphs may be joined again: outputs that would be one quantity but for a divergence


Outputs = tuple[OutputValue, OutputValue | None]


def _seam(finding: FoundDivergence, sides: Iterable[Side]) -> Seam:
    """How the graphs are joined again behind a divergence."""
    parts: dict[SideName, frozenset[str]] = {}
    joints: dict[SideName, tuple[Joint, ...]] = {}
    find = JOINING.get(type(finding.divergence), _at_ends)
    for side in sides:
        own_parts = [part for part in finding.parts if part.side is side and not part.is_leaf]
        parts[side.name] = frozenset(part.id for part in own_parts)
        joined = []
        for own, other in find(finding, side):
            if other is not None:
                # Where one has its bias already, the other one behind what adds that.
                own, other = _behind_bias(own, other), _behind_bias(other, own)
            there = (other.node.id, other.output) if other else None
            joined.append(
                Joint((own.node.id, own.output), there, (own.shape, (other or own).shape))
            )
        joints[side.name] = tuple(joined)
    divergence = finding.divergence
    is_between = isinstance(divergence, ExtraOps) and divergence.is_between
    is_assumed = isinstance(divergence, OtherOp) or is_between
    return Seam(parts, joints, is_assumed, frozenset((it.side.name, it.id) for it in finding.laid))


def _behind_bias(value: OutputValue, other: OutputValue) -> OutputValue:
    """A value, or behind what adds the bias to it that the op of the ``other`` one reads itself."""
    behind = _bias_added(value.node)
    if behind is not None and value.is_main:
        leaves = [it.counterpart for it in behind.origins if it.kind == "parameter"]
        if all(leaf in other.node.origins for leaf in leaves):
            return behind.value
    return value


def _bias_added(node: Vertex) -> Vertex | None:
    """What adds a parameter to a node's value, where nothing else reads that."""
    users = node.users_in_phase
    if len(users) != 1 or users[0].family != "add" or users[0].value.size != node.value.size:
        return None
    return users[0] if any(it.kind == "parameter" for it in users[0].origins) else None


# The outputs of a side with those of the other whose values they get


def _at_ends(finding: FoundDivergence, side: Side) -> Iterator[Outputs]:
    """The ends of a divergence, where it has such."""
    if finding.ends:
        own, other = sorted(finding.ends, key=lambda end: end.side is not side)
        yield from _at(finding, own, other)


def _at(finding: FoundDivergence, own: Vertex, other: Vertex) -> Iterator[Outputs]:
    """A node that takes part gets the value; one that does not may have other users as well.

    Then it is those that read the other side's value there that get their counterparts' values.
    """
    users = own.users_in_phase
    if own in finding.parts or (len(users) == 1 and not own.is_leaf):
        yield own.value, other.value
        return
    for user in other.consumers:
        alike = [it for it in users if kind(it) == kind(user) and it.value.size == user.value.size]
        if user.phase == own.phase and len(alike) == 1:
            yield alike[0].value, user.value


def _of_result(finding: FoundDivergence, side: Side) -> Iterator[Outputs]:
    """The makers of a result, by the outputs that it is."""
    ends = sorted(finding.parts, key=lambda part: part.side is not side)
    if len(ends) == 2 and ends[0].inputs:
        yield ends[0].inputs[0], ends[1].result


def _of_stopped(finding: FoundDivergence, side: Side) -> Iterator[Outputs]:
    """Zeros for a gradient that the other side stops."""
    for part in finding.parts:
        if part.side is side and part.phase == "backward":
            yield part.value, None


def _of_lone_leaf(finding: FoundDivergence, side: Side) -> Iterator[Outputs]:
    """What reads a leaf of one side, and what the other side has in its place."""
    for user in (part for part in finding.parts if not part.is_leaf):
        there = _read_there(user, finding.parts)
        # The op that reads just these, as large as the user; or the one node that is.
        counterparts = [
            it
            for it in (there[0].users if there else ())
            if it.value.size == user.value.size and it.phase == user.phase
            if {read for read in it.origins if read.kind != "constant"} == set(there)
        ]
        if len(there) == 1 and there[0].value.size == user.value.size:
            counterparts += there
        if counterparts:
            ends = user, counterparts[0]
            yield from _at(finding, *(ends if user.side is side else ends[::-1]))
        else:
            yield from _behind(finding, user, side)


def _read_there(node: Vertex, apart: Collection[Vertex]) -> list[Vertex]:
    """The counterparts of all that a node reads, where each has one, without constants and what is apart."""
    read = [it for it in node.origins if it not in apart and it.kind != "constant"]
    there = [it.counterpart for it in read if it.counterpart is not None]
    return there if len(there) == len(read) else []


def _of_extra_ops(finding: FoundDivergence, side: Side) -> Iterator[Outputs]:
    """What goes on with the value of ops of one side; where that is not known, their own counterpart."""
    last = max(finding.parts, key=lambda part: part.rank)
    yield from list(_at_ends(finding, side)) or _behind(finding, last, side)


def _behind(finding: FoundDivergence, last: Vertex, side: Side) -> Iterator[Outputs]:
    """The first op behind a node of one side that the other side has too, on each way onwards."""
    for user in last.consumers:
        passed = {*finding.parts, last}
        for _ in range(LONGEST):
            other = _in_its_place(user, passed, finding.goes_on)
            if other is not None:
                own = user if user.side is side else other
                yield own.value, (other if own is user else user).value
                break
            passed.add(user)
            if len(user.users_in_phase) != 1:
                break
            (user,) = user.users_in_phase


def _in_its_place(user: Vertex, passed: set[Vertex], goes_on: Vertex | None) -> Vertex | None:
    """The op of the other side that does what one does behind ``passed``, from the same other inputs.

    It is ``goes_on`` where that is alike, and these say nothing else.
    """
    if not user.is_work:
        return None
    known = _read_there(user, passed)
    alike = []
    for it in filter(partial(_is_alike, user), known[0].users if known else ()):
        behind = _bias_added(it)
        if {*it.origins, *(behind.origins if behind else ())}.issuperset(known):
            alike.append(it)
    if len(alike) == 1:
        return alike[0]
    return goes_on if goes_on is not None and _is_alike(user, goes_on) else None


def _is_alike(node: Vertex, other: Vertex) -> bool:
    """Whether two nodes are ops of one kind, as large, in one phase."""
    is_one_kind = kind(node) == kind(other) and node.phase == other.phase
    return is_one_kind and node.value.size == other.value.size


JOINING: dict[type, Callable[[FoundDivergence, Side], Iterator[Outputs]]] = {
    ResultElsewhere: _of_result,
    GradientStopped: _of_stopped,
    LoneLeaf: _of_lone_leaf,
    ExtraOps: _of_extra_ops,
}
"""How outputs are found that have no ends of their own; by the ends of the divergence otherwise."""
