"""Each node lies in the code of the module that it is said to be in."""

from pathlib import Path

import msgspec
import pytest

from explorer.model.graph import GradGraph
from tests.support.handmade_graph import HandmadeGraph
from tests.support.net_classes import lines_of_other_classes
from tests.support.tables import rows

NET = """def torch_net():
    from torch import nn

    def doubled(x):
        return x + x

    class Block(nn.Module):
        def __init__(self, width):
            self.fc = nn.Linear(width, width)

        def forward(self, x):
            return doubled(self.fc(x))

    class Net(nn.Module):
        def __init__(self):
            self.first = Block(2)
            self.rest = nn.Sequential(nn.ReLU(), Block(2), Block(3))
            self.many = nn.ModuleList([Block(width) for width in (2, 3)])

        def forward(self, x):
            return self.rest(self.first(x))

    return Net()
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "net.py").write_text(NET)
    return tmp_path / "net.py"


def at(line: int, scope: str) -> GradGraph:
    """The graph of one operator in a module, at a line."""
    g = HandmadeGraph()
    g.add("mul", scope=scope)
    graph = g.record()
    nodes = tuple(msgspec.structs.replace(node, source=(f"net.py:{line}",)) for node in graph.nodes)
    return msgspec.structs.replace(graph, nodes=nodes)


@pytest.mark.parametrize(
    ("line", "scope", "is_there"), rows(__file__, "test_a_line_of_another_class_is_seen")
)
def test_a_line_of_another_class_is_seen(file: Path, line: int, scope: str, is_there: bool) -> None:
    assert (list(lines_of_other_classes(at(line, scope), file)) == []) == is_there
