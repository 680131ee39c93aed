"""What is known of the values of a tensor: whether they hold a number, a tie, or no finite number."""

from math import isfinite, isnan

import numpy as np

from explorer.model.arrays import AnyArray, unpack
from explorer.model.divergence import Reading
from explorer.model.graph import Output


def whole(output: Output) -> AnyArray | None:
    """All elements; None of a value that is large, or was not observed."""
    kept = output.values and output.values.whole
    return unpack(kept) if kept else None


def holds(output: Output, number: float) -> bool:
    """Whether an element is exactly that number, as far as is known of a large value."""
    elements = whole(output)
    if elements is not None:
        return bool((elements == number).any())
    figures = output.values
    if figures is None:
        return False
    if number == 0:
        return figures.zeros > 0
    return number in (figures.minimum, figures.maximum, *figures.quantiles)


def ties(one: Output, other: Output) -> set[float]:
    """The numbers at which two values are equal; none where not all elements are known."""
    first, second = whole(one), whole(other)
    if first is None or second is None:
        return set()
    tied, _ = np.broadcast_arrays(first, second)
    return {float(number) for number in tied[first == second]}


def repeated_greatest(output: Output) -> set[float]:
    """The greatest element of a value where it is there twice; none where not all are known."""
    elements = whole(output)
    if elements is None or elements.size < 2:
        return set()
    greatest = elements.max()
    return {float(greatest)} if (elements == greatest).sum() > 1 else set()


def are_unequal_for_equal(given: Output, made: Output) -> bool:
    """Whether a function of single elements makes several numbers of one."""
    inputs, outputs = whole(given), whole(made)
    if inputs is None or outputs is None or inputs.shape != outputs.shape:
        return False
    pairs = np.unique(np.stack([inputs.ravel(), outputs.ravel()]), axis=1)
    return bool(pairs.shape[1] > np.unique(inputs).size)


def dropped_rate(output: Output) -> float | None:
    """The share that a mask of dropout drops: it is 0 and 1/(1 - share); None of another value."""
    figures = output.values
    if figures is None or not figures.zeros or figures.minimum or figures.maximum <= 1:
        return None
    if set(figures.quantiles) - {0.0, figures.maximum}:
        return None
    return 1 - 1 / figures.maximum


def is_nan(reading: Reading) -> bool:
    """Whether a reading has a nan."""
    return any(map(isnan, reading.numbers))


def is_finite(reading: Reading) -> bool:
    """Whether a reading has numbers, all of them finite."""
    return bool(reading.numbers) and all(map(isfinite, reading.numbers))
