"""Summaries of arrays: the figures by definition, alike for an array alone and among others."""

import math

import numpy as np
import pytest

from explorer.model.arrays import SMALL, AnyArray, Summary, unpack
from explorer.numeric.summaries import (
    ELEMENTS_AT_ONCE,
    GREATEST,
    QUANTILES,
    WORTH_IT,
    batches,
    keeping,
    summarise,
    summarise_all,
    summarise_rows,
)
from tests.support.hard_to_sort import hard_to_sort

SIZES = (1, 2, 8, 17, 100, WORTH_IT - 1, WORTH_IT, 576, SMALL, SMALL + 1, 4096)
DTYPES = ("float32", "float64", "float16", "int32", "int64", "uint8", "bool", ">f4")

WIDEST = np.finfo(np.float64).max

Figures = tuple[float, ...]


def test_the_greatest_numbers_are_those_of_the_dtypes() -> None:
    for dtype in ("float64", "float32", "float16"):
        assert np.finfo(dtype).max == GREATEST[dtype]
    # The bits of the greatest bfloat16, 0x7F7F, are the upper half of a float32.
    assert np.array([0x7F7F0000], np.uint32).view(np.float32)[0] == GREATEST["bfloat16"]
    assert GREATEST["complex64"] == GREATEST["float32"]
    assert GREATEST["complex128"] == GREATEST["float64"]


def by_definition(array: AnyArray) -> Figures:
    wide = array.ravel().astype(np.float64)
    finite = wide[np.isfinite(wide)]
    ordered = np.sort(finite)
    ranks = np.linspace(0, ordered.size - 1, QUANTILES).round().astype(int)
    # The last digit of a norm is that of the order in which squares are added.
    norm = pytest.approx(np.linalg.norm(finite), rel=1e-14)
    counts = (np.count_nonzero(finite == 0), array.size - finite.size)
    figures = (ordered[0], ordered[-1], finite.mean(), norm, *counts, *ordered[ranks])
    return tuple(it if it is norm else float(it) for it in figures)  # type: ignore[misc]  # equal to one


def figures(summary: Summary) -> Figures:
    moments = (summary.minimum, summary.maximum, summary.mean, summary.norm)
    return (*moments, summary.zeros, summary.nonfinite, *summary.quantiles)


@pytest.mark.parametrize("dtype", DTYPES)
def test_figures_are_those_of_the_definition_for_an_array_alone_and_among_others(
    dtype: str,
) -> None:
    drawn: list[AnyArray] = []
    for size in SIZES:
        with np.errstate(invalid="ignore", over="ignore"):
            drawn += [array.astype(dtype) for array in hard_to_sort(size).values()]
    arrays = [array for array in drawn if np.isfinite(array.astype(np.float64)).any()]
    for array, summary in zip(arrays, summarise_all(arrays, [None] * len(arrays)), strict=True):
        assert figures(summary) == by_definition(array)
        assert (summary.whole is None) == (array.size > SMALL)
        assert summary == summarise(array)


@pytest.mark.parametrize("size", [5, 300, 3000])
def test_what_is_not_finite_is_counted_and_left_out_of_every_figure(size: int) -> None:
    array = np.random.default_rng(1).normal(size=size).astype(np.float32)
    spoilt = array.copy()
    spoilt[:3] = math.nan, math.inf, -math.inf
    clean, mixed, nothing = summarise_all([array, spoilt, spoilt[:1]], [None] * 3)
    assert figures(clean) == by_definition(array)
    assert figures(mixed) == by_definition(spoilt)
    assert mixed.nonfinite == 3
    assert figures(nothing) == (0, 0, 0, 0, 0, 1)


def test_of_no_elements_none_is_zero_or_not_finite() -> None:
    assert figures(summarise(np.zeros((0, 2)))) == (0, 0, 0, 0, 0, 0)


@pytest.mark.parametrize("size", [2, 3, 7, 1000])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_mean_of_float64_s_greatest_is_float64_s_greatest(size: int, sign: int) -> None:
    summary = summarise(np.full(size, sign * WIDEST))
    assert summary.mean == pytest.approx(sign * WIDEST, rel=1e-15)
    assert math.isfinite(summary.mean)


def test_the_mean_of_the_greatest_of_both_signs_lies_between_them() -> None:
    # Added from one end to the other, either half overflows on its own.
    halves = np.repeat([WIDEST, -WIDEST], 500)
    assert abs(summarise(halves).mean) <= 1e-12 * WIDEST
    assert summarise(np.array([WIDEST, WIDEST, -WIDEST])).mean == pytest.approx(WIDEST / 3)


def test_a_mean_beside_great_ones_keeps_its_last_bit() -> None:
    small = np.array([0.1, 0.2, 0.3])
    alone = summarise(small)
    assert summarise_all([np.full(3, WIDEST), small], [None, None])[1] == alone


def test_arrays_of_one_size_keep_their_own_shapes_and_dtypes() -> None:
    square = np.arange(4, dtype=np.float32).reshape(2, 2)
    arrays: list[AnyArray] = [
        square,
        square.T,
        square.ravel(),
        np.array(3, np.float32),
        np.zeros((0, 2)),
    ]
    wholes = []
    for summary in summarise_all(arrays, [None, None, "bfloat16", None, None]):
        whole = summary.whole
        assert whole is not None
        wholes.append((whole.shape, whole.dtype, unpack(whole).tolist()))
    assert wholes == [
        ((2, 2), "float32", [[0, 1], [2, 3]]),
        ((2, 2), "float32", [[0, 2], [1, 3]]),
        ((4,), "bfloat16", [0, 1, 2, 3]),
        ((), "float32", 3),
        ((0, 2), "float64", []),
    ]


@pytest.mark.parametrize(("room", "kept"), [((), 3), ((SMALL + 1,), 2), ((0,), 1)])
def test_large_arrays_are_kept_as_long_as_there_is_room(room: tuple[int, ...], kept: int) -> None:
    with keeping(SMALL + 2, *room):
        found = [summarise(np.zeros(SMALL + more)).whole for more in range(4)]
    assert [whole is not None for whole in found] == [True] * kept + [False] * (4 - kept)


def test_rows_of_a_matrix_are_summarised_as_arrays_of_their_own_shapes() -> None:
    rows = np.arange(12, dtype=np.float32).reshape(2, 6)
    shapes = [(2, 3), (6,)]
    summaries = summarise_rows(rows, shapes, "float32")
    assert summaries == [
        summarise(row.reshape(shape)) for row, shape in zip(rows, shapes, strict=True)
    ]


@pytest.mark.parametrize(
    ("size", "at_once"), [(0, 5), (1, 5), (ELEMENTS_AT_ONCE // 2, 2), (2 * ELEMENTS_AT_ONCE, 1)]
)
def test_a_batch_has_about_as_many_elements_as_fit_and_no_member_is_lost(
    size: int, at_once: int
) -> None:
    members = list(range(5))
    parts = [list(batch) for batch in batches(members, size)]
    assert len(parts[0]) == at_once
    assert [member for part in parts for member in part] == members


def test_infinities_are_counted_by_their_sign_and_the_rest_is_nan() -> None:
    values = np.array([1, np.inf, np.nan, -np.inf, np.inf])
    summary = summarise(values)
    assert (summary.nonfinite, summary.infinities) == (4, (2, 1))
    # Those of a complex number are of its parts.
    spectrum = summarise(np.array([complex(-np.inf, 1), complex(np.nan, np.inf)]))
    assert (spectrum.nonfinite, spectrum.infinities) == (3, (1, 1))
    assert summarise(np.ones(3)).infinities == (0, 0)
