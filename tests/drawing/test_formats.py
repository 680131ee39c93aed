"""Every format is what it says, the same bytes for the same graph, and refuses what it cannot show."""

import subprocess
import sys

import msgspec
import pytest

from explorer.drawing import FORMATS, draw
from explorer.drawing.formats import FormatName
from explorer.drawing.views import ViewName
from explorer.model.errors import UsageError
from explorer.model.graph import GradGraph
from tests.support import drawing_graphs

DRAWINGS: list[tuple[FormatName, ViewName]] = [
    *((name, "ladder") for name in FORMATS),
    ("svg", "flow"),
]


@pytest.mark.slow
def test_every_format_is_what_it_says() -> None:
    graph = drawing_graphs.dense_mse()
    assert draw(graph, format="png").startswith(b"\x89PNG\r\n")
    assert draw(graph, format="mermaid").startswith(b"flowchart TB\n")
    assert draw(graph, format="dot").startswith(b"digraph")
    assert msgspec.json.decode(draw(graph, format="json"), type=GradGraph) == graph


def test_every_format_has_an_ending() -> None:
    assert {name: file_format.ending for name, file_format in FORMATS.items()} == {
        "svg": ".svg",
        "png": ".png",
        "dot": ".dot",
        "mermaid": ".mmd",
        "json": ".json",
    }


@pytest.mark.slow
@pytest.mark.parametrize(("file_format", "view"), DRAWINGS)
def test_the_same_graph_gives_the_same_bytes(file_format: FormatName, view: ViewName) -> None:
    first = draw(drawing_graphs.branches(), format=file_format, view=view)
    second = draw(drawing_graphs.branches(), format=file_format, view=view)
    assert first == second


@pytest.mark.slow
def test_the_order_of_sets_does_not_reach_the_bytes() -> None:
    program = """
import sys
from explorer.drawing import draw
from tests.support.drawing_graphs import convolution, decided

for graph in (convolution(), decided()):
    for depth in ("all", 1):
        for format in ("svg", "dot", "mermaid"):
            sys.stdout.buffer.write(draw(graph, format=format, depth=depth))
"""
    outputs = set()
    for seed in ("1", "2"):
        command = [sys.executable, "-c", program]
        environment = {"PYTHONHASHSEED": seed}
        child = subprocess.run(command, env=environment, capture_output=True, check=True)
        outputs.add(child.stdout)
    assert len(outputs) == 1


def test_dot_can_be_read_by_graphviz() -> None:
    pygraphviz = pytest.importorskip("pygraphviz")
    graph = drawing_graphs.convolution()
    read_back = pygraphviz.AGraph(string=draw(graph, format="dot").decode())
    assert set(read_back.nodes()) == {node.id for node in graph.nodes}


def test_mermaid_refuses_what_nobody_could_read() -> None:
    with pytest.raises(UsageError, match="at most 60"):
        draw(drawing_graphs.chain(100), format="mermaid")


def test_an_unknown_format_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError, match="svg, png, dot, mermaid, json"):
        draw(drawing_graphs.tiny(), format="pdf")  # type: ignore[arg-type]  # the mistake under test


def test_an_unknown_view_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError, match="ladder, flow"):
        draw(drawing_graphs.tiny(), format="svg", view="tree")  # type: ignore[arg-type]  # likewise
