"""What must not change what is found between two captured graphs: their order, names, dead code."""

from collections import defaultdict
from collections.abc import Callable
from functools import cache
from itertools import combinations
from random import Random

import msgspec
import pytest

from explorer.compare.align import align
from explorer.model.alignment import Alignment
from explorer.model.graph import Edge, GradGraph, Node
from explorer.words.readings import reading
from tests.support.alignments import assert_mirrored, sources
from tests.support.captured_graphs import (
    ATTENTION_MISTAKES,
    SHIPPED,
    WITH_MISTAKES,
    captured_graphs,
)
from tests.support.samples import some

pytestmark = pytest.mark.slow

NAMES = (*SHIPPED, *WITH_MISTAKES, *ATTENTION_MISTAKES)
SAMPLE = some(NAMES, "kinks", "own_mask", "three_kinks", "residual_detached")

Pair = tuple[GradGraph, GradGraph]


def pairs_of(name: str) -> list[Pair]:
    return list(combinations(captured_graphs()[name], 2))


@cache
def alignments_of(name: str) -> list[Alignment]:
    """The alignments of the graphs as they were captured."""
    return [align(left, right) for left, right in pairs_of(name)]


def found(alignment: Alignment) -> list[tuple[object, ...]]:
    """The divergences by kind, phase, lines and values, the first one first."""
    facts: list[tuple[object, ...]] = []
    for divergence in alignment.divergences:
        values = [reading(end.value) for end in divergence.ends]
        facts.append((type(divergence), divergence.phase, sources(divergence), *values))
    return facts


def test_the_captured_graphs_are_those_of_the_nets() -> None:
    assert sorted(captured_graphs()) == sorted(NAMES)


@pytest.mark.parametrize("name", SAMPLE)
def test_an_alignment_of_one_graph_with_another_is_that_of_the_other_with_the_one(
    name: str,
) -> None:
    for (left, right), there in zip(pairs_of(name), alignments_of(name), strict=True):
        assert_mirrored(there, align(right, left))


@pytest.mark.parametrize("name", some(SHIPPED, "stop_gradient", "tied_weights"))
def test_engines_of_one_framework_and_right_ports_have_no_divergence(name: str) -> None:
    if name in ("aliased_input", "kinks", "physics_informed"):
        pytest.skip("its engines differ")
    assert [it.divergences for it in alignments_of(name) if it.divergences] == []


def renamed(graph: GradGraph) -> GradGraph:
    """A graph whose inputs and parameters, and their gradients, have other names."""
    nodes = []
    for node in graph.nodes:
        name = node.name
        if node.kind in ("input", "parameter"):
            name = f"zone.{name}"
        elif node.kind == "output" and node.phase == "backward":
            name = f"dzone.{name.removeprefix('d')}"
        nodes.append(msgspec.structs.replace(node, name=name))
    return msgspec.structs.replace(graph, nodes=tuple(nodes))


def with_dead_code(graph: GradGraph) -> GradGraph:
    """A graph with every op of its forward once more, and one on top, which nothing reads."""
    nodes, edges = list(graph.nodes), list(graph.edges)
    read: dict[str, list[Edge]] = defaultdict(list)
    for edge in graph.edges:
        read[edge.target].append(edge)
    last = max(node.order for node in nodes if node.phase == "forward")
    for node in graph.nodes:
        if node.kind != "op" or node.phase != "forward":
            continue
        twin, user = f"{node.id}twin", f"{node.id}user"
        again = {"scope": "", "source": ("dead.py:1",), "order": last}
        nodes.append(msgspec.structs.replace(node, id=twin, **again))
        nodes.append(msgspec.structs.replace(node, id=user, op="Metric", **again))
        edges += [msgspec.structs.replace(edge, target=twin) for edge in read[node.id]]
        edges.append(Edge(origin=twin, target=user))
    return msgspec.structs.replace(graph, nodes=tuple(nodes), edges=tuple(edges))


def reordered(graph: GradGraph, seed: int) -> GradGraph:
    """A graph whose independent ops ran in another order; forward stays before backward."""
    random = Random(seed)
    users: dict[str, list[str]] = defaultdict(list)
    waiting = {node.id: 0 for node in graph.nodes}
    for edge in graph.edges:
        users[edge.origin].append(edge.target)
        waiting[edge.target] += 1
    by_id = graph.by_id()
    ready = [identity for identity, number in waiting.items() if not number]
    order: dict[str, int] = {}
    while ready:
        in_forward = [it for it in ready if by_id[it].phase == "forward"]
        chosen = random.choice(in_forward or ready)
        ready.remove(chosen)
        order[chosen] = len(order)
        for user in users[chosen]:
            waiting[user] -= 1
            if not waiting[user]:
                ready.append(user)
    nodes = [_placed(node, order) for node in graph.nodes]
    return msgspec.structs.replace(graph, nodes=tuple(nodes))


def _placed(node: Node, order: dict[str, int]) -> Node:
    return msgspec.structs.replace(node, order=order[node.id])


Change = Callable[[GradGraph], GradGraph]


@pytest.mark.parametrize("name", SAMPLE)
def test_other_names_of_parameters_change_nothing(name: str) -> None:
    for (left, right), plain in zip(pairs_of(name), alignments_of(name), strict=True):
        other = align(renamed(left), renamed(right))
        assert found(other) == found(plain)
        assert other.pairs == plain.pairs


@pytest.mark.parametrize("name", SAMPLE)
def test_dead_code_on_one_side_changes_no_divergence(name: str) -> None:
    for (left, right), plain in zip(pairs_of(name), alignments_of(name), strict=True):
        for one, other in ((with_dead_code(left), right), (left, with_dead_code(right))):
            alignment = align(one, other)
            assert found(alignment) == found(plain)
            assert alignment.differing == plain.differing


# Queries, keys and values all read what norm_after moves: the first of the three to run is named.
@pytest.mark.parametrize("name", [it for it in SAMPLE if it.values[0] != "norm_after"])
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.whole)])
def test_another_order_of_independent_ops_changes_no_divergence(name: str, seed: int) -> None:
    for (left, right), plain in zip(pairs_of(name), alignments_of(name), strict=True):
        other = align(reordered(left, seed), reordered(right, seed + 7))
        # Which of several independent ones runs first is a matter of the order.
        assert set(found(other)) == set(found(plain))
        assert sorted(other.differing) == sorted(plain.differing)


@pytest.mark.parametrize("change", [with_dead_code, lambda graph: reordered(graph, 3)])
@pytest.mark.parametrize("name", SAMPLE)
def test_a_graph_changed_so_has_no_divergence_from_itself(name: str, change: Change) -> None:
    for graph in captured_graphs()[name]:
        assert align(graph, change(graph)).divergences == ()
