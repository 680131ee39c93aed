"""The alignment of two graphs as a pane shows it: mirrored, in the nodes in sight, with its marks."""

from collections.abc import Iterable

import msgspec

from explorer.compare.align import align
from explorer.drawing.marks import Marks, diverging_nodes, marks
from explorer.drawing.shown import Shown
from explorer.model.alignment import Alignment, Pair, Unpaired
from explorer.model.divergence import Divergence, End
from explorer.model.divergence import mirrored as mirrored_record
from explorer.model.engines import engine_named
from explorer.model.graph import GradGraph
from explorer.text.language import _
from explorer.words.graphs import STAGES


def has_values(graph: GradGraph) -> bool:
    """Whether a graph was run: its nodes have values, by which they can be paired."""
    return any(output.values for node in graph.nodes for output in node.outputs)


def last_by_engine(graphs: Iterable[GradGraph]) -> dict[str, GradGraph]:
    """The last stage of each engine: stages come in order."""
    return {graph.engine: graph for graph in graphs}


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
    last_stage = last_by_engine(graphs)
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
    mirror = mirrored_record(alignment)
    # Pairs that share a number go together; the first of them says where.
    nodes = left.by_id()
    first_of_number: dict[int, Pair] = {}
    for pair in mirror.pairs:
        first_of_number.setdefault(pair.number, pair)
    in_order = sorted(first_of_number.values(), key=lambda pair: nodes[pair.left].order)
    numbers = {pair.number: number for number, pair in enumerate(in_order, 1)}
    pairs = (msgspec.structs.replace(it, number=numbers[it.number]) for it in mirror.pairs)
    in_order_of_left = sorted(pairs, key=lambda pair: pair.number)
    return msgspec.structs.replace(mirror, pairs=tuple(in_order_of_left))


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
    seen = []
    for one in alignment.plain:
        merged = _merged_divergence(one.divergence, left, right)
        seen.append(msgspec.structs.replace(one, divergence=merged))
    return msgspec.structs.replace(
        alignment,
        pairs=tuple(pairs.values()),
        unpaired=tuple(unpaired),
        seen=(*seen, *alignment.behind),
    )


def _merged_divergence(divergence: Divergence, left: Shown, right: Shown) -> Divergence:
    one, other = divergence.ends
    return msgspec.structs.replace(
        divergence, ends=(_merged_end(one, left), _merged_end(other, right))
    )


def _merged_end(end: End, shown: Shown) -> End:
    if not end.node:
        return end
    return msgspec.structs.replace(end, node=shown.homes[end.node])


def _merged_pair(pair: Pair, left: Shown, right: Shown) -> Pair:
    return msgspec.structs.replace(
        pair,
        left=left.homes[pair.left],
        right=right.homes[pair.right],
        left_within=left.apart(pair.left_within),
        right_within=right.apart(pair.right_within),
    )


def _merged_unpaired(unpaired: Unpaired, left: Shown, right: Shown) -> Unpaired:
    side = left
    if unpaired.side == "right":
        side = right
    return msgspec.structs.replace(unpaired, node=side.homes[unpaired.node])


def caption(graph: GradGraph) -> str:
    """What stands above a pane: the engine, how it differentiates, and the compiler's stage."""
    text = f"{graph.engine} · {_(engine_named(graph.engine).how)}"
    if graph.stage in STAGES:
        return f"{text} · {graph.stage}"
    return text


def both_marks(shown: tuple[Shown, Shown], alignment: Alignment | None) -> tuple[Marks, Marks]:
    """The pair numbers and the first divergence, by the ids of what is in sight of both graphs."""
    left, right = shown
    if alignment is None:
        return marks(left, {}), marks(right, {})
    merged = merged_alignment(alignment, left, right)
    left_parts, right_parts = diverging_nodes(alignment)
    return (
        marks(left, merged.numbers("left"), left_parts),
        marks(right, merged.numbers("right"), right_parts),
    )
