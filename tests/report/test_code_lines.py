"""Lines of a scenario's nets: the nodes that each made, and the other net's lines of the same quantity."""

from pathlib import Path

import msgspec
import pytest

from explorer.compare.align import align
from explorer.model.alignment import Seen
from explorer.model.graph import GradGraph
from explorer.report.scenario.code_lines import CodeLine, both_nets, lines_by_node
from tests.support.explained import CAUSE, explained
from tests.support.sample_report import DIVERGENCE, ON_THE_LEFT, graph

NET = """import numpy as np

def mindspore_net():
    return helper

def unused():
    return 1

def torch_net():
    return helper
"""
HELPER = "def block(x):\n    return x * x\n\ndef other(x):\n    return x\n"


def sourced(engine: str, sources: dict[str, tuple[str, ...]]) -> GradGraph:
    """The graph of four nodes with these sources, by the nodes' ids."""
    plain = graph(engine)
    nodes = [msgspec.structs.replace(node, source=sources.get(node.id, ())) for node in plain.nodes]
    return msgspec.structs.replace(plain, nodes=tuple(nodes))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "helper.py").write_text(HELPER)
    (tmp_path / "net.py").write_text(NET)
    return tmp_path / "net.py"


LEFT = sourced("torch-tape", {"n1": ("torch/nn/f.py:9", "net.py:10"), "n2": ("net.py:10",)})
RIGHT = sourced("mindspore-graph", {"n1": ("helper.py:2", "net.py:4"), "n2": ("net.py:4",)})


def by_place(blocks: tuple[object, ...]) -> dict[str, CodeLine]:
    return {line.place: line for block in blocks for line in block.lines}  # type: ignore[attr-defined]


def test_the_user_s_line_is_the_first_that_is_no_framework_s() -> None:
    assert lines_by_node(LEFT) == {"n1": ("net.py", 10), "n2": ("net.py", 10)}
    assert lines_by_node(RIGHT) == {"n1": ("helper.py", 2), "n2": ("net.py", 4)}
    assert lines_by_node(sourced("torch-tape", {"n1": ("<string>:x",)})) == {}


def test_each_line_has_its_nodes_and_its_partners(file: Path) -> None:
    left, right = (by_place(blocks) for blocks in both_nets(LEFT, RIGHT, align(LEFT, RIGHT), file))
    assert list(left) == ["net.py:9", "net.py:10"]
    assert [node.id for node in left["net.py:10"].nodes] == ["n1", "n2"]
    assert [node.phase for node in left["net.py:10"].nodes] == ["forward", "backward"]
    assert set(left["net.py:10"].partners) == {"helper.py:2", "net.py:4"}
    assert list(right) == ["net.py:3", "net.py:4", "helper.py:1", "helper.py:2"]
    assert right["helper.py:2"].partners == ("net.py:10",)
    assert right["helper.py:2"].text == "    return x * x"
    assert not any(line.differs for line in (*left.values(), *right.values()))


def test_of_the_other_side_s_lines_that_with_most_pairs_comes_first(file: Path) -> None:
    left = sourced("torch-tape", dict.fromkeys(("n0", "n1", "n2"), ("net.py:10",)))
    few, many = ("helper.py:2",), ("net.py:4",)
    right = sourced("mindspore-graph", {"n0": few, "n1": many, "n2": many})
    (blocks, _) = both_nets(left, right, align(left, right), file)
    assert by_place(blocks)["net.py:10"].partners == ("net.py:4", "helper.py:2")


def test_a_divergent_line_is_marked_on_its_side(file: Path) -> None:
    alignment = msgspec.structs.replace(align(LEFT, RIGHT), seen=(Seen(ON_THE_LEFT),))
    left, right = (by_place(blocks) for blocks in both_nets(LEFT, RIGHT, alignment, file))
    assert left["net.py:10"].differs
    assert [node.differs for node in left["net.py:10"].nodes] == [False, True]
    assert not any(line.differs for line in right.values())


def test_a_line_where_the_graphs_part_has_the_cause_and_what_to_write_in_its_own_net(
    file: Path,
) -> None:
    alignment = explained(msgspec.structs.replace(align(LEFT, RIGHT), seen=(Seen(DIVERGENCE),)))
    left, right = (by_place(blocks) for blocks in both_nets(LEFT, RIGHT, alignment, file))
    (ours,), (theirs,) = left["net.py:10"].causes, right["net.py:4"].causes
    assert ours.why == theirs.why == "Why: eps=0.01 in the place of eps=1e-05 (torch-tape)"
    assert (ours.code, theirs.code) == ("nn.BatchNorm2d(eps=0.01)", "nn.BatchNorm2d(eps=1e-05)")
    assert not any(line.causes for line in left.values() if line.number != 10)


def test_a_line_that_is_seen_as_if_mended_is_marked_and_says_so(file: Path) -> None:
    behind = Seen(DIVERGENCE, CAUSE, run=1, values=1)
    alignment = msgspec.structs.replace(align(LEFT, RIGHT), seen=(behind,))
    left, right = (by_place(blocks) for blocks in both_nets(LEFT, RIGHT, alignment, file))
    for line in (left["net.py:10"], right["net.py:4"]):
        assert line.differs
        (cause,) = line.causes
        assert cause.why.startswith("Why, as if those before were mended: eps=0.01 ")
    assert left["net.py:10"].causes[0].code == "nn.BatchNorm2d(eps=0.01)"


def test_no_file_outside_the_folder_is_read(file: Path) -> None:
    secret = file.parent.parent / "secret.py"
    secret.write_text("def key():\n    return 1\n")
    hostile = sourced("torch-tape", {"n1": ("../secret.py:1",), "n2": ("passwd:1",)})
    (blocks, _) = both_nets(hostile, RIGHT, None, file)
    assert {block.file for block in blocks} == {"net.py"}
