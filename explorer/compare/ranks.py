"""How the tensors of a step of one process come of those that the ranks of a distributed step have."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from explorer.model.arrays import AnyArray, Array, unpack
from explorer.model.ranks import OverRanks, RankRelation, TensorKind
from explorer.model.trace import Trace

ROUNDING = 1e-4
"""Two tensors are the same when they differ by at most this share of their greatest element.

As in alignments without noise: the order of the sums is another one, and the noise of a trace is not known.
"""


class Found(NamedTuple):
    """A relation that fits, with its factor and the greatest difference from what it gives."""

    relation: RankRelation
    factor: float = 1.0
    greatest: float = 0.0


def over_ranks(ranks: Sequence[Trace], whole: Trace) -> Iterator[OverRanks]:
    """Each tensor that the whole step starts from, its losses and gradients, beside those of the ranks."""
    for start in whole.start:
        if start.role in ("parameter", "buffer"):
            of_ranks = [_start(rank, start.name) for rank in ranks]
            yield _over_ranks(start.name, "start", of_ranks, start.value)
    # What a module is called with has another name where it is wrapped: inputs go by their order.
    for place, (name, value) in enumerate(_inputs(whole)):
        given = [_inputs(rank) for rank in ranks]
        of_ranks = [inputs[place][1] if place < len(inputs) else None for inputs in given]
        yield _over_ranks(name, "data", of_ranks, value)
    for leaf in whole.results:
        kind: TensorKind = "gradient" if leaf.name.startswith("d") else "loss"
        yield _over_ranks(leaf.name, kind, [_result(rank, leaf.name) for rank in ranks], leaf.value)


def _start(rank: Trace, name: str) -> Array | None:
    return next((start.value for start in rank.start if start.name == name), None)


def _inputs(trace: Trace) -> list[tuple[str, Array]]:
    return [(start.name, start.value) for start in trace.start if start.role == "input"]


def _result(rank: Trace, name: str) -> Array | None:
    return next((leaf.value for leaf in rank.results if leaf.name == name), None)


def _over_ranks(
    name: str, kind: TensorKind, of_ranks: Sequence[Array | None], of_whole: Array
) -> OverRanks:
    known = [array for array in of_ranks if array is not None and array.excerpt is None]
    if len(known) < len(of_ranks) or of_whole.excerpt is not None:
        return OverRanks(name, kind, "unknown")
    found = _relation([unpack(array) for array in known], unpack(of_whole), kind)
    return OverRanks(name, kind, found.relation, found.factor, found.greatest)


def _relation(ranks: list[AnyArray], whole: AnyArray, kind: TensorKind) -> Found:
    if any(array.shape != ranks[0].shape for array in ranks) or ranks[0].shape != whole.shape:
        return _rows(ranks, whole)
    differences: dict[RankRelation, float] = {}
    for relation, combine in COMBINED.items():
        difference = _difference(combine(ranks), whole)
        if difference <= _room(whole):
            return Found(relation, greatest=difference)
        differences[relation] = difference
    factor = _factor(np.mean(ranks, axis=0), whole)
    if factor is not None and kind != "start":
        return Found("scaled", factor)
    return Found("unlike", greatest=min(differences.values()))


def _each(ranks: list[AnyArray]) -> AnyArray:
    """The tensor that all ranks have; nan where they differ."""
    is_same = all(
        np.array_equal(array, ranks[0], equal_nan=array.dtype.kind == "f") for array in ranks
    )
    return ranks[0] if is_same else np.full(ranks[0].shape, np.nan)


COMBINED: dict[RankRelation, Callable[[list[AnyArray]], AnyArray]] = {
    "each": _each,
    "mean": lambda ranks: np.mean(ranks, axis=0, dtype=np.float64),
    "sum": lambda ranks: np.sum(ranks, axis=0, dtype=np.float64),
}
"""What a tensor of the whole may be, of the ranks' tensors of its shape."""


def _rows(ranks: list[AnyArray], whole: AnyArray) -> Found:
    """The relation of tensors whose shapes differ: the whole may have the rows of all ranks."""
    if whole.ndim == 0 or any(array.shape[1:] != whole.shape[1:] for array in ranks):
        return Found("unlike")
    joined = np.concatenate(ranks)
    if joined.shape != whole.shape:
        return Found("unlike")
    if np.array_equal(joined, whole):
        return Found("joined")
    is_shuffled = np.array_equal(_sorted_rows(joined), _sorted_rows(whole))
    return Found("shuffled" if is_shuffled else "unlike", greatest=_difference(joined, whole))


def _sorted_rows(array: AnyArray) -> AnyArray:
    rows = array.reshape(len(array), -1)
    ordered: AnyArray = rows[np.lexsort(rows.T[::-1])]
    return ordered


def _difference(one: AnyArray, other: AnyArray) -> float:
    """The greatest difference; infinite where one of them has a nan."""
    if one.size == 0:
        return 0.0
    greatest = np.abs(np.asarray(one, np.float64) - np.asarray(other, np.float64)).max()
    return float(np.inf if np.isnan(greatest) else greatest)


def _room(whole: AnyArray) -> float:
    return ROUNDING * float(np.abs(whole.astype(np.float64)).max(initial=0.0))


def _factor(mean: AnyArray, whole: AnyArray) -> float | None:
    """What the mean over the ranks is multiplied by to give the whole; None where that is no one number."""
    square = float((mean * mean).sum())
    if not np.isfinite(square) or square == 0:
        return None
    factor = float((mean * whole).sum()) / square
    return factor if factor and _difference(factor * mean, whole) <= _room(whole) else None
