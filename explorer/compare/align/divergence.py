"""The first divergence: the earliest place whose inputs agree and whose value does not."""

from explorer.compare.align.contrast import reading
from explorer.compare.align.detached import detached
from explorer.compare.align.extra import Both, added, ahead, extra, unmatched
from explorer.compare.align.families import BOOKKEEPING
from explorer.compare.align.finding import (
    NOTHING,
    Finding,
    Phase,
    compared,
    found_both,
    line_of,
    one_sided,
    tail,
)
from explorer.compare.align.side import LEAVES
from explorer.compare.align.state import Matching
from explorer.compare.align.suspects import (
    Suspects,
    same_work,
    shared,
    stretch,
    suspects,
    unpaired_onwards,
)


def diverge(matching: Matching, missing: tuple[list[str], list[str]]) -> Finding:
    """Where two graphs part, if a named result differs; ``missing`` are gradients that only the one
    or the other side has.
    """
    left = matching.sides[0]
    results = [
        (one, other) for one, other in matching.differing if left.nodes[one].kind == "output"
    ]
    if not results:
        leaves = [
            pair
            for pair in matching.differing
            if not any(n.kind == "output" for n in left.nodes.values())
        ]
        return (
            _leaf(matching, *leaves[0], "forward") if leaves else _only_one_side(matching, missing)
        )
    phase: Phase = (
        "forward" if any(left.nodes[one].phase == "forward" for one, _ in results) else "backward"
    )
    results = [pair for pair in results if left.nodes[pair[0]].phase == phase]
    among = _among(matching, results, phase)
    if phase == "backward":
        early = _early(matching, results)
        if early:
            among, phase = early, "forward"
    found = _from_leaves(matching, among, phase) or _from_entries(matching, among, phase)
    return found or _from_results(matching, results, phase)


def _among(matching: Matching, results: list[tuple[str, str]], phase: Phase) -> Both:
    return (
        suspects(matching, 0, [one for one, _ in results], phase),
        suspects(matching, 1, [other for _, other in results], phase),
    )


def _early(matching: Matching, results: list[tuple[str, str]]) -> Both | None:
    """Suspects of a forward that differs although its results agree, within tolerance or because a
    later op hides it.

    Steps that one side alone breaks down are no difference; the same op on both sides with another
    value is.
    """
    fronts = []
    for side, found in zip(matching.sides, _among(matching, results, "forward"), strict=True):
        nodes, entries = (
            tuple(n for n in each if side.nodes[n].phase == "forward")
            for each in (found.nodes, found.entries)
        )
        fronts.append(Suspects(nodes, entries))
    among = fronts[0], fronts[1]
    pair = _counterparts(matching, (among[0].entries, among[1].entries))
    if pair is None:
        return None
    chains = [unpaired_onwards(matching, index, pair[index]) for index in (0, 1)]
    works = [
        {(side.family(n), side.size(side.slot(n))) for n in c}
        for side, c in zip(matching.sides, chains, strict=True)
    ]
    return among if any(family not in BOOKKEEPING for family, _ in works[0] & works[1]) else None


def _from_leaves(matching: Matching, among: Both, phase: Phase) -> Finding | None:
    """Inputs and parameters come before all computation: other values, or one that only one side
    has.
    """
    for one, other in matching.differing:
        if (one in among[0].nodes or other in among[1].nodes) and matching.sides[0].nodes[
            one
        ].kind in LEAVES:
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
            return one_sided(
                matching, index, node, phase, sentence, (reads, "absent"), None, parts, user
            )
    return None


def _leaf(matching: Matching, one: str, other: str, phase: Phase) -> Finding:
    left = matching.sides[0].nodes[one]
    slots = matching.sides[0].slot(one), matching.sides[1].slot(other)
    mine, theirs, greatest, note = compared(matching, *slots)
    against = f"{mine} against {theirs}{tail(greatest, note)}"
    sentence = f"First divergence: the nets start from different values of `{left.name}`: {against}"
    return found_both(
        matching, (one, other), phase, sentence, (mine, theirs, greatest), ({one}, {other})
    )


def _from_entries(matching: Matching, among: Both, phase: Phase) -> Finding | None:
    """The earliest suspects whose inputs agree: two ops that part, or work that the other side does
    not do.
    """
    if not among[0].entries and not among[1].entries:
        return None
    told = (detached(matching, among) or added(matching, among)) if phase == "backward" else None
    if told:
        return told
    pair = _counterparts(matching, (among[0].entries, among[1].entries))
    if pair is None:
        return unmatched(matching, among, phase)
    for index in (0, 1):
        line = ahead(matching, among, index, pair)
        if line:
            return extra(matching, index, line, pair[1 - index], phase)
    return _two_ops(matching, among, pair, phase)


def _counterparts(
    matching: Matching, entries: tuple[tuple[str, ...], tuple[str, ...]]
) -> tuple[str, str] | None:
    """The earliest left entry that has a counterpart: shared inputs first, then the same kind of
    op, module, and position.
    """
    left, right = matching.sides
    for one in entries[0]:
        ranked = []
        for other in entries[1]:
            if left.nodes[one].phase != right.nodes[other].phase:
                continue
            common, alike = shared(matching, one, other), same_work(matching, one, other)
            place = (
                bool(left.nodes[one].scope) and left.nodes[one].scope == right.nodes[other].scope
            )
            if common or alike or place:
                ranked.append((common, alike, place, -right.rank[other], other))
        if ranked:
            return one, max(ranked)[-1]
    return None


def _two_ops(matching: Matching, among: Both, pair: tuple[str, str], phase: Phase) -> Finding:
    """Two ops, or the stretches of ops that two lines of code became, with equal inputs and other
    values.
    """
    lines = [stretch(matching, index, among[index], pair[index]) for index in (0, 1)]
    sizes = [
        matching.sides[index].size(matching.sides[index].slot(pair[index])) for index in (0, 1)
    ]
    if same_work(matching, *pair) and sizes[0] == sizes[1]:
        lines = [[pair[0]], [pair[1]]]
    exits = [line[-1] for line in lines]
    wanted = matching.sides[1].size(matching.sides[1].slot(exits[1]))
    exits[0] = next(
        (
            n
            for n in reversed(lines[0])
            if matching.sides[0].size(matching.sides[0].slot(n)) == wanted
        ),
        exits[0],
    )
    lines[0] = lines[0][: lines[0].index(exits[0]) + 1]
    slots = matching.sides[0].slot(exits[0]), matching.sides[1].slot(exits[1])
    mine, theirs, greatest, note = compared(matching, *slots)
    who = " and ".join(line_of(matching.sides[index], lines[index]) for index in (0, 1))
    sentence = (
        f"First divergence in {phase}: {who} take equal inputs{_inputs_note(matching, pair)} but give different values: "
        f"{mine} against {theirs}{tail(greatest, note)}"
    )
    return found_both(
        matching, pair, phase, sentence, (mine, theirs, greatest), (set(lines[0]), set(lines[1]))
    )


def _inputs_note(matching: Matching, pair: tuple[str, str]) -> str:
    """What is odd about inputs that agree as sets of numbers: their order as arguments, or of the
    numbers within.
    """
    relations = matching.relations
    fed = {origin for origin, _ in matching.sides[0].inputs[pair[0]]}
    apart = sorted(matching.sides[0].nodes[one].name for one, _ in matching.differing if one in fed)
    if apart:
        return " but for " + " and ".join(f"`{name}`" for name in apart)
    mine = [relations.roots[0].get(origin) for origin in relations.origins(0, pair[0])]
    theirs = relations.origins(1, pair[1])
    if (
        mine != theirs
        and None not in mine
        and len(set(mine)) > 1
        and set(mine) == set(theirs)
        and len(mine) == len(theirs)
    ):
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
    """All that leads to a result agrees with something on the other side, but not with what leads
    to the result there.
    """
    one, other = results[0]
    slots = matching.sides[0].result(one), matching.sides[1].result(other)
    mine, theirs, greatest, note = compared(matching, *slots)
    name = matching.sides[0].nodes[one].name or one
    makers = [
        next((o for o, _ in side.inputs[n]), n)
        for side, n in zip(matching.sides, (one, other), strict=True)
    ]
    who = " and ".join(
        f"{matching.sides[i].named(makers[i])} in {matching.sides[i].engine}" for i in (0, 1)
    )
    against = f"{mine} against {theirs}{tail(greatest, note)}"
    sentence = (
        f"First divergence in {phase}: `{name}` comes from {who}, which are not the same: {against}"
    )
    return found_both(
        matching,
        (makers[0], makers[1]),
        phase,
        sentence,
        (mine, theirs, greatest),
        ({one}, {other}),
    )


def _only_one_side(matching: Matching, missing: tuple[list[str], list[str]]) -> Finding:
    """Everything that both sides name agrees, but one of them has a gradient more."""
    for index, side in enumerate(matching.sides):
        for node in missing[index][:1]:
            opposite = matching.sides[1 - index].engine
            slot = side.result(node)
            reads = reading(*side.shown(slot))
            name = side.nodes[node].name
            sentence = f"First divergence in backward: `{name}` is a result of {side.engine} only; {opposite} has none"
            return one_sided(
                matching,
                index,
                node,
                "backward",
                sentence,
                (reads, "absent"),
                None,
                frozenset({node}),
                None,
            )
    return NOTHING
