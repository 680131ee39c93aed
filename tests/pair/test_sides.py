"""What the drawings of two graphs say of each node: pair numbers on both sides, and where they part."""

from explorer.drawing.shown import show_both
from explorer.model.alignment import Alignment
from explorer.pair.alignments import both_marks, caption, merged_alignment
from tests.support.deep_nets import SPOILED, deep_report


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
