"""Every format is what it says, the same bytes for the same graph, and refuses what it cannot show."""

import subprocess
import sys
from typing import Any

import msgspec
import pytest

from explorer.drawing import draw
from explorer.model.errors import UsageError
from explorer.model.graph import GradGraph
from tests.support import drawing_graphs


@pytest.mark.slow
def test_every_format_is_what_it_says() -> None:
    graph = drawing_graphs.dense_mse()
    assert draw(graph, format="png").startswith(b"\x89PNG\r\n")
    assert draw(graph, format="mermaid").startswith(b"flowchart TB\n")
    assert draw(graph, format="dot").startswith(b"digraph")
    assert msgspec.json.decode(draw(graph, format="json"), type=GradGraph) == graph


PROGRAM = """
import sys
from explorer.drawing import FORMATS, draw
from tests.support.drawing_graphs import branches, convolution, decided

for graph in (convolution(), decided()):
    for depth in ("all", 1):
        for format in ("svg", "dot", "mermaid"):
            sys.stdout.buffer.write(draw(graph, format=format, depth=depth))
for format in FORMATS:
    sys.stdout.buffer.write(draw(branches(), format=format))
sys.stdout.buffer.write(draw(branches(), format="svg", view="flow"))
"""


@pytest.mark.slow
def test_the_same_graph_gives_the_same_bytes_whatever_the_order_of_sets() -> None:
    outputs = set()
    for seed in ("1", "2"):
        command = [sys.executable, "-c", PROGRAM]
        environment = {"PYTHONHASHSEED": seed}
        child = subprocess.run(command, env=environment, capture_output=True, check=True)
        outputs.add(child.stdout)
    assert len(outputs) == 1


def test_dot_can_be_read_by_graphviz() -> None:
    pygraphviz = pytest.importorskip("pygraphviz")
    graph = drawing_graphs.convolution()
    read_back = pygraphviz.AGraph(string=draw(graph, format="dot").decode())
    assert set(read_back.nodes()) == {node.id for node in graph.nodes}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "allowed"),
    [
        ({"format": "pdf"}, "svg, png, dot, mermaid, json"),
        ({"format": "svg", "view": "tree"}, "ladder, flow"),
        ({"format": "svg", "prefix": '"><'}, "prefix"),
        ({"format": "mermaid"}, "at most 60"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_what_can(options: Any, allowed: str) -> None:
    with pytest.raises(UsageError, match=allowed):
        draw(drawing_graphs.chain(100), **options)
