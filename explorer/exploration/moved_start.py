"""A start of zeros, behind which a mistake changes nothing, and the same start without the zeros."""

import msgspec
import numpy as np

from explorer.model.arrays import pack, unpack
from explorer.model.findings import HiddenByZeros, ReportFinding, ZeroGradients
from explorer.model.report import Report
from explorer.model.requests import ParameterSpec
from explorer.scenario.common_start import Nets
from explorer.scenario.value_matching import drawn

AGREE = frozenset({"match", "close"})
"""The verdicts on a case in which no engine differs from another."""


def hiding(report: Report, nets: Nets) -> ZeroGradients | None:
    """The gradients of a case without a difference that are 0 in every engine, behind parameters of zeros."""
    case = report.cases[0]
    zeros = tuple(name for name in nets.trainable if not unpack(nets.parameters[name]).any())
    gradients = [
        {leaf.name for leaf in result.leaves if not unpack(leaf.value).any()}
        for result in case.results.values()
        if result.outcome == "ok"
    ]
    is_divided = case.verdict not in AGREE or any(it.divergence for it in report.alignments)
    if not zeros or not gradients or is_divided:
        return None
    still = set.intersection(*gradients)
    names = tuple(name for name in nets.trainable if f"d{name}" in still)
    return ZeroGradients(names, zeros) if names else None


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


def seen(hidden: ZeroGradients, moved: Report) -> ReportFinding:
    """What a report on the same case from the other start shows of what zeros hide."""
    for alignment in moved.alignments:
        if alignment.divergence is not None:
            engines = alignment.left, alignment.right
            found = HiddenByZeros(hidden, engines, alignment.divergence)
            return ReportFinding(fact=found, names=hidden.names)
    agree = all(case.verdict in AGREE for case in moved.cases)
    fact = msgspec.structs.replace(hidden, agree_elsewhere=agree)
    return ReportFinding(fact=fact, names=hidden.names)
