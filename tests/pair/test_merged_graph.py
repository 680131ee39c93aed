"""Modules merged, and pairs between what is in sight."""

from explorer.compare.align import align
from explorer.drawing.shown import show
from explorer.pair.alignments import merged_alignment
from explorer.pair.records import links
from tests.support.sample_report import graph

LEFT, RIGHT = graph("torch-tape"), graph("mindspore-graph")


def test_without_a_depth_everything_stays_as_it_is() -> None:
    alignment = align(LEFT, RIGHT)
    assert show(LEFT).graph is LEFT
    assert merged_alignment(alignment, show(LEFT), show(RIGHT)) == alignment


def test_pairs_inside_merged_modules_pair_the_modules() -> None:
    alignment = align(LEFT, RIGHT)
    left, right = show(LEFT, 0), show(RIGHT, 0)
    in_sight = merged_alignment(alignment, left, right)
    assert 0 < len(in_sight.pairs) <= len(alignment.pairs)
    assert set(links(in_sight)["left"]) <= set(left.graph.by_id())


def test_a_node_is_marked_with_its_partner_and_the_steps_inside_it() -> None:
    pair = align(LEFT, RIGHT).pairs[0]
    marked = links(align(LEFT, RIGHT))
    assert marked["left"][pair.left][0] == pair.right
    assert marked["right"][pair.right][0] == pair.left
    assert links(None) == {"left": {}, "right": {}}
