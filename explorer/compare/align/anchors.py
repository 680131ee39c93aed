"""Pairs that need no search: leaves and results by their names, and what the pairs around it leave
no choice for.
"""

from explorer.compare.align.families import BOOKKEEPING
from explorer.compare.align.side import LEAVES, WORK, Slot
from explorer.compare.align.state import Matching

NOISE = 10.0
"""Results are noise about zero up to this many times ``atol``: a gradient that cancels is a sum of
larger terms.
"""


def leaves(matching: Matching) -> None:
    """Inputs, parameters and named constants pair by name; those whose values differ pair with
    nothing else.
    """
    named = [
        [n for n in side.ordered() if side.nodes[n].kind in LEAVES | {"constant"}]
        for side in matching.sides
    ]
    by_name = [
        {side.nodes[n].name: n for n in reversed(nodes)}
        for side, nodes in zip(matching.sides, named, strict=True)
    ]
    for name in [name for name in reversed(by_name[0]) if name and name in by_name[1]]:
        left, right = by_name[0][name], by_name[1][name]
        slots = matching.sides[0].slot(left), matching.sides[1].slot(right)
        kinds = {side.nodes[slot[0]].kind for side, slot in zip(matching.sides, slots, strict=True)}
        if "constant" in kinds and not matching.held(*slots):
            continue
        matching.named |= {f"0{left}", f"1{right}"}
        if matching.held(*slots) is False:
            matching.differing.append((left, right))
        else:
            matching.join(*slots, "name")


def unobserved(matching: Matching) -> None:
    """A value that one side did not observe, or that is rounding noise about zero, pairs where op
    and all inputs do.
    """
    left, right = matching.sides
    relations = matching.relations
    for node in left.ordered():
        if node in relations.partner[0] or left.nodes[node].kind not in WORK:
            continue
        for other in relations.successors(node):
            slots = left.slot(node), right.slot(other)
            if matching.held(*slots) is None or matching.noise(*slots):
                matching.join(*slots, "provenance")
                break


def results(matching: Matching) -> None:
    """Named results pair by phase and name, the rest by what feeds them; a result is never matched
    away by another's value.
    """
    left, right = matching.sides
    rest = [side.results() for side in matching.sides]
    names = [
        {(s.nodes[n].phase, s.nodes[n].name): n for n in reversed(r)}
        for s, r in zip(matching.sides, rest, strict=True)
    ]
    both = [
        (names[0][key], names[1][key]) for key in reversed(names[0]) if key[1] and key in names[1]
    ]
    for index in (0, 1):
        taken = {pair[index] for pair in both}
        rest[index] = [n for n in rest[index] if n not in taken]
    for phase in ("forward", "backward"):
        mine, theirs = (
            [n for n in r if s.nodes[n].phase == phase]
            for r, s in zip(rest, matching.sides, strict=True)
        )
        if len(mine) == len(theirs):
            both += list(zip(mine, theirs, strict=True))
    turned = {
        left.nodes[one[0]].name
        for one, other, how in matching.found
        if how == "name" and matching.layout(one, other)
    }
    for one, other in both:
        if _equal_results(
            matching,
            left.result(one),
            right.result(other),
            left.nodes[one].name.removeprefix("d") in turned,
        ):
            matching.join(left.slot(one), right.slot(other), "name")
            _makers(matching, left.inputs[one][:1], right.inputs[other][:1])
        else:
            matching.differing.append((one, other))


def _makers(matching: Matching, left: tuple[Slot, ...], right: tuple[Slot, ...]) -> None:
    """What makes an equal result is the same work on both sides, unless one side only reshapes it
    there.
    """
    for one, other in zip(left, right, strict=False):
        nodes = [
            side.nodes[slot[0]] for side, slot in zip(matching.sides, (one, other), strict=True)
        ]
        tidying = [
            side.family(node.id) in BOOKKEEPING
            for side, node in zip(matching.sides, nodes, strict=True)
        ]
        free = (
            one[0] not in matching.relations.partner[0]
            and other[0] not in matching.relations.partner[1]
        )
        mains = one == matching.sides[0].slot(one[0]) and other == matching.sides[1].slot(other[0])
        if (
            free
            and mains
            and tidying[0] == tidying[1]
            and {node.kind for node in nodes} <= WORK
            and matching.held(one, other)
        ):
            matching.join(one, other, "value+provenance")


def _equal_results(matching: Matching, left: Slot, right: Slot, any_layout: bool) -> bool:
    """Results agree element by element (in any order where their parameter is stored in another
    one); noise about zero agrees.
    """
    held = matching.held(left, right)
    if held is None:
        return True
    return matching.noise(left, right, NOISE) or (
        held and (any_layout or matching.layout(left, right) is None)
    )
