"""Two values that should have been equal, put into words."""

import numpy as np

from explorer.compare.align.fingerprints import Floats, elements
from explorer.model.arrays import Summary
from explorer.text.numbers import digits

Shown = tuple[Summary | None, tuple[int, ...]]
"""What was observed of a value, and its shape."""

Contrast = tuple[str, str, float | None, str]
"""The left reading, the right one, their greatest difference, and what the difference looks like.
"""


def contrast(left: Shown, right: Shown) -> Contrast:
    """Reads two values at their greatest difference; by their shapes where the element counts
    differ.
    """
    (one, shape), (other, other_shape) = left, right
    if one is None or other is None:
        return reading(one, shape), reading(other, other_shape), None, ""
    if np.prod(shape) != np.prod(other_shape):
        return f"shape {list(shape)}", f"shape {list(other_shape)}", None, ""
    if one.whole is None or other.whole is None:
        return _at_greatest(np.array(one.quantiles), np.array(other.quantiles), "")
    mine, theirs = elements(one.whole), elements(other.whole)
    note = _note(mine, theirs, shape if shape == other_shape else (mine.size,))
    return _at_greatest(mine, theirs, note)


def reading(value: Summary | None, shape: tuple[int, ...]) -> str:
    """A value as a reader knows it: its elements when they are few, else its shape and mean."""
    if value is None:
        return "not observed"
    if value.whole is not None and value.whole.data and np.prod(shape) <= 6:
        return digits(elements(value.whole).reshape(shape))
    return f"shape {list(shape)} with mean {value.mean:.5g}"


def _at_greatest(mine: Floats, theirs: Floats, note: str) -> Contrast:
    if not mine.size or mine.shape != theirs.shape:
        return (
            "nothing finite" if not mine.size else "finite",
            "nothing finite" if not theirs.size else "finite",
            None,
            note,
        )
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.where(
            (mine == theirs) | (np.isnan(mine) & np.isnan(theirs)), 0.0, np.abs(mine - theirs)
        )
    where = int(np.argmax(np.where(np.isnan(apart), np.inf, apart)))
    greatest = float(apart[where])
    return (
        f"{mine[where]:.6g}",
        f"{theirs[where]:.6g}",
        greatest if np.isfinite(greatest) else None,
        note,
    )


def _note(mine: Floats, theirs: Floats, shape: tuple[int, ...]) -> str:
    """What a difference looks like at a glance: a transpose, another order, a sign, a factor."""
    if not (np.isfinite(mine).all() and np.isfinite(theirs).all()) or not mine.size:
        return ""
    sets = np.sort(mine), np.sort(theirs)
    if np.allclose(*sets, rtol=1e-4, atol=1e-7) and not np.allclose(
        mine, theirs, rtol=1e-4, atol=1e-7
    ):
        turned = len(shape) == 2 and np.allclose(
            mine.reshape(shape).T.ravel(), theirs, rtol=1e-4, atol=1e-7
        )
        return "the same numbers, transposed" if turned else "the same numbers in another order"
    used = theirs != 0
    if not used.any() or mine[~used].any():
        return ""
    ratios = mine[used] / theirs[used]
    factor = float(np.median(ratios))
    if not factor or not np.allclose(ratios, factor, rtol=1e-4, atol=0) or abs(factor - 1) < 1e-3:
        return ""
    if factor == -1 or abs(factor + 1) < 1e-5:
        return "opposite in sign"
    inverse = abs(factor) < 1
    times = 1 / factor if inverse else factor
    if mine.size == 1 and abs(times - round(times)) > 1e-4 * abs(times):
        return ""
    return f"the {'right' if inverse else 'left'} is {times:.5g} times the other"
