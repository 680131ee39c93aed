"""Where two graphs part, in lines."""

import msgspec
import pytest

from explorer.model.alignment import SideName, Unpaired
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
    assert "0.004, 4,000 × the noise of 1e-06" in lines[6]
    assert lines[7].endswith(": dx")


def test_further_divergences_are_counted_or_listed() -> None:
    further = msgspec.structs.replace(DIVERGENCE, sentence="Further: ReLU", left_value="7")
    parted = msgspec.structs.replace(
        alignment("torch-tape", "mindspore-graph", DIVERGENCE), further=(further, further)
    )
    graphs = graph("torch-tape"), graph("mindspore-graph")
    first = list(diff_lines(parted, *graphs))
    assert any("2 further" in line and "--all" in line for line in first)
    assert further.sentence not in first
    every = list(diff_lines(parted, *graphs, list_all=True))
    assert every.count(further.sentence) == 2
    assert "  torch-tape       MulBackward (n2)  7  net.py:3" in every
    assert not any("--all" in line for line in every)


@pytest.mark.parametrize(("side", "engine"), [("left", "torch-tape"), ("right", "mindspore-graph")])
def test_equal_results_do_not_hide_values_that_contradict_each_other(
    side: SideName, engine: str
) -> None:
    wrong = Unpaired(side=side, node="n2", reason="refuted", detail="it is 4")
    alike = msgspec.structs.replace(alignment("torch-tape", "mindspore-graph"), unpaired=(wrong,))
    lines = list(diff_lines(alike, graph("torch-tape"), graph("mindspore-graph")))
    assert "no divergence" in lines[3]
    assert lines[4] == f"refuted: MulBackward (n2) of {engine}: it is 4"


def test_the_document_says_which_scenario_it_is_about() -> None:
    document = diff_document(report(), alignment("torch-tape", "mindspore-graph"))
    assert document["scenario"] == "dense_mse"
    assert (document["left"], document["right"]) == ("torch-tape", "mindspore-graph")
    assert document["same"] is True
    parted = diff_document(report(), alignment("torch-tape", "mindspore-graph", DIVERGENCE))
    assert (parted["divergence"]["noise"], parted["divergence"]["ratio"]) == (1e-6, 4000.0)
    assert document["further"] == []


def test_results_that_are_drawn_are_named_in_lines_and_in_the_document() -> None:
    drawn = msgspec.structs.replace(alignment("torch-tape", "mindspore-graph"), drawn=("dx",))
    lines = list(diff_lines(drawn, graph("torch-tape"), graph("mindspore-graph")))
    remark = diff_document(report(), drawn)["remark"]
    assert remark in lines
    assert remark.endswith(": dx")
    assert diff_document(report(), alignment("torch-tape", "mindspore-graph"))["remark"] == ""
