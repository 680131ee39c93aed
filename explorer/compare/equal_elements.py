"""Inputs all of whose elements are equal: what reads them in another layout gives the same."""

from collections.abc import Iterable, Mapping

from explorer.model.alignment import Alignment
from explorer.model.arrays import AnyArray
from explorer.model.findings import EqualElements, ReportFinding


def equal_elements(
    inputs: Mapping[str, AnyArray], alignments: Iterable[Alignment]
) -> tuple[ReportFinding, ...]:
    """A remark on inputs of equal floats, where an unexpected divergence has no known cause."""
    equal = {}
    for name, array in inputs.items():
        if array.dtype.kind == "f" and array.size > 1 and (array == array.flat[0]).all():
            equal[name] = float(array.flat[0])
    if not equal or not any(map(_is_unexplained, alignments)):
        return ()
    return (ReportFinding(fact=EqualElements(equal), names=tuple(equal)),)


def _is_unexplained(alignment: Alignment) -> bool:
    if alignment.expected:
        return False
    places = range(len(alignment.divergences))
    explained = [(alignment.cause(place), alignment.known_at(place)) for place in places]
    if alignment.mended:
        explained += [(seen.cause, seen.known) for seen in alignment.mended.behind]
    return any(not (cause or known) for cause, known in explained)
