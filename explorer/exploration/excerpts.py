"""What a report keeps of large tensors once a case is judged."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec
import numpy as np

from explorer.model.arrays import Array
from explorer.model.report import CaseReport, Difference
from explorer.model.results import Leaf, Result
from explorer.numeric.summaries import excerpt

Index = tuple[int, ...]


def abridged(report: CaseReport) -> CaseReport:
    """A case whose large tensors are excerpts; the elements that its differences name stay."""
    indices: dict[str, list[Index]] = {}
    for difference in _differences(report):
        if difference.what == "value":
            indices.setdefault(difference.leaf, []).append(difference.index)
    results = {}
    for engine, result in report.results.items():
        results[engine] = _abridged_result(result, indices)
    return msgspec.structs.replace(report, results=results)


def without_values(result: Result) -> Result:
    """A result of which only the outcome is needed."""
    return msgspec.structs.replace(result, leaves=(), structure="")


def abridged_leaf(leaf: Leaf, indices: Sequence[Index] = ()) -> Leaf:
    """A leaf, a large one as an excerpt with the elements at ``indices``."""
    value = leaf.value
    return Leaf(leaf.name, excerpt(value, (_place(value, index) for index in indices)))


def _differences(report: CaseReport) -> Iterator[Difference]:
    if report.greatest:
        yield report.greatest
    for group in report.groups:
        yield from group.marks


def _abridged_result(result: Result, indices: Mapping[str, list[Index]]) -> Result:
    leaves = [abridged_leaf(leaf, indices.get(leaf.name, ())) for leaf in result.leaves]
    return msgspec.structs.replace(result, leaves=tuple(leaves))


def _place(value: Array, index: Index) -> int:
    """The flat index of an element; a complex number has one index more, that of its part."""
    return int(np.ravel_multi_index(index[: len(value.shape)], value.shape))
