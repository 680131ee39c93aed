"""Where each tolerance ends: figures just inside and just outside, worked out by hand."""

import re
from collections.abc import Callable

import numpy as np
import pytest

from explorer.compare.align import align
from explorer.compare.align.sameness import fingerprint
from explorer.compare.align.vertices import OutputValue, view
from explorer.compare.graphs.sameness import (
    CENTRAL,
    CLEAR,
    COARSE,
    EXACT,
    MINDSPORE_TABLE,
    NEAR,
    TORCH_TABLE,
    UNMEASURED,
    level,
    ratios,
    scale,
    within,
)
from explorer.compare.results.comparison import compare
from explorer.model.arrays import AnyArray
from tests.support.command_line import ROOT
from tests.support.computed_graphs import ComputedGraph
from tests.support.results import answer

# The frameworks' own tables: that of torch.testing.assert_close as its page has it (2.13), and
# MindSpore's. They are typed again here: a figure that slips in one place is noticed by the other.

DOCUMENTED = [
    (TORCH_TABLE, "float64", 1e-7, 1e-7),
    (TORCH_TABLE, "float32", 1.3e-6, 1e-5),
    (TORCH_TABLE, "float16", 1e-3, 1e-5),
    (TORCH_TABLE, "bfloat16", 1.6e-2, 1e-5),
    (MINDSPORE_TABLE, "float64", 1e-5, 1e-5),
    (MINDSPORE_TABLE, "float32", 1e-4, 1e-4),
    (MINDSPORE_TABLE, "float16", 1e-3, 1e-3),
    (MINDSPORE_TABLE, "bfloat16", 1.6e-2, 4e-3),
]


@pytest.mark.parametrize(("table", "dtype", "rtol", "atol"), DOCUMENTED)
@pytest.mark.parametrize("size", [0.0, 1.0, 1000.0])
def test_a_table_ends_where_the_framework_s_documents_say(
    table: dict[str, tuple[float, float]], dtype: str, rtol: float, atol: float, size: float
) -> None:
    one = np.array([size])
    # The room is relative to the greater of both, which is size + apart.
    apart = (atol + rtol * size) / (1 - rtol)
    assert within(one, one + 0.999 * apart, table[dtype])
    assert not within(one, one + 1.001 * apart, table[dtype])


@pytest.mark.parametrize(("table", "dtype", "rtol", "atol"), DOCUMENTED)
def test_results_of_a_dtype_are_in_the_columns_of_its_tables(
    table: dict[str, tuple[float, float]], dtype: str, rtol: float, atol: float
) -> None:
    column = "in_torch_table" if table is TORCH_TABLE else "in_mindspore_table"
    one = answer(np.ones(1), structure="dx", dtype=dtype)
    # Far enough from its end that rounding to the dtype moves none across it.
    for share, is_in in ((0.5, True), (2.0, False)):
        other = answer(np.ones(1) + share * (atol + rtol), structure="dx", dtype=dtype)
        assert getattr(compare(one, other), column) is is_in, share


@pytest.mark.parametrize("dtype", ["int64", "bool"])
def test_integers_and_booleans_have_no_room_in_any_table(dtype: str) -> None:
    zeros, ones = np.zeros(2, dtype), np.ones(2, dtype)
    comparison = compare(answer(zeros, zeros), answer(zeros, ones))
    assert not comparison.in_torch_table
    assert not comparison.in_mindspore_table
    assert compare(answer(ones, ones), answer(ones, ones)).in_torch_table
    assert EXACT == (0, 0)


@pytest.mark.parametrize("infinite", [1, 2, 3])
def test_what_becomes_infinite_by_rounding_hides_no_difference_of_the_other_elements(
    infinite: int,
) -> None:
    values = np.array([1.0, 2.0, 3.0, 4.0])
    movement = np.array([1e-7] * (4 - infinite) + [np.inf] * infinite)
    levels = level(values, "float32", movement)
    assert scale(values, movement) == 4.0
    times = ratios(values, values + 0.1, levels, levels)
    assert (times > CLEAR).all()


def test_noise_that_is_not_finite_is_as_good_as_not_measured() -> None:
    values = np.array([1.0, 2.0])
    unmeasured = level(values, "float32", None)
    assert level(values, "float32", np.array([np.inf, np.inf])) == pytest.approx(unmeasured)
    half = level(values, "float32", np.array([np.inf, 0.5]))
    # What most elements moved by is the least of all levels, also of those that are not known.
    assert half.tolist() == [0.5, 0.5]


@pytest.mark.parametrize("one", [np.nan, np.inf, -np.inf, 3.0])
@pytest.mark.parametrize("other", [np.nan, np.inf, -np.inf, 3.0])
@pytest.mark.parametrize("noise", [0.0, 1.0, np.inf])
def test_what_is_not_finite_equals_the_same_alone_whatever_the_noise(
    one: float, other: float, noise: float
) -> None:
    levels = np.array([noise])
    (times,) = ratios(np.array([one]), np.array([other]), levels, levels)
    is_same = str(one) == str(other)
    assert times == (0 if is_same else np.inf)


@pytest.mark.parametrize(("greater", "is_near"), [(1.9, True), (2.1, False)])
def test_half_of_the_greater_side_is_the_room_whichever_side_it_is(
    greater: float, is_near: bool
) -> None:
    # 0.9 apart within half of 1.9, not within half of 1; 1.1 apart not within half of 2.1.
    one, other = np.array([1.0]), np.array([greater])
    half = (0.5, 0.0)
    assert within(one, other, half) is is_near
    assert within(other, one, half) is is_near
    assert within(-one, -other, half) is is_near


def test_every_element_must_be_near() -> None:
    one = np.array([0.0, 0.0, 0.0])
    assert within(one, np.array([1.0, -1.0, 0.5]), (0.0, 1.0))
    assert not within(one, np.array([1.0, -1.0, 1.5]), (0.0, 1.0))


def test_central_differences_are_trusted_to_a_thousandth() -> None:
    assert CENTRAL == (1e-3, 1e-5)


# What the documentation says of it


def test_the_page_of_verdicts_says_where_each_ends() -> None:
    page = (ROOT / "docs" / "reference" / "verdicts.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| (match|close|differs) \| (.*) \|$", page, re.MULTILINE))
    limits = {
        word: [float(limit) for limit in re.findall(r"(\d+) times", rows[word])] for word in rows
    }
    assert limits == {"match": [NEAR], "close": [NEAR, CLEAR], "differs": [CLEAR]}
    assert f"taken for {UNMEASURED:g} of these" in page


# Values that passed through a coarser dtype


def agree_behind(dtype: str, factor: float) -> bool:
    """Whether two values of 1 to 3 agree that differ by a factor, computed from one of a dtype."""
    array = np.linspace(1, 3, 12)
    graph = ComputedGraph("a")
    start = graph.hold("Cast", np.ones(5).astype(dtype))
    graph.hold("Exp", array, inputs=(start,))
    graph.hold("Exp", array * factor, inputs=(start,))
    side, other = view(graph.record(), ComputedGraph("b").record())
    fingerprint(side, other)
    values: list[OutputValue] = [node.value for node in side.nodes[1:]]
    return values[0].agrees(values[1]) is True


def test_a_value_behind_float16_has_the_room_of_float16_and_no_more() -> None:
    # At 3, the greatest element: a thousandth of it, and a thousandth of the tensor's scale, 3.
    assert agree_behind("float16", 1 + 1.9e-3)
    assert not agree_behind("float16", 1 + 2.1e-3)
    assert not agree_behind("float32", 1 + 1.9e-3)
    assert COARSE == {"float16": 1e-3, "bfloat16": 1.6e-2}


def test_a_value_behind_float32_has_the_room_that_was_asked_for() -> None:
    assert agree_behind("float32", 1 + 1.0e-4)
    assert not agree_behind("float32", 1 + 1.1e-4)


# Uniqueness


def test_a_value_is_unique_only_if_it_is_so_from_both_sides() -> None:
    """0.8e-4 and 0.7e-4 are within 1e-4, their sum is not: nearness is not transitive."""
    array = np.linspace(1.0, 2.0, 7)

    def bent(factor: float) -> Callable[[AnyArray], AnyArray]:
        return lambda _: factor * array**2

    left, right = ComputedGraph("a"), ComputedGraph("b")
    x, other_x = left.leaf("x", array, "input"), right.leaf("x", array, "input")
    # What the other net has no counterpart of comes near its square by chance.
    first = left.op("Bend", bent(1.0), left.leaf("z", np.sin(array), "input"))
    second = left.op("Square", bent(1 + 1.5e-4), x)
    only = right.op("Square", bent(1 + 0.8e-4), other_x)
    left.result("z out", left.op("Cos", np.cos, first))
    left.result("out", left.op("Sqrt", np.sqrt, second))
    right.result("out", right.op("Sqrt", np.sqrt, only))

    pairs = {pair.left: pair.right for pair in align(left.record(), right.record()).pairs}
    # From "Bend" the other side has one value in reach; from that value there are two.
    assert f"n{first}" not in pairs
    assert pairs[f"n{second}"] == f"n{only}"
