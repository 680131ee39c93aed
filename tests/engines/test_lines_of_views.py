"""On MindSpore's tape a view is on the line, and in the module, where it was taken."""

import pytest

from explorer.model.cases import GradCase
from explorer.model.graph import GradGraph
from tests.support.engine_requests import EngineRequests
from tests.support.nets import net_file

pytestmark = pytest.mark.mindspore

COPY = "Contiguous"
"""What reads a view copies it first, on the line of the view."""

MARK = "# a view"


def tape(mindspore: EngineRequests, name: str) -> GradGraph:
    captured = mindspore.capture(name, "mindspore-tape", GradCase("grad", 0))
    assert captured.result.outcome == "ok", captured.result.error
    (graph,) = captured.graphs
    return graph


def marked_lines(name: str) -> set[str]:
    lines = net_file(name).read_text(encoding="utf-8").splitlines()
    return {f"{name}.py:{number}" for number, line in enumerate(lines, 1) if MARK in line}


@pytest.mark.parametrize("name", ["ms_views_on_lines", "ms_views_in_cells"])
def test_a_copy_of_a_view_is_on_the_line_of_the_view(mindspore: EngineRequests, name: str) -> None:
    copies = [node for node in tape(mindspore, name).nodes if node.op == COPY]
    assert {node.source[0] for node in copies} == marked_lines(name)
    assert [node.missing for node in copies if "source" in node.missing] == []


def test_operators_inside_of_indexing_are_on_its_line(mindspore: EngineRequests) -> None:
    name = "ms_views_on_lines"
    nodes = [node for node in tape(mindspore, name).nodes if node.op == "ExpandDims"]
    code = net_file(name).read_text(encoding="utf-8").splitlines()
    lines = marked_lines(name)
    expected = [line for line in lines if "h[None]" in code[int(line.partition(":")[2]) - 1]]
    assert [node.source[:1] for node in nodes if node.phase == "forward"] == [tuple(expected)]


def test_a_view_is_in_the_module_that_takes_it(mindspore: EngineRequests) -> None:
    nodes = tape(mindspore, "ms_views_in_cells").nodes
    forward = [(node.op, node.scope) for node in nodes if node.phase == "forward" and node.source]
    assert forward == [("Tanh", "body"), (COPY, "last"), ("Sin", "head"), ("SumExt", "head")]
