"""The alignment of two gradient graphs in the nodes that a picture shows of them."""

import msgspec

from explorer.drawing.shown import Shown
from explorer.model.alignment import Alignment, Pair
from explorer.model.divergence import Divergence, End
from explorer.model.unpaired import Unpaired


def merged_alignment(alignment: Alignment, left: Shown, right: Shown) -> Alignment:
    """The alignment in the ids of what is in sight.

    Pairs of nodes inside merged modules pair the modules, each once, under the least number.
    """
    # The first pair between two modules stands for all of them.
    pairs: dict[tuple[str, str], Pair] = {}
    for pair in sorted(alignment.pairs, key=lambda pair: pair.number):
        homes = (left.homes[pair.left], right.homes[pair.right])
        pairs.setdefault(homes, _merged_pair(pair, left, right))
    unpaired = [_merged_unpaired(node, left, right) for node in alignment.unpaired]
    divergence = alignment.divergence
    return msgspec.structs.replace(
        alignment,
        pairs=tuple(pairs.values()),
        unpaired=tuple(unpaired),
        divergence=_merged_divergence(divergence, left, right) if divergence else None,
        further=tuple(_merged_divergence(further, left, right) for further in alignment.further),
    )


def _merged_divergence(divergence: Divergence, left: Shown, right: Shown) -> Divergence:
    one, other = divergence.ends
    return msgspec.structs.replace(
        divergence, ends=(_merged_end(one, left), _merged_end(other, right))
    )


def _merged_end(end: End, shown: Shown) -> End:
    return msgspec.structs.replace(end, node=shown.homes[end.node]) if end.node else end


def _merged_pair(pair: Pair, left: Shown, right: Shown) -> Pair:
    return msgspec.structs.replace(
        pair,
        left=left.homes[pair.left],
        right=right.homes[pair.right],
        left_within=left.apart(pair.left_within),
        right_within=right.apart(pair.right_within),
    )


def _merged_unpaired(unpaired: Unpaired, left: Shown, right: Shown) -> Unpaired:
    side = left if unpaired.side == "left" else right
    return msgspec.structs.replace(unpaired, node=side.homes[unpaired.node])
