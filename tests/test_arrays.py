"""Summaries of arrays: the figures by their definition, the same for an array alone as among
others, whatever its dtype.
"""

import math

import numpy as np
import pytest

from explorer.model.arrays import SMALL, AnyArray, Summary, unpack
from explorer.numeric.order_statistics import WORTH_IT, ranked
from explorer.numeric.summaries import QUANTILES, summarise, summarise_all

SIZES = (1, 2, 8, 17, 100, WORTH_IT - 1, WORTH_IT, 576, SMALL, SMALL + 1, 4096)
DTYPES = ("float32", "float64", "float16", "int32", "int64", "uint8", "bool", ">f4")


def kinds(size: int) -> dict[str, AnyArray]:
    """Arrays of one size whose order is hard in different ways."""
    drawn = np.random.default_rng(size).normal(size=size)
    return {
        "drawn": drawn,
        "half zero": np.maximum(drawn, 0),
        "zeros of both signs": np.where(drawn > 0, 0.0, -0.0),
        "subnormal": drawn * 1e-42,
        "constant": np.full(size, 3.0),
        "few values": drawn.round(),
        "far apart": np.sign(drawn) * 10.0 ** (4 * drawn),
    }


def by_definition(array: AnyArray) -> tuple[float, ...]:
    wide = array.ravel().astype(np.float64)
    finite = wide[np.isfinite(wide)]
    ordered = np.sort(finite)
    picks = np.linspace(0, ordered.size - 1, QUANTILES).round().astype(int)
    figures = (ordered[0], ordered[-1], finite.mean(), np.linalg.norm(finite))
    counts = (np.count_nonzero(finite == 0), array.size - finite.size)
    return tuple(float(figure) for figure in (*figures, *counts, *ordered[picks]))


def figures(summary: Summary) -> tuple[float, ...]:
    counts = (summary.zeros, summary.nonfinite)
    return (
        summary.minimum,
        summary.maximum,
        summary.mean,
        summary.norm,
        *counts,
        *summary.quantiles,
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_figures_are_those_of_the_definition_to_the_last_bit(dtype: str) -> None:
    with np.errstate(invalid="ignore", over="ignore"):
        arrays = [array.astype(dtype) for size in SIZES for array in kinds(size).values()]
    arrays = [array for array in arrays if np.isfinite(array.astype(np.float64)).any()]
    for array, summary in zip(arrays, summarise_all(arrays, [None] * len(arrays)), strict=True):
        assert figures(summary) == by_definition(array)
        assert (summary.whole is None) == (array.size > SMALL)
        assert summary == summarise(array)


@pytest.mark.parametrize("size", [5, 300, 3000])
def test_what_is_not_finite_is_counted_and_left_out_of_every_figure(size: int) -> None:
    array = np.random.default_rng(1).normal(size=size).astype(np.float32)
    spoilt = array.copy()
    spoilt[:3] = math.nan, math.inf, -math.inf
    clean, found, nothing = summarise_all([array, spoilt, spoilt[:1]], [None] * 3)
    assert figures(clean) == by_definition(array)
    assert figures(found) == by_definition(spoilt)
    assert found.nonfinite == 3
    assert figures(nothing) == (0, 0, 0, 0, 0, 1)


def test_arrays_of_one_size_keep_their_own_shapes_and_dtypes() -> None:
    square = np.arange(4, dtype=np.float32).reshape(2, 2)
    arrays: list[AnyArray] = [
        square,
        square.T,
        square.ravel(),
        np.array(3, np.float32),
        np.zeros((0, 2)),
    ]
    found = summarise_all(arrays, [None, None, "bfloat16", None, None])
    kept = [
        (each.whole.shape, each.whole.dtype, unpack(each.whole).tolist())
        for each in found
        if each.whole
    ]
    assert kept == [
        ((2, 2), "float32", [[0, 1], [2, 3]]),
        ((2, 2), "float32", [[0, 2], [1, 3]]),
        ((4,), "bfloat16", [0, 1, 2, 3]),
        ((), "float32", 3),
        ((0, 2), "float64", []),
    ]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_ranks_are_those_of_a_sort_and_zeros_have_no_sign(dtype: str) -> None:
    for size in (WORTH_IT, 4096):
        rows = np.array(list(kinds(size).values())).astype(dtype)
        ranks = np.arange(0, size, 37)
        found = ranked(rows, ranks)
        assert (found == np.sort(rows, axis=1)[:, ranks]).all()
        assert not np.signbit(found[found == 0]).any()
