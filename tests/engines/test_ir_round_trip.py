"""Any IR text: what is printed is read back, and damage is refused where it stands."""

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from explorer.engines.mindspore.ir import IRSyntaxError, Module, parse
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


def refusal(text: str) -> IRSyntaxError | None:
    """The error with which a text is refused; None where it can be read."""
    try:
        parse(text, "f.ir")
    except IRSyntaxError as error:
        return error
    return None


@pytest.mark.slow
@settings(max_examples=25, suppress_health_check=SLOW_TO_DRAW)
@given(modules())
def test_what_is_printed_is_read_back_unchanged(module: Module) -> None:
    assert without_lines(parse(module_text(module), "f.ir")) == module


@pytest.mark.slow
@settings(max_examples=25, suppress_health_check=SLOW_TO_DRAW)
@given(modules(), st.data())
def test_any_damage_is_refused_or_harmless_but_never_another_error(
    module: Module, data: st.DataObject
) -> None:
    text = module_text(module)
    at, count = data.draw(st.integers(0, len(text))), data.draw(st.integers(0, 5))
    inserted = data.draw(st.text('()[]{}<>,:"%#@$ \nab1', max_size=3))
    damaged = text[:at] + inserted + text[at + count :]
    error = refusal(damaged)
    if error is not None:
        lines = damaged.split("\n")
        assert 1 <= error.line <= len(lines)
        assert 1 <= error.column <= len(lines[error.line - 1]) + 1
