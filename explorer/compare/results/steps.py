"""What a step leaves: the state of a net by engine, and the tensors of steps that were recorded elsewhere."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from explorer.compare.graphs.sameness import CLEAR, MINDSPORE_TABLE, in_tables
from explorer.model.arrays import AnyArray, first_elements, unpack
from explorer.model.engines import engine_named
from explorer.model.ranks import OverRanks, RankRelation, TensorKind
from explorer.model.results import Leaf
from explorer.model.state import StateChange, StateGroup, StateRow
from explorer.model.trace import Start, Trace

# The state of a net


def state_rows(state: Mapping[str, Sequence[StateChange]]) -> tuple[StateRow, ...]:
    """A row for each tensor that some engine changes; ``state`` has the changes by engine."""
    by_name: dict[str, dict[str, StateChange]] = {}
    for engine, changes in state.items():
        for change in changes:
            by_name.setdefault(change.name, {})[engine] = change
    rows = []
    for name, of_engines in by_name.items():
        before = next(iter(of_engines.values())).before
        frameworks = {engine_named(engine).framework for engine in of_engines}
        absent = tuple(it for it in state if engine_named(it).framework not in frameworks)
        groups: list[StateGroup] = []
        for engine in (it for it in state if it not in absent):
            after = of_engines[engine].after if engine in of_engines else before
            # The group of engines that leave the same, or one of its own.
            for place, group in enumerate(groups):
                is_shaped = tuple(group.after.shape) == tuple(after.shape)
                arrays = unpack(group.after), unpack(after)
                if is_shaped and any(in_tables(*arrays, group.after.dtype)):
                    groups[place] = StateGroup((*group.engines, engine), group.after)
                    break
            else:
                groups.append(StateGroup((engine,), after))
        rows.append(StateRow(name, before, tuple(groups), absent))
    return tuple(rows)


# Updates of weights

GREATEST_SHARE = 2.0
"""By so much of itself an update may differ: where a gradient is noise, its sign is."""


def alike_updates(left: Trace, right: Trace) -> frozenset[str]:
    """The weights, and what optimizers hold for them, that two steps have updated alike, by name.

    Optimizers divide gradients by their size: an element whose gradient is noise about zero moves as far as
    any other, this way or that. Each element may differ by the share of its update that the noise is
    of its gradient.
    """
    levels = {}
    for graph in (left.graph, right.graph):
        for node in graph.nodes if graph else ():
            noise = node.outputs[0].noise if node.outputs else None
            if node.kind == "output" and noise is not None:
                levels[node.name] = noise
    gradients = {leaf.name: leaf.value for leaf in (*right.results, *left.results)}
    others = {change.name: change for change in right.state}
    alike = set()
    for change in left.state:
        is_weight = f"d{change.name}" in gradients
        result = f"d{change.name if is_weight else change.name.rpartition('.')[0]}"
        level, other = levels.get(result), others.get(change.name)
        if level is None or other is None or result not in gradients:
            continue
        # The elements that a trace keeps, in a row.
        before, after, another, gradient = (
            first_elements(it).astype(np.float64).ravel()
            for it in (change.before, change.after, other.after, gradients[result])
        )
        if not before.shape == after.shape == another.shape == gradient.shape:
            continue
        moved = np.abs(after - before)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.clip(np.nan_to_num(CLEAR * level / np.abs(gradient)), 0.0, GREATEST_SHARE)
        rtol, atol = MINDSPORE_TABLE["float32"]
        room = share * moved + rtol * np.abs(after) + atol * moved.max()
        if (np.abs(after - another) <= room).all():
            alike.add(change.name)
    return frozenset(alike)


# One process beside the ranks of several

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
    if any(array.shape != known[0].shape for array in known) or known[0].shape != whole.shape:
        relation, greatest = _rows(known, whole)
        return OverRanks(name, kind, relation, greatest=greatest)
    room = OF_RANKS * float(np.abs(whole.astype(np.float64)).max(initial=0.0))
    differences: list[float] = []
    for relation, combine in COMBINED.items():
        difference = _difference(combine(known), whole)
        if difference <= room:
            return OverRanks(name, kind, relation, greatest=difference)
        differences.append(difference)
    # The mean over the ranks times one number may give the whole.
    mean = np.mean(known, axis=0)
    square = float((mean * mean).sum())
    factor = float((mean * whole).sum()) / square if np.isfinite(square) and square else 0.0
    if factor and kind != "start" and _difference(factor * mean, whole) <= room:
        return OverRanks(name, kind, "scaled", factor)
    return OverRanks(name, kind, "unlike", greatest=min(differences))


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
