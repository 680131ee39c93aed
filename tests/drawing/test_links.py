"""Walking the links of a graph in order, on cycles and on long chains; what is strongly connected."""

from itertools import pairwise

import networkx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.drawing.structure import Link, components, in_order, layers, neighbours

NODES = [f"n{index}" for index in range(8)]

LINKS = st.lists(st.tuples(st.sampled_from(NODES), st.sampled_from(NODES)), max_size=20)
DOWNWARD_LINKS = LINKS.map(lambda links: [link for link in links if link[0] < link[1]])


def test_neighbours_are_listed_once_for_each_link() -> None:
    before, after = neighbours([("a", "c"), ("b", "c"), ("a", "c")])
    assert before["c"] == ["a", "b", "a"]
    assert after["a"] == ["c", "c"]
    assert before["a"] == []


@settings(max_examples=50)
@given(links=DOWNWARD_LINKS)
def test_all_links_into_a_node_precede_all_links_out_of_it(links: list[Link]) -> None:
    left: set[str] = set()
    walked = list(in_order(NODES, links))
    for origin, target in walked:
        assert target not in left
        left.add(origin)
    assert sorted(walked) == sorted(links)


@settings(max_examples=50)
@given(links=LINKS)
def test_no_link_is_walked_twice_even_on_cycles(links: list[Link]) -> None:
    for link in in_order(NODES, links):
        links.remove(link)


def test_a_layer_is_the_longest_path_to_a_node() -> None:
    links = [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")]
    assert layers("abcde", links) == {"a": 0, "b": 1, "c": 2, "d": 3, "e": 0}


def test_a_node_on_a_cycle_is_left_where_the_links_before_it_put_it() -> None:
    links = [("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")]
    assert layers("abcd", links) == {"a": 0, "b": 1, "c": 0, "d": 0}


def test_a_chain_of_ten_thousand_nodes_needs_no_recursion() -> None:
    chain = [f"n{index}" for index in range(10_000)]
    assert layers(chain, list(pairwise(chain)))["n9999"] == 9999


VERTICES = st.integers(0, 12)


@settings(max_examples=50)
@given(st.lists(st.tuples(VERTICES, VERTICES), max_size=40))
def test_components_are_those_of_networkx(links: list[tuple[int, int]]) -> None:
    graph = networkx.DiGraph(links)
    found = components(list(graph.nodes), links)
    expected = {frozenset(nodes) for nodes in networkx.strongly_connected_components(graph)}
    assert len(found) == len(expected)
    assert {frozenset(nodes) for nodes in found} == expected


@pytest.mark.slow
def test_a_chain_that_closes_after_ten_thousand_nodes_is_one_component() -> None:
    links = [(number, (number + 1) % 10_000) for number in range(10_000)]
    (whole,) = components(range(10_000), links)
    assert len(whole) == 10_000
