"""Divergences at work that only one side does: an op too many, a gradient added in."""

import numpy as np

from explorer.compare.align.contrast import contrast
from explorer.compare.align.finding import Finding, Phase, line_of, one_sided, tail
from explorer.compare.align.fingerprints import Floats, agree, elements
from explorer.compare.align.side import Slot
from explorer.compare.align.state import Matching
from explorer.compare.align.suspects import Suspects, downstream, lineage

Both = tuple[Suspects, Suspects]
MOST_TERMS = 64
CLOSE = 1e-3, 1e-5
"""How far, by element and by scale, a difference of two gradients may lie from a third: subtraction
loses digits.
"""


def extra(
    matching: Matching, index: int, line: list[str], goes_on: str | None, phase: Phase
) -> Finding:
    """Ops that only one side has, with their value against that of the input which the other side
    uses as it is.
    """
    side, opposite = matching.sides[index], matching.sides[1 - index]
    roots = matching.relations.roots[index]
    slot = side.slot(line[-1])
    origins = [
        o for node in reversed(line) for o in matching.relations.origins(index, node) if o in roots
    ]
    partner = next((roots[o] for o in origins if side.size(side.slot(o)) == side.size(slot)), None)
    against = opposite.shown(opposite.slot(partner)) if partner else (None, ())
    mine, theirs, greatest, note = contrast(side.shown(slot), against)
    text = f"First divergence in {phase}: {line_of(side, line)} of {side.engine}"
    terms = side.inputs[line[-1]]
    if phase == "backward" and side.family(line[-1]) == "add" and len(terms) > 1:
        text += f" adds {len(terms)} gradients that {opposite.engine} does not add"
    else:
        text += f" {'has' if len(line) == 1 else 'have'} no counterpart in {opposite.engine}"
    if goes_on:
        text += f", which goes on with {opposite.named(goes_on)}"
    if partner is None:
        theirs = "absent"
        sentence = f"{text}; its value is {mine}"
    else:
        there = "" if goes_on else " there"
        against_input = f"{mine} against {theirs}{tail(greatest, note if index == 0 else '')}"
        sentence = f"{text}; its value against its input's{there}: {against_input}"
    return one_sided(
        matching, index, line[-1], phase, sentence, (mine, theirs), greatest, frozenset(line), None
    )


def ahead(matching: Matching, among: Both, index: int, pair: tuple[str, str]) -> list[str]:
    """The ops of one side that stand before the op which the other side starts with at once; none
    where both start alike.
    """
    mine, theirs = pair[index], pair[1 - index]
    side, opposite = matching.sides[index], matching.sides[1 - index]
    if side.family(mine) == opposite.family(theirs):
        return []
    later = downstream(matching, index, among[index], mine)
    opposite_later = {
        opposite.family(node) for node in downstream(matching, 1 - index, among[1 - index], theirs)
    }
    if side.family(mine) in opposite_later:
        return []
    return _before(matching, among, index, theirs, later)


def _before(
    matching: Matching, among: Both, index: int, theirs: str, nodes: list[str]
) -> list[str]:
    """What leads up to the first node that does the same work as the other side's ``theirs``."""
    side, opposite = matching.sides[index], matching.sides[1 - index]
    same = next((node for node in nodes if side.family(node) == opposite.family(theirs)), None)
    if same is None:
        return []
    feeding = [
        origin
        for origin, _ in side.inputs[same]
        if origin in among[index].nodes and side.main(origin) >= 0
    ]
    return (
        lineage(matching, index, among[index], max(feeding, key=side.rank.__getitem__))
        if feeding
        else []
    )


def unmatched(matching: Matching, among: Both, phase: Phase) -> Finding:
    """Entries that share nothing: one side does something first, or has something that the other
    has not.
    """
    for index in (0, 1):
        for theirs in among[1 - index].entries[:1]:
            nodes = [node for node in among[index].nodes if node not in among[index].entries]
            line = _before(matching, among, index, theirs, nodes)
            if line:
                return extra(matching, index, line, theirs, phase)
    index = 0 if among[0].entries else 1
    return extra(matching, index, [among[index].entries[0]], None, phase)


def added(matching: Matching, among: Both) -> Finding | None:
    """A gradient that one side adds in and the other leaves out: without it, the sum is a value
    that the other side has.
    """
    for index in (0, 1):
        side = matching.sides[index]
        for node in among[index].nodes:
            total = _whole(matching, index, side.slot(node))
            if side.family(node) != "add" or total is None:
                continue
            for term in _terms(matching, index, node):
                part = _whole(matching, index, term)
                known = matching.relations.root[index][term[0]] in matching.relations.roots[index]
                if known and part is not None and part.size == total.size and (total - part).any():
                    rest = _holder(matching, among, 1 - index, total - part)
                    if rest:
                        return _left_out(matching, index, node, term[0], rest)
    return None


def _terms(matching: Matching, index: int, node: str) -> list[Slot]:
    """What a sum is made of, through the sums that stand among its terms."""
    side = matching.sides[index]
    found = list(side.inputs[node])
    for term in found:
        if (
            side.family(term[0]) == "add"
            and term[0] not in matching.relations.agreed[index]
            and len(found) < MOST_TERMS
        ):
            found += [other for other in side.inputs[term[0]] if other not in found]
    return found


def _holder(matching: Matching, among: Both, index: int, wanted: Floats) -> str | None:
    side = matching.sides[index]
    rtol, floor = CLOSE[0], CLOSE[1] * float(np.abs(wanted).max())
    for node in among[index].nodes:
        held = _whole(matching, index, side.slot(node))
        if held is not None and held.size == wanted.size and agree(held, wanted, rtol, floor):
            return node
    return None


def _left_out(matching: Matching, index: int, node: str, term: str, rest: str) -> Finding:
    side, opposite = matching.sides[index], matching.sides[1 - index]
    mine, theirs, greatest, _ = contrast(
        side.shown(side.slot(node)), opposite.shown(opposite.slot(rest))
    )
    sentence = (
        f"First divergence in backward: {side.named(node)} of {side.engine} adds the gradient from {side.named(term)}, which "
        f"{opposite.engine} leaves out after {opposite.named(rest)}: {mine} against {theirs}{tail(greatest, '')}"
    )
    return one_sided(
        matching,
        index,
        node,
        "backward",
        sentence,
        (mine, theirs),
        greatest,
        frozenset({node}),
        None,
    )


def _whole(matching: Matching, index: int, slot: Slot) -> Floats | None:
    value = matching.sides[index].value(slot)
    return (
        elements(value.whole)
        if value is not None and value.whole is not None and not value.nonfinite
        else None
    )
