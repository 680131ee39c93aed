"""The alignment of two graphs: the report's own, whichever of the two is on the left, or a new one."""

from collections.abc import Iterable

import msgspec

from explorer.compare.align import align
from explorer.model.alignment import Alignment, Pair
from explorer.model.divergence import mirrored as mirrored_divergence
from explorer.model.graph import GradGraph
from explorer.model.sides import OTHER
from explorer.model.unpaired import Unpaired


def has_values(graph: GradGraph) -> bool:
    """Whether a graph was run: its nodes have values, by which they can be paired."""
    return any(output.values for node in graph.nodes for output in node.outputs)


def can_be_paired(left: GradGraph, right: GradGraph) -> bool:
    """Whether two graphs are of different engines, and both have values."""
    return left.engine != right.engine and has_values(left) and has_values(right)


def aligned(left: GradGraph, right: GradGraph) -> Alignment:
    """The alignment of two graphs that the report has none of, such as those of earlier stages."""
    return align(left, right)


def reported(
    left: GradGraph,
    right: GradGraph,
    graphs: Iterable[GradGraph],
    alignments: Iterable[Alignment],
) -> Alignment | None:
    """The report's own alignment of these very graphs, with ``left`` on the left; None where it has none."""
    last_stage = {graph.engine: graph for graph in graphs}  # stages come in order
    if left is not last_stage[left.engine] or right is not last_stage[right.engine]:
        return None
    for alignment in alignments:
        if (alignment.left, alignment.right) == (left.engine, right.engine):
            return alignment
        if (alignment.left, alignment.right) == (right.engine, left.engine):
            return mirrored(alignment, left)
    return None


def mirrored(alignment: Alignment, left: GradGraph) -> Alignment:
    """The same alignment with its sides exchanged; ``left`` is the graph that comes to the left.

    Its execution order numbers the pairs then.
    """
    # Pairs that share a number go together; the first of them says where.
    steps = {node.id: node.order for node in left.nodes}
    first_of_number: dict[int, Pair] = {}
    for pair in alignment.pairs:
        first_of_number.setdefault(pair.number, pair)
    in_order = sorted(first_of_number.values(), key=lambda pair: steps[pair.right])
    numbers = {pair.number: number for number, pair in enumerate(in_order, 1)}

    pairs = [_mirrored_pair(pair, numbers[pair.number]) for pair in alignment.pairs]
    divergence = alignment.divergence
    return msgspec.structs.replace(
        alignment,
        left=alignment.right,
        right=alignment.left,
        pairs=tuple(sorted(pairs, key=lambda pair: pair.number)),
        unpaired=tuple(_mirrored_unpaired(unpaired) for unpaired in alignment.unpaired),
        divergence=mirrored_divergence(divergence) if divergence else None,
        further=tuple(mirrored_divergence(further) for further in alignment.further),
        left_coverage=alignment.right_coverage,
        right_coverage=alignment.left_coverage,
    )


def _mirrored_pair(pair: Pair, number: int) -> Pair:
    return msgspec.structs.replace(
        pair,
        number=number,
        left=pair.right,
        right=pair.left,
        left_output=pair.right_output,
        right_output=pair.left_output,
        left_within=pair.right_within,
        right_within=pair.left_within,
    )


def _mirrored_unpaired(unpaired: Unpaired) -> Unpaired:
    return msgspec.structs.replace(unpaired, side=OTHER[unpaired.side])
