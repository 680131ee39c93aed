"""Values of tensors in a few digits, and whether two such texts agree up to rounding."""

import math

import numpy as np

from explorer.model.arrays import AnyArray, Summary, unpack
from explorer.model.graph import Output

DIGITS = 3
"""How many digits the greatest number of a group has; the others end at the same decimal place."""

FIRST = 2
"""How many elements of a tensor of more than three are written: those that come first."""

ROUNDING = 15.0
"""A tensor whose root mean square is below this many times its noise consists of rounding.

In the recorded graphs such tensors lie below 7 times their noise, and nearly all others above 300.
"""

ONLY_ROUNDING = "~0"
"""The text of a tensor that consists of rounding: other digits on another machine."""

EMPTY, UNKNOWN = "empty", "?"
RMS, IMAGINARY = "rms", "imaginary"
"""The words before the root mean square of a tensor, and before the imaginary parts."""


# Writing


def written_values(output: Output) -> str:
    """The first elements of a tensor and its root mean square; all elements of one of up to three.

    Of a tensor whose elements are not recorded: the least, the greatest, and the root mean square.
    """
    summary = output.values
    if summary is None:
        return UNKNOWN
    size = math.prod(output.shape)
    finite = size - summary.nonfinite
    rms = summary.norm / math.sqrt(finite) if finite else 0.0
    if output.noise is not None and 0 < rms < ROUNDING * output.noise:
        return ONLY_ROUNDING
    text = _with_rms(summary, size, rms)
    return f"{text} nonfinite {summary.nonfinite}" if summary.nonfinite else text


def _with_rms(summary: Summary, size: int, rms: float) -> str:
    if summary.whole is None:
        return written_group([summary.minimum, summary.maximum], rms)
    elements = unpack(summary.whole).ravel()
    if size == 0:
        return EMPTY
    if size <= FIRST + 1:
        return _written_elements(elements, None)
    return _written_elements(elements[:FIRST], rms)


def _written_elements(elements: AnyArray, rms: float | None) -> str:
    if elements.dtype.kind == "c":
        parts = np.concatenate([elements.real, elements.imag]).tolist()
        words = written_group(parts, rms).split()
        words.insert(len(elements), IMAGINARY)
        return " ".join(words)
    if elements.dtype.kind in "iub":
        numbers = " ".join(str(int(number)) for number in elements)
        return numbers if rms is None else f"{numbers} {RMS} {written_group([rms])}"
    return written_group([float(number) for number in elements], rms)


def written_group(numbers: list[float], rms: float | None = None) -> str:
    """Numbers in decimals, the greatest in three digits and the others to the same place."""
    place = _last_place([*numbers, rms or 0.0])
    text = " ".join(_written_number(number, place) for number in numbers)
    return text if rms is None else f"{text} {RMS} {_written_number(rms, place)}"


def _last_place(numbers: list[float]) -> int:
    """The exponent of ten of the last decimal place of a group."""
    greatest = max((abs(number) for number in numbers if math.isfinite(number)), default=0.0)
    if greatest == 0:
        return 0
    return math.floor(math.log10(greatest)) - DIGITS + 1


def _written_number(number: float, place: int) -> str:
    if not math.isfinite(number):
        return str(number)
    units = round(number / 10.0**place)
    # Through a decimal literal: 3 * 10.0**-1 has digits of its own.
    return f"{float(f'{units}e{place}'):.{DIGITS + 1}g}"


# Comparing


def values_agree(one: str, other: str) -> bool:
    """Whether two texts of values are the same up to one unit in the last place of each group."""
    if one == other:
        return True
    if ONLY_ROUNDING in (one, other):
        return _is_zero(one) and _is_zero(other)
    return _groups_agree(one.split(), other.split())


def _is_zero(text: str) -> bool:
    """Whether all numbers are 0, exactly or up to rounding."""
    return set(text.split()) <= {"0", ONLY_ROUNDING, RMS}


def _groups_agree(ones: list[str], others: list[str]) -> bool:
    if len(ones) != len(others):
        return False
    pairs: list[tuple[float, float]] = []
    for one, other in zip(ones, others, strict=True):
        left, right = _number(one), _number(other)
        if left is None or right is None:
            if one != other:
                return False
        else:
            pairs.append((left, right))
    place = _last_place([number for pair in pairs for number in pair])
    # One unit, and a little more for what binary numbers make of it.
    allowed = 1.01 * 10.0**place
    return all(abs(left - right) <= allowed for left, right in pairs)


def _number(word: str) -> float | None:
    """The finite number that a word is; None for any other word, which must stay the same."""
    try:
        number = float(word)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
