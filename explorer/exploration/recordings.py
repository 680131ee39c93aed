"""Checks that recording a graph did not change the result, and reports it if it did."""

from collections.abc import Iterator, Mapping

import numpy as np

from explorer.model.arrays import unpack
from explorer.model.findings import RecordedOtherwise, ReportFinding
from explorer.model.results import Captured, Result
from explorer.numeric.differences import elementwise_difference, real_parts


def recorded_otherwise(
    captured: Mapping[str, Captured], results: Mapping[str, Result]
) -> Iterator[ReportFinding]:
    """A finding for each engine whose recorded run gave other bits than its plain one.

    ``results`` are the plain answers to the case that was recorded. In float64 MindSpore's tape hands
    numbers to operators in single precision while it is watched (2.10.0).
    """
    for engine, record in captured.items():
        plain = results.get(engine)
        if plain is None or plain.outcome != "ok" or record.result.outcome != "ok":
            continue
        sizes = _different(record.result, plain)
        if sizes:
            yield ReportFinding(fact=RecordedOtherwise(engine, sizes), names=tuple(sizes))


def _different(recorded: Result, plain: Result) -> dict[str, float]:
    """The greatest difference of each leaf that is not the same bit for bit."""
    others = {leaf.name: unpack(leaf.value) for leaf in plain.leaves}
    found: dict[str, float] = {}
    for leaf in recorded.leaves:
        values, other = unpack(leaf.value), others.get(leaf.name)
        if other is None or other.shape != values.shape or values.dtype.kind not in "fc":
            continue
        # In parts: a complex number is a NaN as soon as one of its parts is.
        one, another = real_parts(values), real_parts(other)
        if not np.array_equal(one, another, equal_nan=True):
            found[leaf.name] = float(elementwise_difference(one, another).max(initial=0.0))
    return found
