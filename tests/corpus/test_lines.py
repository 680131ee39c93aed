"""What changes a line of the corpus, and what does not."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from explorer.model.alignment import Pair, Plain, Seen, Unpaired
from explorer.model.divergence import mirrored
from explorer.model.graph import GradGraph, Output
from explorer.model.report import Report
from explorer.numeric.summaries import summarise
from tests.corpus import folder
from tests.corpus.lines import corpus_files
from tests.support.sample_report import DIVERGENCE, ON_THE_LEFT, alignment, report

NEW_PAIR = Pair(
    left="n1", right="n2", left_output=0, right_output=0, number=2, how="value", left_within=("n2",)
)
PAIR = replace(NEW_PAIR, right="n1", left_within=())
LEAVES = Pair(left="n0", right="n0", left_output=0, right_output=0, number=1, how="name")
LEFT_OVER = Unpaired(side="right", node="n2", reason="difference", why=Plain("unused"))

ON_THE_RIGHT = mirrored(ON_THE_LEFT)


def sample() -> Report:
    """The small report, with pairs, an unpaired node and a divergence."""
    plain = alignment("mindspore-graph", "torch-tape", DIVERGENCE)
    aligned = replace(plain, pairs=(LEAVES, PAIR), unpaired=(LEFT_OVER,))
    return replace(report(), alignments=(aligned,), cases=report().cases[5:8])


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Report:
    """The small report, written into a folder of its own."""
    monkeypatch.setattr(folder, "FOLDER", tmp_path)
    folder.write(sample())
    return sample()


def changed(diff: str) -> list[str]:
    """The lines that a diff removes and adds."""
    lines = [line for line in diff.splitlines() if line[:1] in "+-"]
    return [line for line in lines if not line.startswith(("+++", "---"))]


def with_graph(whole: Report, change: Callable[[GradGraph], GradGraph]) -> Report:
    first, *others = whole.graphs
    return replace(whole, graphs=(change(first), *others))


def with_values(factor: float) -> Callable[[GradGraph], GradGraph]:
    def change(graph: GradGraph) -> GradGraph:
        *others, dx = graph.nodes
        array = np.array([[4, 6, 8 * factor]], np.float32)
        output = Output((1, 3), "float32", summarise(array))
        return replace(graph, nodes=(*others, replace(dx, outputs=(output,))))

    return change


def test_of_a_second_alignment_with_the_same_framework_only_other_lines_are_written() -> None:
    (first,) = sample().alignments
    second = replace(first, right="torch-graph", pairs=(LEAVES, NEW_PAIR))
    graphs = (*sample().graphs, replace(sample().graphs[1], engine="torch-graph"))
    whole = replace(sample(), graphs=graphs, alignments=(first, second))
    _, section = corpus_files(whole)["alignments.txt"].split("\n\n")
    assert section.splitlines()[1:] == [
        " divergence other_value backward B.MulBackward and B.MulBackward = 4; 4",
        " value Mul@net.py:3<B.MulBackward> B.MulBackward",
        " 2 lines as in mindspore-graph and torch-tape",
    ]


def test_nothing_differs_from_what_was_just_written(recorded: Report) -> None:
    assert folder.differences(recorded) == ""


def test_another_op_shows_where_it_is_and_where_it_is_read(recorded: Report) -> None:
    def with_op(graph: GradGraph) -> GradGraph:
        leaf, product, *others = graph.nodes
        return replace(graph, nodes=(leaf, replace(product, op="Div"), *others))

    diff = changed(folder.differences(with_graph(recorded, with_op)))
    assert "- Mul@net.py:3(input:x) in fc f32[1,3] = 4 6 8" in diff
    assert "+ Div@net.py:3(input:x) in fc f32[1,3] = 4 6 8" in diff


def test_a_value_changed_in_its_second_digit_shows(recorded: Report) -> None:
    diff = changed(folder.differences(with_graph(recorded, with_values(1.05))))
    assert diff == [
        "- output:dx(B.MulBackward) f32[1,3] = 4 6 8",
        "+ output:dx(B.MulBackward) f32[1,3] = 4 6 8.4",
    ]


def test_a_value_changed_in_its_last_digits_does_not_show(recorded: Report) -> None:
    for factor in (1 + 1e-6, 1 - 1e-6, 1 + 6e-4):
        moved = with_graph(recorded, with_values(factor))
        assert folder.differences(moved) == ""
        folder.write(moved)
    assert " 8\n" in (folder.folder_of("dense_mse") / "mindspore.txt").read_text()


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"pairs": (LEAVES,)}, "- value 1 of the same label"),
        ({"pairs": (LEAVES, NEW_PAIR)}, "+ value Mul@net.py:3<B.MulBackward> B.MulBackward"),
        (
            {"pairs": (LEAVES, replace(PAIR, how="value+order"))},
            "+ value+order 1 of the same label",
        ),
        (
            {"unpaired": (replace(LEFT_OVER, reason="fused"),)},
            "+ unpaired right B.MulBackward fused",
        ),
        (
            {"seen": (Seen(ON_THE_RIGHT),)},
            "+ divergence extra_ops backward nothing and B.MulBackward = absent; 4",
        ),
    ],
)
def test_another_pair_reason_or_divergence_shows(
    recorded: Report, fields: dict[str, object], line: str
) -> None:
    (aligned,) = recorded.alignments
    other = replace(recorded, alignments=(replace(aligned, **fields),))
    assert line in changed(folder.differences(other))


def test_another_verdict_shows(recorded: Report) -> None:
    first, *others = recorded.cases
    moved = replace(recorded, cases=(replace(first, verdict="close"), *others))
    removed, added = changed(folder.differences(moved))
    assert added == removed.replace("-", "+", 1).replace(first.verdict, "close")


def test_cases_that_were_left_out_are_not_compared(recorded: Report) -> None:
    assert folder.differences(replace(recorded, cases=recorded.cases[1:])) == ""


def test_a_graph_that_is_gone_shows(recorded: Report) -> None:
    moved = replace(recorded, graphs=recorded.graphs[:1], alignments=())
    diff = folder.differences(moved)
    assert "recorded/dense_mse/torch.txt" in diff
    assert "- Mul@net.py:3(input:x) in fc f32[1,3] = 4 6 8" in changed(diff)


def test_files_and_folders_that_nothing_belongs_to_any_more_are_removed(recorded: Report) -> None:
    folder.write(replace(recorded, graphs=recorded.graphs[:1], alignments=()))
    assert not (folder.folder_of("dense_mse") / "torch.txt").exists()
    folder.remove_others(set())
    assert list(folder.FOLDER.iterdir()) == []


def test_other_versions_are_named(recorded: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "VERSIONS", folder.FOLDER / "versions.txt")
    assert "unknown" in folder.other_versions()
    folder.write_versions()
    assert folder.other_versions() == ""
    here = folder.versions_here()
    monkeypatch.setattr(folder, "versions_here", lambda: {**here, "python": "3.99"})
    assert folder.other_versions().endswith("installed: python 3.99")
