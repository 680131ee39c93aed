"""Ops whose gradient is that of a larger function by convention, where central differences refute it."""

from collections.abc import Iterable

from explorer.compare.framework_graphs import graphs_of_frameworks
from explorer.model.divergence import Place
from explorer.model.engines import engine_named
from explorer.model.families import squashed
from explorer.model.findings import OwnConvention, ReportFinding
from explorer.model.graph import GradGraph
from explorer.model.known import Reference
from explorer.model.report import CaseReport

CTC = Reference("surprise", "ctc_gradient")

CONVENTIONS = {"ctcloss": CTC, "ctclossv2": CTC}
"""What is known of the gradient of an op, by the op's bare name."""


def conventions(graphs: Iterable[GradGraph], case: CaseReport) -> tuple[ReportFinding, ...]:
    """A remark on each such line of a framework whose gradients of the case are refuted."""
    refuted = set()
    for group in case.groups:
        if group.oracle_agrees is False:
            refuted |= {engine_named(name).framework for name in group.engines}
    found: dict[tuple[str, str], ReportFinding] = {}
    for graph in graphs_of_frameworks(graphs):
        if engine_named(graph.engine).framework not in refuted:
            continue
        for node in graph.nodes:
            known = CONVENTIONS.get(squashed(node.op))
            if known is None or node.kind != "op" or node.phase != "forward":
                continue
            place = Place(label=node.op, scope=node.scope, source=next(iter(node.source), ""))
            fact = OwnConvention(place, graph.engine, known)
            remark = ReportFinding(fact=fact, names=(place.scope or place.label,))
            found.setdefault((graph.engine, place.source), remark)
    return tuple(found.values())
