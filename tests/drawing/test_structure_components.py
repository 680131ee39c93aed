"""Strongly connected components, against networkx, which every installation of PyTorch has."""

import networkx
from hypothesis import given
from hypothesis import strategies as st

from explorer.drawing.structure import components

VERTICES = st.integers(0, 12)


@given(st.lists(st.tuples(VERTICES, VERTICES), max_size=40))
def test_components_are_those_of_networkx(links: list[tuple[int, int]]) -> None:
    graph = networkx.DiGraph(links)
    found = components(list(graph.nodes), links)
    expected = {frozenset(nodes) for nodes in networkx.strongly_connected_components(graph)}
    assert len(found) == len(expected)
    assert {frozenset(nodes) for nodes in found} == expected


def test_a_chain_that_closes_after_ten_thousand_nodes_is_one_component() -> None:
    links = [(number, (number + 1) % 10_000) for number in range(10_000)]
    (whole,) = components(range(10_000), links)
    assert len(whole) == 10_000
