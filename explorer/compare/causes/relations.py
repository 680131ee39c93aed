"""How one value follows from another: a factor, something added, a function, another layout.

Only what holds for every element, up to the room that rounding takes, is a relation; and only where
the elements are so many that it is no chance.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import numpy as np

from explorer.compare.causes.layouts import Candidates, layouts
from explorer.compare.causes.rooms import ROUNDING, Room
from explorer.model.causes import Factor, Related
from explorer.numeric.differences import Floats

FEW = 4
"""With fewer different elements than this, a number between two values may be chance."""


class Surroundings(NamedTuple):
    """What a relation may be made of, beside the two values.

    ``sizes`` are lengths of axes and products of them, ``shares`` are probabilities, ``parts``
    are values by name that may be added or multiplied, and ``shapes`` those that numbers may have had.
    """

    sizes: tuple[int, ...] = ()
    shares: tuple[float, ...] = ()
    parts: Mapping[str, Floats] = {}
    shapes: tuple[tuple[int, ...], ...] = ()


NOTHING = Surroundings()


class Found(NamedTuple):
    """A relation, and how far the value that follows is from the other one at most."""

    relation: Related
    apart: float


class _Values(NamedTuple):
    own: Floats
    target: Floats
    room: Room
    around: Surroundings

    def apart(self, made: Floats) -> float | None:
        """How far a value is from the other one; None where it is another one."""
        if made.size != self.target.size:
            return None
        return self.room.apart(made.reshape(self.target.shape), self.target)

    @property
    def are_of_one_size(self) -> bool:
        return self.own.size == self.target.size > 0


def relation_of(
    own: Floats,
    target: Floats,
    room: Room,
    around: Surroundings = NOTHING,
    finders: "Finders | None" = None,
) -> Found | None:
    """How ``target`` follows from ``own``; None where it does not, as far as is looked for.

    ``room`` says how far the two may be apart that are the same up to rounding; ``finders`` are all
    unless some are given.
    """
    values = _Values(own, target, room, around)
    for find in FINDERS if finders is None else finders:
        for related, made in find(values):
            apart = values.apart(made)
            if apart is not None:
                return Found(related, apart)
    return None


# Numbers


def _times(values: _Values) -> Candidates:
    if not values.are_of_one_size:
        return
    own, target = values.own.ravel(), values.target.ravel()
    finite = np.isfinite(own) & np.isfinite(target)
    if not finite.any():
        return
    square = float(np.dot(own[finite], own[finite]))
    if square == 0 or not math.isfinite(square):
        return
    factor = float(np.dot(own[finite], target[finite])) / square
    if factor == 0 or abs(factor - 1) < 1e-6:
        return
    greatest = float(np.abs(target[finite]).max())
    if greatest <= values.room.base:
        return  # what is nothing but rounding is any value times next to nothing
    named = named_factor(factor, values.around, values.room.base / greatest if greatest else 0.0)
    if named.form or _is_telling(own):
        yield Related(how="times", factor=named), values.own * named.value


def _plus(values: _Values) -> Candidates:
    if not values.are_of_one_size or not _is_telling(values.own):
        return
    with np.errstate(invalid="ignore"):
        term = float(np.median(values.target.ravel() - values.own.ravel()))
    if math.isfinite(term) and term != 0:
        yield Related(how="plus", factor=Factor(_rounded(term))), values.own + _rounded(term)


def _is_telling(value: Floats) -> bool:
    """Whether a value has so many different elements that a number for all of them is no chance."""
    return np.unique(value).size >= FEW


def _rounded(number: float) -> float:
    """A number with the digits that single precision has, where it has no more."""
    single = float(f"{number:.6g}")
    return single if abs(single - number) <= 1e-6 * abs(number) else number


FORMS: dict[str, Callable[[float], float]] = {
    "n": lambda n: n,
    "1/n": lambda n: 1 / n,
    "√n": math.sqrt,
    "1/√n": lambda n: 1 / math.sqrt(n),
}
"""What a factor may be of a size."""

SHARES: dict[str, Callable[[float], float]] = {
    "1-p": lambda p: 1 - p,
    "1/(1-p)": lambda p: 1 / (1 - p),
    "p": lambda p: p,
}
"""What it may be of a probability."""


def named_factor(factor: float, around: Surroundings, room: float = 0.0) -> Factor:
    """A factor, and what it is of a size or a probability at hand, up to a part ``room`` of it."""
    tolerance = min(max(2e-6, room), 1e-4)
    for forms, numbers in ((FORMS, around.sizes), (SHARES, around.shares)):
        for number in sorted(set(numbers)):
            for form, value_of in forms.items():
                is_known = number > 1 if forms is FORMS else 0 < number < 1
                if is_known and math.isclose(value_of(number), factor, rel_tol=tolerance):
                    return Factor(value_of(number), form, number)  # type: ignore[arg-type]  # a key of the two tables
    return Factor(_rounded(factor))


# Another value


def _added(values: _Values) -> Candidates:
    # Zeros, such as a product with a state of zeros, plus anything are that.
    if _is_telling(values.own) and values.own.shape == values.target.shape:
        for name, part in values.around.parts.items():
            if _fits(part, values.target):
                yield Related(how="added", name=name), values.own + part
                yield Related(how="subtracted", name=name), values.own - part


def _multiplied(values: _Values) -> Candidates:
    if _is_telling(values.own) and values.own.shape == values.target.shape:
        for name, part in values.around.parts.items():
            if _fits(part, values.target):
                with np.errstate(invalid="ignore"):  # none times an infinity
                    made = values.own * part
                yield Related(how="multiplied", name=name), made


def _fits(part: Floats, target: Floats) -> bool:
    """Whether a value can be added to another one element by element, and says something."""
    if part.ndim > target.ndim or not _is_telling(target) or np.unique(part).size < 2:
        return False
    ends = zip(part.shape[::-1], target.shape[::-1], strict=False)
    return all(one in (1, other) for one, other in ends)


# Functions

FUNCTIONS: dict[str, Callable[[Floats], Floats]] = {
    "relu": lambda x: np.maximum(x, 0),
    "sqrt": np.sqrt,
    "square": np.square,
    "exp": np.exp,
    "log": np.log,
    "abs": np.abs,
    "reciprocal": np.reciprocal,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "1 - x": lambda x: 1 - x,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
    "softmax": lambda x: _softmax(x),
    "log_softmax": lambda x: np.log(_softmax(x)),
}
"""Functions that one side may have more."""


def _softmax(x: Floats) -> Floats:
    """The softmax along the last axis."""
    powers = np.exp(x - x.max(axis=-1, keepdims=True)) if x.ndim else np.ones_like(x)
    made: Floats = powers / powers.sum(axis=-1, keepdims=True) if x.ndim else powers
    return made


def _applied(values: _Values) -> Candidates:
    if not values.are_of_one_size or not _is_telling(values.target):
        return
    for name, function in FUNCTIONS.items():
        with np.errstate(all="ignore"):
            made = function(values.own)
        if _is_change(values.own, made):
            yield Related(how="applied", name=name), made


def _is_change(own: Floats, made: Floats) -> bool:
    """Whether a function does more to a value than rounding: a softmax of one only makes its sum 1 again."""
    with np.errstate(invalid="ignore"):
        apart = np.abs(made - own)
    return bool(np.any(apart > ROUNDING * np.maximum(np.abs(own), 1)))


def _tempered(values: _Values) -> Candidates:
    """Two softmaxes of the same logits, times another factor."""
    if values.own.shape != values.target.shape or not values.own.ndim or not values.own.size:
        return
    logs = [_logits(value) for value in (values.own, values.target)]
    own, target = logs
    if own is None or target is None:
        return
    square = float((own * own).sum())
    factor = float((own * target).sum()) / square if square else 0.0
    if factor <= 0 or not _is_telling(own):
        return
    named = named_factor(factor, values.around, 1e-5)
    is_log = float(values.own.max()) <= 0
    softmax = _softmax(own * named.value)
    made = np.log(softmax) if is_log else softmax
    if _is_change(values.own, made):
        yield Related(how="tempered", factor=named), made


def _logits(value: Floats) -> Floats | None:
    """The logits of a softmax or of its logarithm, with the mean 0; None of another value."""
    with np.errstate(all="ignore"):
        logs = value if float(value.max()) <= 0 else np.log(value)
        sums = np.exp(logs).sum(axis=-1)
    if not np.isfinite(logs).all() or not np.allclose(sums, 1, atol=1e-4):
        return None
    centred: Floats = logs - logs.mean(axis=-1, keepdims=True)
    return centred


def _rounded_to(values: _Values) -> Candidates:
    if values.are_of_one_size:
        with np.errstate(over="ignore"):
            halves = values.own.astype(np.float16).astype(np.float64)
        yield Related(how="rounded", name="float16"), halves
        yield Related(how="rounded", name="bfloat16"), _as_bfloat16(values.own)


def _as_bfloat16(value: Floats) -> Floats:
    """Numbers rounded to the upper 16 bits of their single precision."""
    bits = value.astype(np.float32).view(np.uint32)
    nearest = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    upper: Floats = (nearest & np.uint32(0xFFFF0000)).view(np.float32).astype(np.float64)
    return upper


# Another layout


def _layouts(values: _Values) -> Candidates:
    if values.are_of_one_size and _is_telling(values.own):
        yield from layouts(values.own, values.target, values.room, values.around.shapes)


# Masks


def _masked(values: _Values) -> Candidates:
    """The same but for elements that are one number there."""
    own, target = values.own, values.target
    if own.size < 2 or own.squeeze().shape != target.squeeze().shape:
        return
    own = own.reshape(target.shape)
    with np.errstate(invalid="ignore"):
        others = ~(np.abs(own - target) <= values.room.base) & (own != target)
    count, numbers = int(others.sum()), np.unique(target[others])
    # A mask may have two numbers alone: then most of it is the same.
    is_much = _is_telling(own[~others]) or own.size > 2 * max(count, FEW)
    if np.unique(target).size < 2:
        return  # all of it is one number, whatever was masked
    if numbers.size == 1 and not np.isnan(numbers[0]) and 1 < count < own.size and is_much:
        number = float(numbers[0])
        made = np.where(others, number, own)
        yield Related(how="masked", factor=Factor(number), numbers=(count,)), made


Finders = Iterable[Callable[[_Values], Candidates]]

WITH_PARTS: Finders = (_added, _multiplied)
"""Those that look for another value."""

WITH_LAYOUTS: Finders = (_layouts,)
"""The one that looks for another layout."""

TEMPERED: Finders = (_tempered,)
"""The one that looks for softmaxes of other logits."""

MASKED: Finders = (_masked,)
"""The one that looks for masks."""

ROUNDED: Finders = (_rounded_to,)
"""Those that look for a narrower dtype."""

FINDERS: Finders = (
    _times,
    _layouts,
    _plus,
    _applied,
    _tempered,
    _added,
    _multiplied,
    _rounded_to,
    _masked,
)
"""How relations are looked for, the simplest ones first."""
