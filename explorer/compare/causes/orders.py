"""Two ops that are in the opposite order on the other side."""

from collections.abc import Iterator

from explorer.compare.causes.rows import (
    NEAR,
    Ends,
    are_alike,
    at_place,
    have_one_value,
    onwards,
    sided,
    with_bias,
)
from explorer.compare.graphs.view import MOVES, GraphView
from explorer.model.divergence import ExtraOps
from explorer.model.graph import Node
from explorer.operators.families import family
from explorer.operators.table import TRIED

MOST_BETWEEN = 2
"""So many ops may stand between two that are in the opposite order."""

NORMS = frozenset({"layernorm", "groupnorm"})
"""Families of norms that are the same where one axis is left."""


def in_other_order(ends: Ends) -> Ends | None:
    """Two ops that are in the opposite order on the other side; a few may stand between them.

    None where the two sides do not have the same two kinds of ops: the other one has them as the ends
    of its row, as its only op and the one behind it, or as its only op and the one before it. Of just two
    ops any kinds are tried.
    """
    here, there, (node, *rest) = ends.here, ends.there, ends.own_row
    first, *others = ends.row
    # The two ops that the other side may have: a row's first one and one behind, or around its only op.
    after = [*others, there.next_op(ends.row[-1], MOVES)]
    pairs: list[tuple[Node | None, Node | None]] = [(first, it) for it in reversed(after)]
    if not others:
        pairs.append((there.previous_op(first, MOVES), first))
    ops = [node]
    for second in onwards(here, node, MOST_BETWEEN + 1, MOVES):
        ops.append(second)
        kinds = _kind(second), _kind(node)
        like = [it for it in pairs if (_kind(it[0]), _kind(it[1])) == kinds]
        # Of two of one kind only products are told apart.
        differ = kinds[0] != kinds[1] or family(node.op) in TRIED.of_weights
        last = like[0][1] if differ and like else None
        if last is not None:
            # The other side may add the bias of the op that is the last one then in an op of its own.
            lacks_one = len(there.into(last)) < len(here.into(node))
            row = with_bias(there, [last]) if lacks_one else [last]
            return Ends(ends.side, here, there, ops, row, at="order")
    if len(rest) == 1 and here.next_op(node, MOVES) is rest[0]:
        return Ends(ends.side, here, there, ends.own_row, [ends.row[-1]], at="order")
    return None


def behind_instead(divergence: ExtraOps, left: GraphView, right: GraphView) -> Iterator[Ends]:
    """An op that one side alone has behind another one, where the other side has one of its kind ahead."""
    here, there, node = sided(divergence, left, right)
    goes_on = at_place(there, divergence.goes_on) if divergence.goes_on else None
    if node is None or goes_on is None or divergence.row.count > 1:
        return
    for before in here.origins(node):
        for other in there.origins(goes_on) if before.kind == "op" else ():
            ahead: list[Node | None] = [other]
            for _ in range(NEAR):
                ahead += [there.previous_op(it, MOVES) for it in ahead[-1:] if it]
            if have_one_value(before, other) and any(are_alike(it, node) for it in ahead):
                yield Ends(divergence.side, here, there, [before, node], [other], at="order")


def _kind(node: Node | None) -> str:
    """The family of an op; one for all norms, which are the same where one axis is left.

    The maximum of a value and 0 is relu.
    """
    found = family(node.op) if node else ""
    if node and found == "max" and 0.0 in node.arguments.values():
        return "relu"
    return "norm" if found in NORMS else found
