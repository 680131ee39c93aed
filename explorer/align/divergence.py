"""The first divergence: the earliest place whose inputs agree and whose value does not."""

from dataclasses import dataclass
from typing import Literal

from explorer.align.contrast import Contrast, contrast, reading
from explorer.align.records import Divergence
from explorer.align.side import LEAVES, Side, Slot
from explorer.align.state import Matching
from explorer.align.suspects import Suspects, downstream, same_work, shared, stretch, suspects

Phase = Literal["forward", "backward"]


@dataclass(frozen=True)
class Finding:
    """A divergence, and every node of either side that takes part in it."""

    divergence: Divergence | None
    parts: tuple[frozenset[str], frozenset[str]]


NOTHING = Finding(None, (frozenset(), frozenset()))


def diverge(matching: Matching, missing: tuple[list[str], list[str]]) -> Finding:
    """Where two graphs part, if a named result differs; ``missing`` are gradients that only the one or the other side has."""
    left = matching.sides[0]
    results = [(one, other) for one, other in matching.differing if left.nodes[one].kind == "output"]
    if not results:
        leaves = [pair for pair in matching.differing if not any(n.kind == "output" for n in left.nodes.values())]
        return _leaf(matching, *leaves[0], "forward") if leaves else _only_one_side(matching, missing)
    phase: Phase = "forward" if any(left.nodes[one].phase == "forward" for one, _ in results) else "backward"
    results = [pair for pair in results if left.nodes[pair[0]].phase == phase]
    among = (
        suspects(matching, 0, [one for one, _ in results], phase),
        suspects(matching, 1, [other for _, other in results], phase),
    )
    found = _from_leaves(matching, among, phase) or _from_entries(matching, among, phase)
    return found or _from_results(matching, results, phase)


def _from_leaves(matching: Matching, among: tuple[Suspects, Suspects], phase: Phase) -> Finding | None:
    """Inputs and parameters come before all computation: other values, or one that only one side has."""
    for one, other in matching.differing:
        if (one in among[0].nodes or other in among[1].nodes) and matching.sides[0].nodes[one].kind in LEAVES:
            return _leaf(matching, one, other, phase)
    for index, side in enumerate(matching.sides):
        for node in among[index].entries:
            found = side.nodes[node]
            if found.kind not in LEAVES:
                continue
            user = next((c for c in side.consumers[node] if c in among[index].nodes), None)
            used = f"; {side.named(user)} uses it" if user else ""
            sentence = f"First divergence: the {found.kind} `{found.name or found.op}` exists in {side.engine} only{used}"
            parts = frozenset({node, *([user] if user else [])})
            reads = reading(*side.shown(side.slot(node)))
            return _one_sided(matching, index, node, phase, sentence, (reads, "absent"), None, parts, user)
    return None


def _leaf(matching: Matching, one: str, other: str, phase: Phase) -> Finding:
    left = matching.sides[0].nodes[one]
    slots = matching.sides[0].slot(one), matching.sides[1].slot(other)
    mine, theirs, greatest, note = _contrast(matching, *slots)
    against = f"{mine} against {theirs}{_tail(greatest, note)}"
    sentence = f"First divergence: the nets start from different values of `{left.name}`: {against}"
    return _found(matching, (one, other), phase, sentence, (mine, theirs, greatest), ({one}, {other}))


def _from_entries(matching: Matching, among: tuple[Suspects, Suspects], phase: Phase) -> Finding | None:
    """The earliest suspects whose inputs agree: two ops that part, or one that the other side does not have."""
    entries = among[0].entries, among[1].entries
    if not entries[0] and not entries[1]:
        return None
    pair = _counterparts(matching, entries) if entries[0] and entries[1] else None
    if pair is None:
        index = 0 if entries[0] else 1
        return _extra(matching, among, index, entries[index][0], None, phase)
    for index in (0, 1):
        if _is_extra(matching, among, index, pair):
            return _extra(matching, among, index, pair[index], pair[1 - index], phase)
    return _two_ops(matching, among, pair, phase)


def _counterparts(matching: Matching, entries: tuple[tuple[str, ...], tuple[str, ...]]) -> tuple[str, str] | None:
    """The earliest left entry that has a counterpart: shared inputs first, then the same kind of op, module, and position."""
    left, right = matching.sides
    for one in entries[0]:
        ranked = []
        for other in entries[1]:
            if left.nodes[one].phase != right.nodes[other].phase:
                continue
            common, alike = shared(matching, one, other), same_work(matching, one, other)
            place = bool(left.nodes[one].scope) and left.nodes[one].scope == right.nodes[other].scope
            if common or alike or place:
                ranked.append((common, alike, place, -right.rank[other], other))
        if ranked:
            return one, max(ranked)[-1]
    return None


def _is_extra(matching: Matching, among: tuple[Suspects, Suspects], index: int, pair: tuple[str, str]) -> bool:
    """Whether one side goes on, behind its entry, with the op that the other side starts with at once."""
    mine, theirs = pair[index], pair[1 - index]
    side, opposite = matching.sides[index], matching.sides[1 - index]
    if side.family(mine) == opposite.family(theirs):
        return False
    later = {side.family(node) for node in downstream(matching, index, among[index], mine)}
    opposite_later = {opposite.family(node) for node in downstream(matching, 1 - index, among[1 - index], theirs)}
    return opposite.family(theirs) in later and side.family(mine) not in opposite_later


def _extra(
    matching: Matching, among: tuple[Suspects, Suspects], index: int, node: str, goes_on: str | None, phase: Phase
) -> Finding:
    """An op that only one side has, with its value against that of the input which the other side uses as it is."""
    side, opposite = matching.sides[index], matching.sides[1 - index]
    relations = matching.relations
    slot = side.slot(node)
    origins = [
        o for o in relations.origins(index, node) if o in relations.roots[index] and side.size(side.slot(o)) == side.size(slot)
    ]
    partner = relations.roots[index][origins[0]] if origins else None
    against = opposite.shown(opposite.slot(partner)) if partner else (None, ())
    mine, theirs, greatest, note = contrast(side.shown(slot), against)
    text = f"First divergence in {phase}: {side.named(node)} of {side.engine} has no counterpart in {opposite.engine}"
    terms = side.inputs[node]
    if phase == "backward" and side.family(node) == "add" and len(terms) > 1:
        text = f"First divergence in {phase}: {side.named(node)} of {side.engine} adds {len(terms)} gradients"
        text += f" that {opposite.engine} does not add"
    if goes_on:
        text += f", which goes on with {opposite.named(goes_on)}"
    if partner is None:
        theirs = "absent"
        sentence = f"{text}; its value is {mine}"
    else:
        what = "its value against its input's" if goes_on else "its value against its input's there"
        sentence = f"{text}; {what}: {mine} against {theirs}{_tail(greatest, note if index == 0 else '')}"
    parts = frozenset(stretch(matching, index, among[index], node))
    return _one_sided(matching, index, node, phase, sentence, (mine, theirs), greatest, parts, None)


def _two_ops(matching: Matching, among: tuple[Suspects, Suspects], pair: tuple[str, str], phase: Phase) -> Finding:
    """Two ops, or the stretches of ops that two lines of code became, with equal inputs and other values."""
    lines = [stretch(matching, index, among[index], pair[index]) for index in (0, 1)]
    sizes = [matching.sides[index].size(matching.sides[index].slot(pair[index])) for index in (0, 1)]
    if same_work(matching, *pair) and sizes[0] == sizes[1]:
        lines = [[pair[0]], [pair[1]]]
    exits = [line[-1] for line in lines]
    wanted = matching.sides[1].size(matching.sides[1].slot(exits[1]))
    exits[0] = next((n for n in reversed(lines[0]) if matching.sides[0].size(matching.sides[0].slot(n)) == wanted), exits[0])
    lines[0] = lines[0][: lines[0].index(exits[0]) + 1]
    slots = matching.sides[0].slot(exits[0]), matching.sides[1].slot(exits[1])
    mine, theirs, greatest, note = _contrast(matching, *slots)
    who = " and ".join(_line(matching.sides[index], lines[index]) for index in (0, 1))
    sentence = (
        f"First divergence in {phase}: {who} take equal inputs{_inputs_note(matching, pair)} but give different values: "
        f"{mine} against {theirs}{_tail(greatest, note)}"
    )
    return _found(matching, pair, phase, sentence, (mine, theirs, greatest), (set(lines[0]), set(lines[1])))


def _inputs_note(matching: Matching, pair: tuple[str, str]) -> str:
    """What is odd about inputs that agree as sets of numbers: their order as arguments, or of the numbers within."""
    relations = matching.relations
    fed = {origin for origin, _ in matching.sides[0].inputs[pair[0]]}
    apart = sorted(matching.sides[0].nodes[one].name for one, _ in matching.differing if one in fed)
    if apart:
        return " but for " + " and ".join(f"`{name}`" for name in apart)
    mine = [relations.roots[0].get(origin) for origin in relations.origins(0, pair[0])]
    theirs = relations.origins(1, pair[1])
    if mine != theirs and None not in mine and len(set(mine)) > 1 and set(mine) == set(theirs) and len(mine) == len(theirs):
        return ", given in another order,"
    for slot in matching.sides[0].inputs[pair[0]]:
        for other in matching.sides[1].inputs[pair[1]]:
            if relations.roots[0].get(relations.root[0][slot[0]]) == relations.root[1][other[0]]:
                how = matching.layout(slot, other)
                if how:
                    names = matching.sides[0].named(slot[0]), matching.sides[1].named(other[0])
                    return f" ({names[0]} against {names[1]}: the same numbers, {how})"
    return ""


def _from_results(matching: Matching, results: list[tuple[str, str]], phase: Phase) -> Finding:
    """All that leads to a result agrees with something on the other side, but not with what leads to the result there."""
    one, other = results[0]
    slots = matching.sides[0].result(one), matching.sides[1].result(other)
    mine, theirs, greatest, note = _contrast(matching, *slots)
    name = matching.sides[0].nodes[one].name or one
    makers = [next((o for o, _ in side.inputs[n]), n) for side, n in zip(matching.sides, (one, other), strict=True)]
    who = " and ".join(f"{matching.sides[i].named(makers[i])} in {matching.sides[i].engine}" for i in (0, 1))
    against = f"{mine} against {theirs}{_tail(greatest, note)}"
    sentence = f"First divergence in {phase}: `{name}` comes from {who}, which are not the same: {against}"
    return _found(matching, (makers[0], makers[1]), phase, sentence, (mine, theirs, greatest), ({one}, {other}))


def _only_one_side(matching: Matching, missing: tuple[list[str], list[str]]) -> Finding:
    """Everything that both sides name agrees, but one of them has a gradient more."""
    for index, side in enumerate(matching.sides):
        for node in missing[index][:1]:
            opposite = matching.sides[1 - index].engine
            slot = side.result(node)
            reads = reading(*side.shown(slot))
            name = side.nodes[node].name
            sentence = f"First divergence in backward: `{name}` is a result of {side.engine} only; {opposite} has none"
            return _one_sided(matching, index, node, "backward", sentence, (reads, "absent"), None, frozenset({node}), None)
    return NOTHING


def _one_sided(
    matching: Matching,
    index: int,
    node: str,
    phase: Phase,
    sentence: str,
    reads: tuple[str, str],
    greatest: float | None,
    parts: frozenset[str],
    user: str | None,
) -> Finding:
    source = matching.sides[index].source(node) or (matching.sides[index].source(user) if user else "")
    both = (reads, (source, "")) if index == 0 else (reads[::-1], ("", source))
    divergence = Divergence(
        left=node if index == 0 else None,
        right=node if index == 1 else None,
        phase=phase,
        sentence=sentence,
        left_source=both[1][0],
        right_source=both[1][1],
        left_value=both[0][0],
        right_value=both[0][1],
        greatest=greatest,
    )
    return Finding(divergence, (parts, frozenset()) if index == 0 else (frozenset(), parts))


def _found(
    matching: Matching,
    pair: tuple[str, str],
    phase: Phase,
    sentence: str,
    values: tuple[str, str, float | None],
    parts: tuple[set[str], set[str]],
) -> Finding:
    divergence = Divergence(
        left=pair[0],
        right=pair[1],
        phase=phase,
        sentence=sentence,
        left_source=matching.sides[0].source(pair[0]),
        right_source=matching.sides[1].source(pair[1]),
        left_value=values[0],
        right_value=values[1],
        greatest=values[2],
    )
    return Finding(divergence, (frozenset(parts[0]), frozenset(parts[1])))


def _contrast(matching: Matching, left: Slot, right: Slot) -> Contrast:
    return contrast(matching.sides[0].shown(left), matching.sides[1].shown(right))


def _line(side: Side, nodes: list[str]) -> str:
    if len(nodes) == 1:
        return side.named(nodes[0])
    return f"the {len(nodes)} ops from {side.named(nodes[0])} to `{side.nodes[nodes[-1]].op}`"


def _tail(greatest: float | None, note: str) -> str:
    parts = ([f"greatest difference {greatest:.3g}"] if greatest is not None else []) + ([note] if note else [])
    return f" ({'; '.join(parts)})" if parts else ""
