"""What is tried with the arguments of an op: the other side's, other ones of few, or near ones."""

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import NamedTuple

from explorer.compare.causes.kinds import (
    AXES,
    FEW_VALUES,
    FIXED,
    LAST,
    POSITIONS,
    USUAL,
    WINDOW_NAMES,
    WINDOWS,
)
from explorer.model.graph import Arguments, ArgumentValue

MOST_WINDOWS = 6
"""Padding of more ends than those of three axes is of all axes."""

MOST_CHANGES = 60
"""How many changes of one argument, and of two, are tried at one op."""


class ArgumentChanges(NamedTuple):
    """Changes of one argument each, of two of a window such as dilation and padding, and of two others."""

    single: list[Arguments]
    windows: list[Arguments]
    double: list[Arguments]


def argument_changes(own: Arguments, pool: Iterable[ArgumentValue], rank: int) -> ArgumentChanges:
    """Changes of an op's ``own`` arguments; ``pool`` is what the other side suggests.

    ``rank`` is the number of axes.
    """
    suggested = list(_changes(own, pool, rank))[:MOST_CHANGES]
    pairs = _pairs(suggested)
    windows = [change for change in pairs if change.keys() <= WINDOW_NAMES]
    double = [change for change in pairs if not change.keys() <= WINDOW_NAMES]
    single = [*suggested, *_usual(own, suggested)]
    return ArgumentChanges(single, windows[:MOST_CHANGES], double[:MOST_CHANGES])


def _pairs(single: list[Arguments]) -> list[Arguments]:
    pairs = combinations(single, 2)
    return [{**one, **other} for one, other in pairs if one.keys() != other.keys()]


def _changes(own: Arguments, pool: Iterable[ArgumentValue], rank: int) -> Iterator[Arguments]:
    """Changes of one argument each, those that the other side suggests first."""
    for name, value in own.items():
        if name in FIXED:
            continue
        seen = [value]
        for other in _alternatives(name, value, pool, rank):
            if other not in seen:
                seen.append(other)
                yield {name: other}


def _usual(own: Arguments, tried: list[Arguments]) -> Iterator[Arguments]:
    """Changes of one argument to a value that it often has, but for those that are tried anyway."""
    for name, value in own.items():
        for other in USUAL.get(name, ()):
            if other != value and {name: other} not in tried:
                yield {name: other}


def _alternatives(
    name: str, value: ArgumentValue, pool: Iterable[ArgumentValue], rank: int
) -> Iterator[ArgumentValue]:
    """Other values that an argument may have."""
    if name in FEW_VALUES:
        yield from FEW_VALUES[name]
    elif isinstance(value, bool):
        yield not value
    elif name in AXES and isinstance(value, int):
        yield from range(rank)
    elif name in AXES and isinstance(value, tuple) and value:
        for count in (len(value), *range(1, rank + 1)):
            yield from combinations(range(rank), count)
    else:
        yield from _near(name, value)
        # A zero last: it bounds variances and fills masks, and an eps near it gives the same.
        for other in sorted(pool, key=lambda other: isinstance(other, float) and not other):
            yield from _in_place_of(value, other)
        if isinstance(value, tuple):
            yield from _of_windows(name, value)


def _near(name: str, value: ArgumentValue) -> Iterator[ArgumentValue]:
    """Places beside a place."""
    if name in POSITIONS and isinstance(value, int):
        yield from (value - 1, value + 1)
        if name == "end":
            yield from (LAST, -1)


def _of_windows(name: str, value: tuple[object, ...]) -> Iterator[ArgumentValue]:
    """Other numbers of a window along all of its axes, and padding at other ends of them."""
    for number in WINDOWS.get(name, ()):
        yield (number,) * len(value)
    if name == "pad":
        yield from _other_ends(value)
    if name == "padding" and len(value) > MOST_WINDOWS:
        for number in WINDOWS[name]:
            yield _at_both_ends(value, number)


def _at_both_ends(padding: tuple[object, ...], number: int) -> tuple[int, ...]:
    """As much padding at both ends of the axes of images, behind those of examples and channels."""
    return (0,) * 4 + (number,) * (len(padding) - 4)


def _other_ends(pad: tuple[object, ...]) -> Iterator[ArgumentValue]:
    """Padding of the ends of axes with the two ends of each exchanged, or half of it at each."""
    pairs = list(zip(pad[::2], pad[1::2], strict=False))
    numbers = [number for pair in pairs for number in pair[::-1] if isinstance(number, int)]
    yield tuple(numbers)
    sums = [sum(it for it in pair if isinstance(it, int)) for pair in pairs]
    yield tuple(number for total in sums for number in (total // 2, total - total // 2))
    yield tuple(number for total in sums for number in (total - total // 2, total // 2))


def _in_place_of(value: ArgumentValue, other: ArgumentValue) -> Iterator[ArgumentValue]:
    """A value of the other side as one of the kind of ``value``; none of another kind."""
    if isinstance(other, bool):
        return
    if value is None or other is None:
        if isinstance(value, float) or isinstance(other, float):
            yield other
        return
    if isinstance(value, float) and isinstance(other, float):
        yield other
        yield 1 - other  # a momentum the other way round
    elif isinstance(value, int) and isinstance(other, int):
        yield other
    elif isinstance(value, tuple):
        yield from _fitted(other, len(value))


def _fitted(value: ArgumentValue, count: int) -> Iterator[tuple[int, ...]]:
    """A number or a sequence as one of ``count`` numbers: strides of four axes end with those of two."""
    if isinstance(value, int):
        yield (value,) * count
    elif isinstance(value, tuple) and len(value) >= count > 0:
        numbers = [item for item in value if isinstance(item, int)]
        if len(numbers) == len(value):
            yield tuple(numbers[-count:])
