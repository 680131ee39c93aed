"""What two drawings say of each node: pair numbers on both sides, modules merged, and where they part."""

from explorer.compare.align import align
from explorer.drawing.shown import show, show_both
from explorer.model.alignment import Alignment
from explorer.pair.alignments import both_marks, caption, merged_alignment
from explorer.pair.records import links
from tests.support.deep_nets import SPOILED, deep_report
from tests.support.sample_report import graph


def test_both_nodes_of_a_pair_carry_its_number() -> None:
    report = deep_report(2)
    left, _, right = report.graphs
    (alignment,) = report.alignments
    shown = show_both(left, right, "all")
    left_marks, right_marks = both_marks(shown, alignment)
    pairs = merged_alignment(alignment, *shown).pairs
    assert pairs
    for pair in pairs:
        assert left_marks[pair.left].number == pair.number
        assert right_marks[pair.right].number == pair.number


def parting(alignment: Alignment) -> tuple[str | None, str | None]:
    assert alignment.divergence
    return alignment.divergence.nodes[0], alignment.divergence.nodes[1]


def test_each_side_marks_its_own_node_where_the_graphs_part() -> None:
    report = deep_report(2, SPOILED)
    left, _, right = report.graphs
    (alignment,) = report.alignments
    both = both_marks(show_both(left, right, "all"), alignment)
    for marks, node in zip(both, parting(alignment), strict=True):
        assert [id_ for id_, mark in marks.items() if mark.diverges] == [node]


def test_without_an_alignment_there_are_no_numbers() -> None:
    left, earlier, right = deep_report(2).graphs
    for marks in both_marks(show_both(earlier, right, "all"), None):
        assert all(mark.number is None for mark in marks.values())
    assert caption(left) == "torch-tape · backward and autograd.grad"
    assert caption(right).endswith("· validate")
    assert caption(earlier).endswith("· opt_a")


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
