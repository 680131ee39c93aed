"""A divergence in words and figures, as its record holds it."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from explorer.compare.align.fingerprints import elements, noise_of_both
from explorer.compare.align.sides import OutputValue, Side, Vertex
from explorer.compare.noise import farthest, ratios
from explorer.model.alignment import Divergence
from explorer.model.graph import Phase
from explorer.numeric.differences import Floats, elementwise_difference
from explorer.text.numbers import against_noise, digits

FIRST = "First divergence"
"""The words that the sentence of a divergence begins with."""

FEW_ELEMENTS = 6
"""A value of at most so many elements is read as a whole."""

UNEXPLAINED = 0.01
"""The part of a difference that may be left where values are told to differ in their order.

Two that each rise a little towards 1, and are not the same, are close in ascending order too.
"""


@dataclass(frozen=True)
class Finding:
    """A divergence, and every node of either side that takes part in it.

    ``ends`` are a node of each side that would be the same quantity but for the divergence, where
    there are such.
    """

    divergence: Divergence | None
    parts: frozenset[Vertex]
    ends: tuple[Vertex, Vertex] | None = None


NO_DIVERGENCE = Finding(None, frozenset())


@dataclass(frozen=True)
class Contrast:
    """Two values that should have been equal, in words.

    ``value`` and ``other`` are how they read, ``greatest`` is their greatest difference, ``ratio``
    times their ``noise``, and ``note`` says what the difference looks like.
    """

    value: str
    other: str
    greatest: float | None = None
    note: str = ""
    noise: float | None = None
    ratio: float | None = None

    def in_words(self, with_note: bool = True) -> str:
        """Both readings, and what is known about their difference in brackets.

        The note speaks of the first and the second of the two.
        """
        known = []
        if self.greatest is not None:
            figure = f"greatest difference {self.greatest:.3g}"
            known.append(against_noise(figure, self.noise, self.ratio))
        if self.note and with_note:
            known.append(self.note)
        brackets = f" ({'; '.join(known)})" if known else ""
        return f"{self.value} against {self.other}{brackets}"


# Nodes


def named(node: Vertex) -> str:
    """A node as a reader finds it: `MatMul` (fc, net.py:12).

    Where a net calls that line from several, the one that did so here follows.
    """
    label = node.name if node.is_leaf and node.name else node.op
    call = ""
    if node.caller and node.side.is_called_from_several_lines(node):
        call = f"called at {node.caller}"
    return labelled(label, node.scope, node.source, call)


def labelled(label: str, *where: str) -> str:
    """An op and where it stands, as far as that is known: `MatMul` (fc, net.py:12)."""
    place = ", ".join(part for part in where if part)
    return f"`{label}` ({place})" if place else f"`{label}`"


def row_of(nodes: list[Vertex]) -> str:
    """Ops in a row: the first as a reader finds it, and the last by name."""
    if len(nodes) == 1:
        return named(nodes[0])
    return f"the {len(nodes)} ops from {named(nodes[0])} to `{nodes[-1].op}`"


# Values


def reading(value: OutputValue) -> str:
    """A value as a reader knows it: its elements when they are few, else its shape and mean."""
    if value.summary is None:
        return "not observed"
    whole = value.summary.whole
    if whole is not None and whole.data and value.size <= FEW_ELEMENTS:
        return digits(elements(whole).reshape(value.shape))
    return f"{_shape(value)} with mean {value.summary.mean:.5g}"


def contrast(value: OutputValue, other: OutputValue) -> Contrast:
    """Reads two values at their greatest difference, or by shape where their sizes differ."""
    if value.summary is None or other.summary is None:
        return Contrast(reading(value), reading(other))
    if value.size != other.size:
        return Contrast(_shape(value), _shape(other))
    if value.whole is None or other.whole is None:
        # Of large values only order statistics are known: the difference of these has to do.
        quantiles = np.array(value.summary.quantiles), np.array(other.summary.quantiles)
        return _at_greatest(value, other, *quantiles, note="")
    own, others = elements(value.whole), elements(other.whole)
    note = _note(own, others, _common_shape(value, other))
    return _at_greatest(value, other, own, others, note)


def _common_shape(value: OutputValue, other: OutputValue) -> tuple[int, ...]:
    """The shape of two values; that of their elements in a row where they have two."""
    return value.shape if value.shape == other.shape else (value.size,)


def _shape(value: OutputValue) -> str:
    return f"shape {list(value.shape)}"


def _at_greatest(
    value: OutputValue, other: OutputValue, own: Floats, others: Floats, note: str
) -> Contrast:
    """Two values at the one of these figures of theirs that stands clearest of the noise."""
    if not own.size or own.shape != others.shape:
        return Contrast(_finiteness(own), _finiteness(others), note=note)
    differences = elementwise_difference(own, others)
    noise = noise_of_both(value, other, _finite_sizes(own, others))
    # Without a level, all figures stand as clear as they differ.
    times = differences if noise is None else ratios(own, others, noise, np.zeros(noise.shape))
    place = farthest(differences, times)
    return Contrast(
        value=f"{own[place]:.6g}",
        other=f"{others[place]:.6g}",
        greatest=_if_finite(differences[place]),
        note=note,
        noise=None if noise is None else float(noise[place]),
        ratio=None if noise is None else _if_finite(times[place]),
    )


def _finite_sizes(own: Floats, others: Floats) -> Floats:
    """The greater of two elements in size; 0 for what is not finite."""
    sizes = np.maximum(np.abs(own), np.abs(others))
    return np.where(np.isfinite(sizes), sizes, 0.0)


def _if_finite(figure: float) -> float | None:
    return float(figure) if np.isfinite(figure) else None


def _finiteness(value: Floats) -> str:
    return "finite" if value.size else "nothing finite"


def _note(value: Floats, other: Floats, shape: tuple[int, ...]) -> str:
    """The kind of a difference, if it has one: a transpose, another order, a sign, a factor."""
    # A complex tensor has two numbers for each element, which a real one of its shape has not.
    if not value.size or value.shape != other.shape or not np.isfinite([value, other]).all():
        return ""
    if _are_close(value, other) or not _is_explained_by_order(value, other):
        return _factor_note(value, other)
    is_real_matrix = len(shape) == 2 and value.size == math.prod(shape)
    if is_real_matrix and _are_close(value.reshape(shape).T.ravel(), other):
        return "the same numbers, transposed"
    return "the same numbers in another order"


def _is_explained_by_order(value: Floats, other: Floats) -> bool:
    """Whether values are close in ascending order, and far closer than as they stand."""
    own, others = np.sort(value), np.sort(other)
    left, whole = np.abs(own - others).max(), np.abs(value - other).max()
    return _are_close(own, others) and bool(left <= UNEXPLAINED * whole)


def _are_close(one: Floats, other: Floats) -> bool:
    return bool(np.allclose(one, other, rtol=1e-4, atol=1e-7))


def _factor_note(value: Floats, other: Floats) -> str:
    """The factor between two values, where there is one for all elements and it says something."""
    factor = _common_factor(value, other)
    if factor is None or abs(factor - 1) < 1e-3:
        return ""
    if abs(factor + 1) < 1e-5:
        return "opposite in sign"

    greater, smaller = ("second", "first") if abs(factor) < 1 else ("first", "second")
    times = 1 / factor if abs(factor) < 1 else factor
    # Any two numbers have a quotient: of a single element, only a whole one is worth a word.
    if value.size == 1 and abs(times - round(times)) > 1e-4 * abs(times):
        return ""
    return f"the {greater} is {times:.5g} times the {smaller}"


def _common_factor(value: Floats, other: Floats) -> float | None:
    """The factor from the other value to the first, where it is the same for all elements."""
    nonzero = other != 0
    if not nonzero.any() or value[~nonzero].any():
        return None
    ratios = value[nonzero] / other[nonzero]
    factor = float(np.median(ratios))
    is_common = factor != 0 and np.allclose(ratios, factor, rtol=1e-4, atol=0)
    return factor if is_common else None


# Divergences


class _End(NamedTuple):
    """One side of a divergence; ``node`` is None where it has no counterpart."""

    node: str | None
    source: str
    value: str


def between(
    node: Vertex,
    other: Vertex,
    phase: Phase,
    sentence: str,
    readings: Contrast,
    parts: Iterable[Vertex],
    ends: tuple[Vertex, Vertex] | None = None,
) -> Finding:
    """A divergence between a node of each side; ``readings`` begin with the first node's value."""
    here = _End(node.id, node.source, readings.value)
    there = _End(other.id, other.source, readings.other)
    divergence = _divergence(here, there, node.side, phase, sentence, readings)
    return Finding(divergence, frozenset(parts), ends)


def on_one_side(
    node: Vertex,
    phase: Phase,
    sentence: str,
    readings: Contrast,
    parts: Iterable[Vertex],
    source: str = "",
    ends: tuple[Vertex, Vertex] | None = None,
) -> Finding:
    """A divergence at a node that the other side has no counterpart of.

    ``readings`` begin with the node's value; ``source`` is used where the node has none.
    """
    here = _End(node.id, node.source or source, readings.value)
    there = _End(None, "", readings.other)
    divergence = _divergence(here, there, node.side, phase, sentence, readings)
    return Finding(divergence, frozenset(parts), ends)


def _divergence(
    here: _End, there: _End, side: Side, phase: Phase, sentence: str, readings: Contrast
) -> Divergence:
    """The record of a divergence; ``here`` is on ``side``."""
    left, right = (here, there) if side.is_left else (there, here)
    return Divergence(
        left=left.node,
        right=right.node,
        phase=phase,
        sentence=sentence,
        left_source=left.source,
        right_source=right.source,
        left_value=left.value,
        right_value=right.value,
        greatest=readings.greatest,
        noise=readings.noise,
        ratio=readings.ratio,
    )
