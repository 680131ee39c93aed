"""A start of zeros, behind which a mistake changes nothing, and the same start without the zeros."""

from collections.abc import Iterable

import msgspec
import numpy as np

from explorer.model.arrays import Array, pack, unpack
from explorer.model.cases import GradCase
from explorer.model.findings import HiddenByZeros, ReportFinding, ZeroGradients
from explorer.model.report import Report
from explorer.model.requests import ParameterSpec
from explorer.scenario.common_start import Nets
from explorer.scenario.value_matching import drawn

AGREE = frozenset({"match", "close"})
"""The verdicts on a case in which no engine differs from another."""


def hiding(report: Report, main: GradCase, nets: Nets) -> ZeroGradients | None:
    """The gradients of the main case that are 0 in every engine, behind parameters of zeros.

    None where engines differ, or no gradient is.
    """
    zeros = tuple(name for name in nets.trainable if _is_zero(nets.parameters[name]))
    names = _without_gradient(report, main, nets.trainable)
    is_divided = any(it.divergence for it in report.alignments) or not _agree(report, main)
    return ZeroGradients(names, zeros) if zeros and names and not is_divided else None


def _agree(report: Report, main: GradCase) -> bool:
    return all(case.verdict in AGREE for case in report.cases if case.case == main)


def _without_gradient(report: Report, main: GradCase, names: Iterable[str]) -> tuple[str, ...]:
    """The parameters whose gradients in the main case are exactly 0 in every engine that has answered."""
    gradients: list[set[str]] = []
    for case in report.cases:
        for result in case.results.values():
            if case.case == main and result.outcome == "ok":
                zero = {leaf.name for leaf in result.leaves if _is_zero(leaf.value)}
                gradients.append(zero)
    zeros = set.intersection(*gradients) if gradients else set()
    return tuple(name for name in names if f"d{name}" in zeros)


def _is_zero(array: Array) -> bool:
    """Whether all elements are exactly 0; of a large array its figures say so."""
    if array.excerpt is None:
        return not unpack(array).any()
    known = array.excerpt.summary
    return known.minimum == known.maximum == 0 and not known.nonfinite


def without_zeros(nets: Nets, zeros: tuple[str, ...]) -> Nets:
    """The nets with other values in some parameters, alike in every engine."""
    start = {}
    for name in zeros:
        array = nets.parameters[name]
        spec = ParameterSpec(name=name, path=name, role="trained", value=array)
        start[name] = pack(drawn(name, spec).reshape(array.shape).astype(np.float32), array.dtype)
    requests = {}
    for engine, request in nets.requests.items():
        parameters = request.parameters | start
        requests[engine] = msgspec.structs.replace(request, parameters=parameters)
    return msgspec.structs.replace(nets, requests=requests, parameters=nets.parameters | start)


def seen(hidden: ZeroGradients, moved: Report, main: GradCase) -> tuple[ReportFinding, ...]:
    """What a report on the same case from the other start shows of what zeros hide."""
    still = _without_gradient(moved, main, hidden.names)
    names = tuple(name for name in hidden.names if name not in still)
    for alignment in moved.alignments:
        if alignment.divergence is not None:
            engines = alignment.left, alignment.right
            found = HiddenByZeros(hidden, engines, alignment.divergence)
            return (ReportFinding(fact=found, names=hidden.names),)
    # What is 0 from any start, as that of a parameter without use, is no work of the zeros.
    fact = ZeroGradients(names, hidden.zeros, agree_elsewhere=_agree(moved, main))
    return (ReportFinding(fact=fact, names=names),) if names else ()
