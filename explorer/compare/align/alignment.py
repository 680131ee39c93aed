"""The alignment of two gradient graphs: pairs, coverage, what is left over or drawn, where they part."""

import itertools
from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

import msgspec
import numpy as np

from explorer.compare.align.contrasts import Contrast, FoundDivergence, at, both, differing_pieces
from explorer.compare.align.correspondence import with_places
from explorer.compare.align.divergence import diverge
from explorer.compare.align.enclosures import enclose_steps, share_outputs
from explorer.compare.align.further import find_further, rounded_on_one_side
from explorer.compare.align.joints import Seam, seam
from explorer.compare.align.matching import Match, Matching, Mismatch
from explorer.compare.align.pairing import pair_nodes, pair_unused
from explorer.compare.align.reasons import reasons
from explorer.compare.align.sameness import NOISE, Tolerance, elements_beside
from explorer.compare.align.vertices import OutputValue, Side, Vertex, view
from explorer.compare.graphs.layouts import in_one_layout
from explorer.compare.graphs.view import reach
from explorer.compare.results.remarks import draws_random_numbers
from explorer.model.alignment import Alignment, Count, Coverage, How, Pair, Seen
from explorer.model.divergence import Gap, OtherRate, Reading, ResultElsewhere
from explorer.model.graph import GradGraph, Phase
from explorer.model.requests import Repacked
from explorer.model.unpaired import Plain


def align(
    left: GradGraph,
    right: GradGraph,
    rtol: float = 1e-4,
    atol: float = 1e-6,
    alike: Collection[str] = (),
    pieces: Iterable[Repacked] = (),
) -> Alignment:
    """Pairs the nodes of two graphs by value, and finds the first divergence.

    A pair are nodes whose values agree up to layout; every other node says why it has no partner.
    Two elements agree when they do not stand clear of the noise of both sides. Where that was not
    measured, they agree when they differ by at most ``rtol`` of the element plus ``atol`` of the
    tensor's typical greatest element; values that passed through float16 or bfloat16 get the room
    that these dtypes need. Named results (outputs, gradients) are compared element by element, and
    nothing counts as a divergence unless one of them differs, but for a value that one side alone
    rounds; ``alike`` are those that are known not
    to differ, by the noise of each of their elements. ``pieces`` are parameters that the two graphs
    hold in other pieces, whose gradients are compared piece by piece. Whichever graph is named
    first, the same pairs and the same divergence are found.
    """
    return seamed(left, right, rtol, atol, alike, pieces).alignment


class Seamed(NamedTuple):
    """An alignment, and the seams of its divergences, in their order."""

    alignment: Alignment
    seams: tuple[Seam, ...]


def seamed(
    left: GradGraph,
    right: GradGraph,
    rtol: float = 1e-4,
    atol: float = 1e-6,
    alike: Collection[str] = (),
    pieces: Iterable[Repacked] = (),
) -> Seamed:
    """The alignment of two graphs, as align() has it, and how its divergences are mended."""
    left_side, right_side = view(*in_one_layout(left, right).graphs)
    first, second = (left_side, right_side) if left_side.is_first else (right_side, left_side)
    apart = differing_pieces((first, second), pieces, alike)
    matching = pair_nodes(first, second, Tolerance(rtol, atol, frozenset(alike)))
    missing = _missing(matching, first) + _missing(matching, second)
    # Where the graphs part is looked for among single nodes, before steps and outputs find a place.
    finding = diverge(matching, missing, apart)
    findings = [finding, *find_further(matching, finding, missing)] if finding else []
    findings += rounded_on_one_side(matching, findings)
    findings = with_places(matching, findings)
    draws = RandomDraws(matching)
    # What no random draw explains, dropouts of other rates first.
    named = [*draws.unlike_rates, *itertools.filterfalse(draws.explain_finding, findings)]
    pair_unused(matching, (part for found in findings for part in found.parts))
    enclose_steps(matching)
    share_outputs(matching)

    differing: list[str] = []
    drawn: list[str] = []
    for mismatch in matching.differing_results():
        result = mismatch.first
        names = drawn if draws.explain_result(mismatch) else differing
        names.append(result.name or result.id)
    differing += [result.name for result in missing]
    for piece in apart:
        if isinstance(piece.divergence, ResultElsewhere):
            differing.append(piece.divergence.name)
    # The nodes without a partner and their reasons, the left side's first.
    unpaired = []
    for lone in sorted(reasons(matching, findings), key=lambda lone: lone.side):
        side = left_side if lone.side == "left" else right_side
        if draws.explain(side.by_id[lone.node]):
            lone = msgspec.structs.replace(lone, reason="random", why=Plain("random"))
        unpaired.append(lone)
    cases = dict.fromkeys((left.case, right.case))
    alignment = Alignment(
        left=left.engine,
        right=right.engine,
        case=" | ".join(cases),
        pairs=_pairs(matching, left_side, right_side),
        unpaired=tuple(unpaired),
        differing=tuple(differing),
        left_coverage=_coverage(left_side),
        right_coverage=_coverage(right_side),
        seen=tuple(Seen(found.divergence) for found in named),
        drawn=tuple(drawn),
    )
    return Seamed(alignment, tuple(seam(found, (first, second)) for found in named))


def _missing(matching: Matching, side: Side) -> list[Vertex]:
    """Gradients that a side names and the other, which names some, does not.

    One of nothing but zeros may as well be left out.
    """
    if not side.other.results("backward"):
        return []
    differing = matching.differing(side)
    missing = []
    for result in side.results("backward"):
        is_left_over = result.is_free and result not in differing and not result.is_packed
        if is_left_over and not result.result.is_within(0.0):
            missing.append(result)
    return missing


def _pairs(matching: Matching, left: Side, right: Side) -> tuple[Pair, ...]:
    """Pairs in the left side's execution order, each followed by those that share its number."""
    matches = sorted(matching.matches, key=lambda match: match.on(left).node.rank)
    numbers: dict[Vertex, int] = {}
    pairs = []
    for number, match in enumerate(matches, start=1):
        numbers[match.on(left).node] = number
        how = match.how
        are_noise = matching.tolerance.are_noise(match.first, match.second, NOISE)
        if how not in {"across", "provenance"} and not are_noise:
            # Another layout of its numbers is worth more to know of a pair than the evidence for it.
            how = matching.tolerance.layout(match.first, match.second) or how
        pairs.append(_pair(match.on(left), match.on(right), number, how))

    def place(match: Match) -> tuple[int, int, str, int]:
        value, other = match.on(left), match.on(right)
        return value.node.rank, value.output, other.node.id, other.output

    for match in sorted(matching.shared, key=place):
        # A shared output has the number of the pair that its op is in.
        number = numbers[match.on(left).node.representative]
        pairs.append(_pair(match.on(left), match.on(right), number, match.how))
    return tuple(sorted(pairs, key=lambda pair: pair.number))


def _pair(left: OutputValue, right: OutputValue, number: int, how: How) -> Pair:
    return Pair(
        left=left.node.id,
        right=right.node.id,
        left_output=left.output,
        right_output=right.output,
        number=number,
        how=how,
        left_within=tuple(step.id for step in left.node.steps),
        right_within=tuple(step.id for step in right.node.steps),
    )


def _coverage(side: Side) -> Coverage:
    return Coverage(forward=_count(side, "forward"), backward=_count(side, "backward"))


def _count(side: Side, phase: Phase) -> Count:
    """How the op nodes of one phase stand to the other side."""
    paired = inside = unpaired = unproven = 0
    for node in side.work:
        if node.phase == phase:
            is_in_pair = node.is_paired and not node.is_partial
            paired += is_in_pair
            unpaired += not is_in_pair
    for node in side.nodes:
        for step in node.steps:
            if step.phase == phase:
                inside += 1
                unproven += step.record.proof != "proven"
    return Count(paired=paired - inside, inside=inside, unpaired=unpaired, unproven=unproven)


# Rates of dropouts


SAME = 1e-3
"""Factors that differ by less than this share are of one rate; rates are written with few digits."""


def unlike_rates(
    sides: tuple[Side, Side], draws: dict[Side, list[Vertex]], depends: Callable[[Vertex], bool]
) -> list[FoundDivergence]:
    """The dropouts that have another rate than the one in their place on the other side.

    ``draws`` are the ops that draw random numbers, ``depends`` tells what depends on these. Nothing
    is said unless every draw of the forward is seen to be a dropout: it may by chance drop nothing,
    and of large tensors too little is known.
    """
    rows = []
    for side in sorted(sides, key=lambda side: side.name):
        dropouts: list[tuple[Vertex, float]] = []
        for node in filter(depends, side.nodes):
            if node.phase == "forward" and node.kind == "op":
                kept = filter(None, (_factor(node.value, value) for value in node.inputs))
                dropouts += [(node, factor) for factor in kept][:1]
        drawing = [node for node in draws[side] if node.phase == "forward"]
        if len(dropouts) != len(drawing):
            return []
        rows.append(dropouts)
    if len({tuple(node.value.size for node, _ in row) for row in rows}) > 1:
        return []
    found = []
    for (left, factor), (right, other_factor) in zip(*rows, strict=True):
        factors, apart = (factor, other_factor), abs(factor - other_factor)
        if apart > SAME * max(factors):
            values = Reading("factor", (), factors[:1]), Reading("factor", (), factors[1:])
            divergence = OtherRate(
                phase="forward",
                **at(left, Contrast(values, Gap(apart)), right),
                places=both(left, right),
                rates=(1 - 1 / factor, 1 - 1 / other_factor),  # what is dropped in the long run
                factors=factors,
            )
            found.append(FoundDivergence(divergence, frozenset((left, right))))
    return found


def _factor(value: OutputValue, given: OutputValue) -> float:
    """The factor of what a dropout keeps of a value; 0 where it is no dropout, or not known."""
    beside = elements_beside(value, given) if value.size == given.size else None
    if beside is None:
        return 0.0
    numbers, dropped_from = beside
    nonzero = dropped_from != 0
    with np.errstate(all="ignore"):
        factors = numbers[nonzero] / dropped_from[nonzero]
    kept = factors[factors != 0]
    if not 0 < kept.size < factors.size:
        return 0.0
    factor = float(np.median(kept))
    is_common = np.allclose(kept, factor, rtol=SAME, atol=0)
    return factor if is_common and factor > 1 + SAME else 0.0


# Random draws


class RandomDraws:
    """The nodes of two graphs that depend on a random draw.

    Each framework draws numbers of its own: beyond a draw on both sides other values say nothing,
    unless both drew the same numbers. A draw on one side alone is a difference like any other.
    ``unlike_rates`` are the places where the rates of two dropouts differ.
    """

    def __init__(self, matching: Matching) -> None:
        self._dependent: set[Vertex] = set()
        drawing = {
            side: [it for it in side.nodes if it.kind == "op" and draws_random_numbers(it.op)]
            for side in matching.sides
        }
        ops, others = drawing.values()
        # Each operator of one side may have drawn the numbers of the one in its place on the other side.
        are_alike = len(ops) == len(others) and all(
            any(one.agrees(other) for one, other in zip(*values, strict=False))
            for values in zip((it.values for it in ops), (it.values for it in others), strict=True)
        )
        if ops and others and not are_alike:
            self._dependent = reach([*ops, *others], lambda node: node.consumers)
        self.unlike_rates = unlike_rates(matching.sides, drawing, self.explain)

    def explain(self, node: Vertex) -> bool:
        """Whether a node's value depends on a draw."""
        return node in self._dependent

    def explain_result(self, mismatch: Mismatch) -> bool:
        """Whether a result depends on a draw on both sides."""
        return self.explain(mismatch.first) and self.explain(mismatch.second)

    def explain_finding(self, finding: FoundDivergence) -> bool:
        """Whether all that takes part in a divergence depends on a draw."""
        return bool(finding.parts) and all(map(self.explain, finding.parts))
