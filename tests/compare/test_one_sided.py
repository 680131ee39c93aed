"""Divergences at work that only one side does: an op too many, a gradient added in or stopped."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explorer.compare.align import align
from explorer.model.alignment import Count
from explorer.model.arrays import AnyArray
from tests.support.alignments import assert_parts, parting, rows, said
from tests.support.written_nets import two_nets


def rows_over(rows: AnyArray, sizes: AnyArray) -> AnyArray:
    """Rows by their sizes: 0 by 0 is nan."""
    with np.errstate(invalid="ignore"):
        return np.asarray(rows / sizes[:, None])


KNOWN: dict[str, Any] = {
    "W": np.random.default_rng(4).standard_normal((4, 4)),
    "V": np.random.default_rng(5).standard_normal((4, 4)),
    "KEPT": np.random.default_rng(3).random((4, 4)) > 0.5,
    "BIAS": np.arange(4.0) / 3,
    "rows_over": rows_over,
    "filled": lambda values, mask: np.where(mask, 0.0, values),
}

ROWS = rows(Path(__file__).parent / "one_sided.toml")


@pytest.mark.parametrize("name", ROWS)
def test_what_one_side_alone_does_is_the_divergence(name: str) -> None:
    assert_parts(ROWS[name], **KNOWN)


def test_ops_without_a_counterpart_are_counted_as_such() -> None:
    alignment = align(*two_nets(ROWS["a dropout left on"].text, **KNOWN))
    assert alignment.left_coverage.forward == Count(unpaired=2)
    assert alignment.right_coverage.forward == Count(unpaired=1)


def test_aliased_inputs_diverge_where_the_tape_sums_into_both() -> None:
    graphs = two_nets("""
        a = input: np.array([1.0, 2.0, 3.0])
        b = input: np.array([1.0, 2.0, 3.0])
        product = Mul @2: a * b
        loss = Sum @3: product.sum()
        result loss = loss
        da = Mul of product: np.copy(b)
        db = Mul of product: np.copy(a)
        - both = accumulate back: da + db
        - gradient da = both
        - gradient db = both
        + gradient da = da
        + gradient db = db
    """)
    assert align(*graphs).differing == ("da", "db")
    sentence = parting(*graphs).sentence
    assert (
        "First divergence in backward: a adds 2 gradients in `accumulate` (net.py:2), " in sentence
    )
    assert "b does not: 6 against 3" in sentence
    assert align(graphs[0], graphs[0]).divergence is None


@pytest.mark.parametrize("is_left_out", [True, False])
def test_a_gradient_that_is_added_later_is_not_left_out(is_left_out: bool) -> None:
    last = "" if is_left_out else "+ dx = Add of x: dx + dp"
    graphs = two_nets(f"""
        x = input: np.array([1.0, 2.0, 3.0])
        p = Mul @2: x * 2
        q = Mul @3: x * 3
        r = Mul @4: x * 4
        loss = Sum: p + q + r
        result loss = loss
        seed = ones back: np.array([1.0, 1.5, 0.5])
        dp = Mul of p: seed * 2
        dq = Mul of q: seed * 3
        - dr = Mul of r: seed * 4
        - dx = Add of x: dp + dq
        - dx = Add of x: dx + dr
        + dr = Mul of r: seed * 4 * (1 + 4e-4)
        + dx = Add of x: dr + dq
        {last}
        gradient dx = dx
    """)
    divergence = align(*graphs).divergence
    assert divergence is not None
    assert ("leaves it out" in said(divergence)) is is_left_out


def test_equal_terms_are_not_left_out_where_a_third_is_added_before_them() -> None:
    # As of a square: both its gradients are equal, and one engine has made one op of them.
    graphs = two_nets("""
        x = input: np.array([1.0, 2.0, 3.0])
        square = Mul @1: x * x
        sine = Sin @2: np.sin(x)
        loss = Sum @3: square + sine
        result loss = loss
        seed = ones back: np.array([1.0, 1.5, 0.5])
        half = Mul of square: seed * x
        - again = Mul of square: seed * x
        - onwards = Cos of sine: seed * np.cos(x)
        - dx = Add of x: onwards + half
        - dx = Add of x: dx + again
        + dx = Add of x: half + half
        gradient dx = dx
    """)
    divergences = align(*graphs).divergences
    assert divergences
    assert not any("b adds" in said(divergence) for divergence in divergences)
