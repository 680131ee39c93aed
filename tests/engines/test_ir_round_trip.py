"""Any IR text: what is printed is read back."""

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

from explorer.engines.mindspore.ir import Module, parse
from explorer.engines.mindspore.ir.records import IRNode, Subgraph
from tests.support.ir_modules import modules
from tests.support.ir_printer import module_text

SLOW_TO_DRAW = [HealthCheck.too_slow, HealthCheck.data_too_large]


def without_lines(module: Module) -> Module:
    """A module without line numbers."""
    subgraphs = tuple(map(_graph_without_lines, module.subgraphs))
    return msgspec.structs.replace(module, subgraphs=subgraphs)


def _graph_without_lines(graph: Subgraph) -> Subgraph:
    nodes = tuple(map(_node_without_line, graph.nodes))
    returned = _node_without_line(graph.returned) if graph.returned else None
    return msgspec.structs.replace(graph, line=0, nodes=nodes, returned=returned)


def _node_without_line(node: IRNode) -> IRNode:
    return msgspec.structs.replace(node, line=0)


@pytest.mark.slow
@settings(max_examples=25, suppress_health_check=SLOW_TO_DRAW)
@given(modules())
def test_what_is_printed_is_read_back_unchanged(module: Module) -> None:
    assert without_lines(parse(module_text(module), "f.ir")) == module
