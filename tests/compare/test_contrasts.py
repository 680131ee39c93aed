"""How two values that should have been equal are read."""

import numpy as np
import pytest

from explorer.compare.align.contrasts import Contrast, contrast, place, reading
from explorer.compare.align.vertices import OutputValue, Vertex, view
from explorer.model.arrays import AnyArray
from explorer.model.divergence import Gap, mirrored
from explorer.words import readings as words
from tests.support.computed_graphs import ComputedGraph

SQUARE = np.array([[1.0, 2.0], [4.0, 7.0]])
LARGE = np.random.default_rng(0).standard_normal((40, 40))


def read(found: Contrast) -> tuple[str, str]:
    one, other = found.values
    return words.reading(one), words.reading(other)


def in_words(found: Contrast) -> str:
    return words.contrast(found.values, found.gap)


def named(node: Vertex) -> str:
    return words.place(place(node))


def values(*arrays: AnyArray, observed: bool = True) -> list[OutputValue]:
    graph = ComputedGraph("a")
    for array in arrays:
        graph.hold("Exp", array, observed=observed)
    record = graph.record()
    return [node.value for node in view(record, record)[0].nodes]


def test_two_values_are_read_at_their_greatest_difference() -> None:
    value, other = values(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.5, 3.1]))
    found = contrast(value, other)
    assert read(found) == ("2", "2.5")
    assert found.gap.greatest == pytest.approx(0.5)
    assert in_words(found) == "2 against 2.5 (greatest difference 0.5)"


@pytest.mark.parametrize(
    ("array", "other", "note"),
    [
        (SQUARE, SQUARE.T, "the same numbers, transposed"),
        (SQUARE, SQUARE[::-1], "the same numbers in another order"),
        (SQUARE, SQUARE[::-1] * (1 + 1e-6), "the same numbers in another order"),
        # tanh of 4, 5 and 6, and as MindSpore approximates it: close in ascending order.
        (np.array([0.9993293, 0.9999092, 0.9999877]), np.array([0.9993442, 1.0000098, 1.0]), ""),
        (SQUARE, -SQUARE, "opposite in sign"),
        (3 * SQUARE, SQUARE, "the first is 3 times the second"),
        (SQUARE, 12 * SQUARE, "the second is 12 times the first"),
        (SQUARE, SQUARE * 1.0005, ""),
        (SQUARE, SQUARE + 1, ""),
        (np.array([0.0, 1.0]), np.array([1.0, 1.0]), ""),
        (np.array([1.0, 1.0]), np.array([0.0, 1.0]), ""),
        (np.array([4.0]), np.array([2.0]), "the first is 2 times the second"),
        (np.array([3.7]), np.array([2.0]), ""),
        (np.array([np.inf, 2.0]), np.array([np.inf, 4.0]), ""),
    ],
)
def test_a_note_says_what_a_difference_looks_like(
    array: AnyArray, other: AnyArray, note: str
) -> None:
    found = contrast(*values(array, other)).gap.likeness
    assert (words.likeness(found) if found else "") == note


def test_values_of_other_sizes_are_read_by_their_shapes() -> None:
    found = contrast(*values(np.ones((2, 3)), np.ones(5)))
    assert read(found) == ("shape [2, 3]", "shape [5]")
    assert found.gap.greatest is None


def test_large_values_are_read_at_an_order_statistic_and_may_differ_by_more() -> None:
    gap = contrast(*values(LARGE, LARGE + 1)).gap
    assert gap == Gap(gap.greatest, is_least=True)
    assert gap.greatest == pytest.approx(1)
    assert words.greatest_difference(gap) == "elements differ by 1 or more"
    unknown = contrast(*values(LARGE, LARGE[::-1])).gap
    assert (unknown, words.greatest_difference(unknown)) == (Gap(0.0, is_least=True), "")


def test_a_difference_that_is_no_number_has_no_size() -> None:
    found = contrast(*values(np.array([np.nan, 1.0]), np.array([0.0, 5.0])))
    assert read(found) == ("nan", "0")
    assert found.gap.greatest is None


def test_few_elements_are_read_one_by_one() -> None:
    few, many = values(SQUARE, LARGE)
    assert words.reading(reading(few)) == "[[1, 2], [4, 7]]"
    assert words.reading(reading(many)).startswith("shape [40, 40] with mean")
    assert words.reading(reading(*values(SQUARE, observed=False))) == "not recorded"


def test_a_complex_element_is_read_by_its_parts() -> None:
    (value,) = values(np.array([1 + 2j, 3.5 - 1j]))
    assert words.reading(reading(value)) == "[[1, 2], [3.5, -1]]"


@pytest.mark.parametrize(
    ("factor", "note"), [(3, "the first is 3 times"), (0.25, "the second is 4 times")]
)
def test_a_factor_is_seen_from_either_side(factor: float, note: str) -> None:
    gap = contrast(*values(factor * SQUARE, SQUARE)).gap
    back = mirrored(gap)
    assert gap.likeness
    assert back.likeness
    assert words.likeness(gap.likeness).startswith(note)
    assert words.likeness(back.likeness, is_reversed=True).startswith(note)
    assert words.likeness(back.likeness) == words.likeness(gap.likeness, is_reversed=True)


@pytest.mark.parametrize(
    ("scope", "source", "text"),
    [
        ("", (), "`Exp`"),
        ("fc", (), "`Exp` (fc)"),
        ("fc", ("net.py:3", "lib.py:9"), "`Exp` (fc, net.py:3)"),
    ],
)
def test_a_node_is_called_by_its_op_and_where_it_stands(
    scope: str, source: tuple[str, ...], text: str
) -> None:
    graph = ComputedGraph("a")
    graph.hold("Exp", SQUARE, scope=scope, source=source)
    record = graph.record()
    assert named(view(record, record)[0].nodes[0]) == text


def test_of_a_module_that_is_called_from_several_lines_the_calling_line_is_told() -> None:
    graph = ComputedGraph("a")
    x = graph.leaf("x", np.ones(3), "input")
    for line in (7, 8):
        sources = ("net.py:3", f"net.py:{line}", "nn/layer.py:40")
        graph.hold("Exp", np.ones(3), inputs=(x,), scope="d", source=sources)
    graph.hold("Tanh", np.ones(3), inputs=(x,), scope="e", source=("net.py:4", "net.py:7"))
    side, _ = view(graph.record(), ComputedGraph("b").record())
    assert [named(node) for node in side.work] == [
        "`Exp` (d, net.py:3, called at net.py:7)",
        "`Exp` (d, net.py:3, called at net.py:8)",
        "`Tanh` (e, net.py:4)",
    ]
