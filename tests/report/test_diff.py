"""Where two graphs part, in lines."""

from explorer.report.diff import diff_document, diff_lines
from tests.support.sample_report import DIVERGENCE, alignment, graph, report


def test_two_graphs_that_never_part_say_so_after_their_coverage() -> None:
    alike = alignment("torch-tape", "mindspore-graph")
    lines = list(diff_lines(alike, graph("torch-tape"), graph("mindspore-graph")))
    assert lines[0] == alike.case
    assert lines[1].startswith("  torch-tape       forward 1 paired, 0 inside, 0 unpaired; ")
    assert lines[2].startswith("  mindspore-graph  forward 1 paired, 0 inside, 0 unpaired; ")
    assert "no divergence" in lines[3]


def test_a_divergence_has_a_line_for_each_side() -> None:
    parted = alignment("torch-tape", "mindspore-graph", DIVERGENCE)
    lines = list(diff_lines(parted, graph("torch-tape"), graph("mindspore-graph")))
    assert lines[3] == DIVERGENCE.sentence
    assert lines[4] == "  torch-tape       MulBackward (n2)  4  net.py:3"
    assert lines[5] == "  mindspore-graph  MulBackward (n2)  4.004  net.py:3"
    assert "0.004" in lines[6]
    assert lines[7].endswith(": dx")


def test_the_document_says_which_scenario_it_is_about() -> None:
    document = diff_document(report(), alignment("torch-tape", "mindspore-graph"))
    assert document["scenario"] == "dense_mse"
    assert (document["left"], document["right"]) == ("torch-tape", "mindspore-graph")
