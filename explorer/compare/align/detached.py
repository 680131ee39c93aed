"""Divergences at an op that only one side has and that lets no gradient through: a detach, a
stop_gradient.
"""

import re

from explorer.compare.align.contrast import reading
from explorer.compare.align.extra import Both
from explorer.compare.align.finding import Finding, found_both
from explorer.compare.align.state import Matching

CUTS = re.compile(r"detach|stop_?gradient", re.IGNORECASE)
"""Operators that hand their input on and stop its gradient."""


def detached(matching: Matching, among: Both) -> Finding | None:
    """The op that stops a gradient which the other side computes: its user has a partner, of which
    a suspect derives.
    """
    for index, side in enumerate(matching.sides):
        partner = matching.relations.partner[index]
        derived: dict[str, str] = {}
        for node in among[1 - index].nodes:
            derived.setdefault(matching.sides[1 - index].nodes[node].forward or "", node)
        for node in reversed(side.ordered()):
            if (
                side.nodes[node].phase != "forward"
                or side.nodes[node].kind != "op"
                or not CUTS.search(side.nodes[node].op)
            ):
                continue
            for user in _users(matching, index, node):
                if partner.get(user) in derived:
                    return _stopped(matching, index, node, derived[partner[user]])
    return None


def _users(matching: Matching, index: int, node: str) -> list[str]:
    """What uses a node's numbers in forward, directly or through steps that keep them."""
    side, root = matching.sides[index], matching.relations.root[index]
    found = [node]
    for each in found:
        if root[each] == root[node]:
            found += [
                c
                for c in side.consumers[each]
                if side.nodes[c].phase == "forward" and c not in found
            ]
    return found[1:]


def _stopped(matching: Matching, index: int, node: str, gradient: str) -> Finding:
    side, opposite = matching.sides[index], matching.sides[1 - index]
    reads = "stopped", reading(*opposite.shown(opposite.slot(gradient)))
    sentence = (
        f"First divergence in backward: {side.named(node)} of {side.engine} stops the gradient that {opposite.engine} passes on "
        f"in {opposite.named(gradient)}: {reads[1]}"
    )
    pair, values = ((node, gradient), reads) if index == 0 else ((gradient, node), reads[::-1])
    return found_both(matching, pair, "backward", sentence, (*values, None), ({pair[0]}, {pair[1]}))
