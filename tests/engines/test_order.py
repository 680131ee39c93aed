"""Another order of execution that a gradient graph allows."""

import pytest

from explorer.engines.capture.builder import GraphBuilder
from explorer.engines.capture.lint import latest_first
from explorer.model.graph import GradGraph


def graph(nodes: int, edges: list[tuple[int, int]], controls: list[tuple[int, int]]) -> GradGraph:
    builder = GraphBuilder()
    for _ in range(nodes):
        builder.add("op", "op", "forward")
    for origin, target in edges:
        builder.connect((origin, 0), target, 0)
    for before, after in controls:
        builder.control(before, after)
    return builder.record("torch-tape", "a case", "tape")


def test_the_latest_node_that_is_ready_comes_first() -> None:
    assert list(latest_first(graph(4, [], []))) == [3, 2, 1, 0]
    assert list(latest_first(graph(5, [(0, 3), (1, 2)], []))) == [4, 1, 2, 0, 3]


def test_a_node_waits_for_all_that_it_reads_and_for_what_must_run_before() -> None:
    assert list(latest_first(graph(4, [(0, 3), (1, 3)], [(0, 2)]))) == [1, 0, 3, 2]


def test_a_cycle_and_what_is_behind_it_are_left_out() -> None:
    assert list(latest_first(graph(4, [(1, 2), (2, 1), (2, 3)], []))) == [0]


@pytest.mark.slow
def test_a_chain_of_any_length_is_walked() -> None:
    chain = graph(10_000, [(number, number + 1) for number in range(9_999)], [])
    assert list(latest_first(chain)) == list(range(10_000))
