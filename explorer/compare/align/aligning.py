"""Aligns two gradient graphs by the values that their nodes hold."""

from explorer.compare.align.anchors import NOISE
from explorer.compare.align.divergence import diverge
from explorer.compare.align.fingerprints import prints
from explorer.compare.align.matching import match
from explorer.compare.align.reasons import reasons
from explorer.compare.align.side import WORK, Slot, view
from explorer.compare.align.state import Matching
from explorer.compare.align.within import enclose, share
from explorer.model.alignment import Alignment, Coverage, How, Pair
from explorer.model.graph import GradGraph


def align(left: GradGraph, right: GradGraph, rtol: float = 1e-4, atol: float = 1e-6) -> Alignment:
    """Pairs nodes whose values agree up to layout, says why the others have no partner, and finds
    the first divergence.

    Two elements agree when they differ by at most ``rtol`` of the element plus ``atol`` of the
    tensor's typical greatest element; values that passed through float16 or bfloat16 get the room
    that these dtypes need. Named results (outputs, gradients) are compared element by element, and
    nothing counts as a divergence unless one of them differs.
    """
    sides = view(left), view(right)
    matching = match(sides, prints(sides, rtol, atol), rtol, atol)
    missing = _missing(matching)
    finding = diverge(matching, missing)
    enclose(matching)
    share(matching)
    differing = [
        sides[0].nodes[one].name or one
        for one, _ in matching.differing
        if sides[0].nodes[one].kind == "output"
    ]
    differing += [
        side.nodes[node].name for side, nodes in zip(sides, missing, strict=True) for node in nodes
    ]
    return Alignment(
        left=left.engine,
        right=right.engine,
        case=left.case if left.case == right.case else f"{left.case} | {right.case}",
        pairs=_pairs(matching),
        unpaired=tuple(reasons(matching, finding)),
        divergence=finding.divergence,
        differing=tuple(differing),
        left_coverage=_coverage(matching, 0),
        right_coverage=_coverage(matching, 1),
    )


def _missing(matching: Matching) -> tuple[list[str], list[str]]:
    """Gradients that one side names and the other, which names some, does not."""
    named = [side.results("backward") for side in matching.sides]
    known = [
        {pair[i] for pair in matching.differing} | matching.relations.partner[i].keys()
        for i in (0, 1)
    ]
    alone = [[node for node in nodes if node not in known[i]] for i, nodes in enumerate(named)]
    return (alone[0] if named[1] else [], alone[1] if named[0] else [])


def _pairs(matching: Matching) -> tuple[Pair, ...]:
    """Pairs in the left side's execution order, each followed by those that share its number."""
    rank = matching.sides[0].rank
    steps = [_steps(matching, index) for index in (0, 1)]
    found = sorted(matching.found, key=lambda pair: rank[pair[0][0]])
    numbers = {left[0]: number for number, (left, _, _) in enumerate(found, start=1)}
    shared = [
        (numbers[str(matching.pair_of(0, left[0]))], left, right, how)
        for left, right, how in matching.shared
    ]
    every = [
        (numbers[left[0]], left, right, _how(matching, left, right, how))
        for left, right, how in found
    ]
    every += sorted(shared, key=lambda pair: (pair[0], rank[pair[1][0]], pair[1:3]))
    return tuple(
        Pair(
            left=left[0],
            right=right[0],
            left_output=left[1],
            right_output=right[1],
            number=number,
            how=how,
            left_within=steps[0].get(left[0], ()),
            right_within=steps[1].get(right[0], ())
            if left[0] in steps[0] or right[0] in steps[1]
            else (),
        )
        for number, left, right, how in sorted(every, key=lambda pair: pair[0])
    )


def _steps(matching: Matching, index: int) -> dict[str, tuple[str, ...]]:
    """The steps that are taken inside the partner of each node."""
    found: dict[str, list[str]] = {}
    outputs = {pair[index][0] for pair in matching.shared}
    for step, top in matching.tied[index].items():
        if step not in outputs:
            found.setdefault(top, []).append(step)
    return {top: tuple(steps) for top, steps in found.items()}


def _how(matching: Matching, left: Slot, right: Slot, how: How) -> How:
    return (
        how
        if how in {"across", "provenance"} or matching.noise(left, right, NOISE)
        else matching.layout(left, right) or how
    )


def _coverage(matching: Matching, index: int) -> Coverage:
    counts = {"forward": [0, 0], "backward": [0, 0]}
    for node, found in matching.sides[index].nodes.items():
        if found.kind in WORK:
            counts[found.phase][0] += matching.pair_of(index, node) is not None
            counts[found.phase][1] += 1
    (forward, forward_total), (backward, backward_total) = counts["forward"], counts["backward"]
    within = sum(map(len, _steps(matching, index).values()))
    return Coverage(
        forward=forward,
        forward_total=forward_total,
        backward=backward,
        backward_total=backward_total,
        within=within,
    )
