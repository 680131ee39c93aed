"""What one process computes in a step, beside the ranks of several."""

from collections.abc import Iterator, Sequence

import numpy as np

from explorer.model.arrays import AnyArray, unpack
from explorer.model.ranks import OverRanks, RankRelation, TensorKind
from explorer.model.results import Leaf
from explorer.model.trace import Start, Trace

OF_RANKS = 1e-4
"""Two tensors are the same when they differ by at most this share of their greatest element.

As in alignments without noise: the order of the sums is another one, and the noise of a trace is not known.
"""


def over_ranks(ranks: Sequence[Trace], whole: Trace) -> Iterator[OverRanks]:
    """Each tensor that the whole step starts from, its losses and gradients, beside those of the ranks."""
    every = [_tensors(rank) for rank in ranks]
    for key, tensor in _tensors(whole).items():
        known = [it[key].value for it in every if key in it]
        is_whole = len(known) == len(ranks) and all(it.excerpt is None for it in known)
        if is_whole and tensor.value.excerpt is None:
            yield _over_ranks(tensor.name, key[0], [*map(unpack, known)], unpack(tensor.value))
        else:
            yield OverRanks(tensor.name, key[0], "unknown")


def _tensors(trace: Trace) -> dict[tuple[TensorKind, str | int], Start | Leaf]:
    """What is compared of a step: by its name, but for inputs.

    What a module is called with has another name where it is wrapped: inputs go by their order.
    """
    found: dict[tuple[TensorKind, str | int], Start | Leaf] = {}
    for start in trace.start:
        if start.role in ("parameter", "buffer"):
            found["start", start.name] = start
    for place, given in enumerate(it for it in trace.start if it.role == "input"):
        found["data", place] = given
    for leaf in trace.results:
        found["gradient" if leaf.name.startswith("d") else "loss", leaf.name] = leaf
    return found


def _over_ranks(name: str, kind: TensorKind, known: list[AnyArray], whole: AnyArray) -> OverRanks:
    """How a tensor of the whole step comes of those of the ranks."""
    if any(array.shape != whole.shape for array in known):
        relation, greatest = _rows(known, whole)
        return OverRanks(name, kind, relation, greatest=greatest)
    room = OF_RANKS * float(np.abs(whole.astype(np.float64)).max(initial=0.0))
    alike = (np.array_equal(it, known[0], equal_nan=it.dtype.kind == "f") for it in known)
    combined: dict[RankRelation, AnyArray] = {
        "each": known[0] if all(alike) else np.full(whole.shape, np.nan),
        "mean": np.mean(known, axis=0, dtype=np.float64),
        "sum": np.sum(known, axis=0, dtype=np.float64),
    }
    differences = {relation: _difference(it, whole) for relation, it in combined.items()}
    for relation, difference in differences.items():
        if difference <= room:
            return OverRanks(name, kind, relation, greatest=difference)
    # The mean over the ranks times one number may give the whole.
    mean = np.mean(known, axis=0)
    square = float((mean * mean).sum())
    factor = float((mean * whole).sum()) / square if np.isfinite(square) and square else 0.0
    if factor and kind != "start" and _difference(factor * mean, whole) <= room:
        return OverRanks(name, kind, "scaled", factor)
    return OverRanks(name, kind, "unlike", greatest=min(differences.values()))


def _rows(ranks: list[AnyArray], whole: AnyArray) -> tuple[RankRelation, float]:
    """The relation of tensors whose shapes differ: the whole may have the rows of all ranks."""
    if whole.ndim == 0 or any(array.shape[1:] != whole.shape[1:] for array in ranks):
        return "unlike", 0.0
    joined = np.concatenate(ranks)
    if joined.shape != whole.shape:
        return "unlike", 0.0
    if np.array_equal(joined, whole):
        return "joined", 0.0
    rows = [array.reshape(len(array), -1) for array in (joined, whole)]
    is_shuffled = np.array_equal(*(it[np.lexsort(it.T[::-1])] for it in rows))
    return "shuffled" if is_shuffled else "unlike", _difference(joined, whole)


def _difference(one: AnyArray, other: AnyArray) -> float:
    """The greatest difference; infinite where one of them has a nan."""
    if one.size == 0:
        return 0.0
    greatest = np.abs(np.asarray(one, np.float64) - np.asarray(other, np.float64)).max()
    return float(np.inf if np.isnan(greatest) else greatest)
