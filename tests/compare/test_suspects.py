"""Suspects: which of them one expression of the source made."""

import numpy as np

from explorer.compare.align.suspects import Suspects
from explorer.compare.align.vertices import view
from tests.support.computed_graphs import ComputedGraph

LINE = ("net.py:1",)


def stretches(source: tuple[str, ...], scope: str) -> dict[str, list[str]]:
    """The ops of the stretch from each node of sin(exp w), all of one line and module."""
    graph = ComputedGraph("a")
    leaf = graph.hold("w", np.ones(2), kind="parameter", name="w", source=source, scope=scope)
    inner = graph.hold("Exp", np.exp(1), inputs=(leaf,), source=source, scope=scope)
    graph.hold("Sin", np.sin(np.exp(1)), inputs=(inner,), source=source, scope=scope)
    record = graph.record()
    nodes = view(record, record)[0].nodes
    suspects = Suspects(nodes, nodes[:1])
    return {node.op: [step.op for step in suspects.stretch(node)] for node in nodes}


def test_ops_of_one_line_are_a_stretch_and_a_leaf_is_none_of_them() -> None:
    assert stretches(LINE, "net") == {"w": ["w"], "Exp": ["Exp", "Sin"], "Sin": ["Sin"]}
    assert stretches((), "net") == {"w": ["w"], "Exp": ["Exp", "Sin"], "Sin": ["Sin"]}


def test_ops_that_stand_on_no_known_line_are_one_each() -> None:
    assert stretches((), "") == {"w": ["w"], "Exp": ["Exp"], "Sin": ["Sin"]}
