"""Ill-conditioned places: ops that multiply rounding, told by the measured noise of their values."""

from collections.abc import Iterable, Iterator
from math import inf, isfinite, prod, sqrt
from typing import NamedTuple

from explorer.compare.align.families import family
from explorer.model.divergence import Place
from explorer.model.engines import ENGINES, Framework
from explorer.model.findings import IllConditioned, ReportFinding
from explorer.model.graph import GradGraph, Node, Output
from explorer.numeric.summaries import UNIT

MULTIPLIES = 1e3
"""An op that multiplies the noise by this much, relative to the size of its values, is told.

Three of the seven digits of float32 are lost there. The 12,500 op values of the shipped scenarios
are multiplied by less than 5 in 99 of 100 ops, and by less than 250 in all of them.
"""

SERIOUS = 1e-5
"""Values with less noise than this, relative to their size, are good enough: float64 has digits to lose."""

ZERO = 1 / 8
"""Noise of this share of a value that cancels makes it a zero.

Such is the gradient of a bias before a batch norm: nothing is lost, it is 0 by its formula.
"""

SUMS = frozenset({"add", "sub", "sum", "mean", "matmul", "conv"})
"""Families of ops whose terms may cancel in forward; in backward the terms of any op may."""

Slot = tuple[str, int]
"""The id of a node, and the number of one of its outputs."""


class _Place(NamedTuple):
    """An op that multiplies noise: from ``entering`` to ``leaving``, relative to the values."""

    node: Node
    entering: float
    leaving: float

    @property
    def factor(self) -> float:
        return self.leaving / self.entering


def ill_conditioned(graphs: Iterable[GradGraph]) -> tuple[ReportFinding, ...]:
    """A remark on each line of code at which rounding is multiplied, the worst of a framework first.

    Of a framework's graphs the tape's is looked at where there is one: its nodes are measured
    themselves, and a compiled graph has the same places.
    """
    by_framework: dict[Framework, GradGraph] = {}
    for graph in graphs:
        engine = ENGINES[graph.engine]
        if engine.style == "tape" or engine.framework not in by_framework:
            by_framework[engine.framework] = graph
    findings: list[ReportFinding] = []
    for graph in by_framework.values():
        findings += [_remark(graph.engine, places) for places in _by_line(_places(graph))]
    return tuple(findings)


def _places(graph: GradGraph) -> Iterator[_Place]:
    """The ops of a graph that multiply noise."""
    noise = _relative_noise(graph)
    read: dict[str, list[Slot]] = {}
    for edge in graph.edges:
        if edge.kind != "control":
            read.setdefault(edge.target, []).append((edge.origin, edge.output))
    for node in graph.nodes:
        entering = [noise.get(slot) for slot in read.get(node.id, ())]
        known = [share for share in entering if share is not None]
        # An input of which nothing is known may be as noisy as what comes out.
        if node.kind == "op" and len(known) == len(entering):
            yield from _multiplied(node, noise, max(known, default=0.0))


def _multiplied(node: Node, noise: dict[Slot, float], entering: float) -> Iterator[_Place]:
    for slot, output in enumerate(node.outputs):
        leaving = noise.get((node.id, slot))
        if leaving is None or output.dtype not in UNIT or not isfinite(leaving):
            continue
        place = _Place(node, max(entering, UNIT[output.dtype]), leaving)
        if place.factor >= MULTIPLIES and leaving >= SERIOUS and not _is_zero(node, leaving):
            yield place


def _is_zero(node: Node, leaving: float) -> bool:
    """Whether a value is nothing but noise because its terms cancel."""
    cancels = node.phase == "backward" or family(node.op) in SUMS
    return cancels and leaving >= ZERO


def _relative_noise(graph: GradGraph) -> dict[Slot, float]:
    """The noise of the outputs of all nodes as a share of their size, where it is known."""
    shares = {}
    for node in graph.nodes:
        for slot, output in enumerate(node.outputs):
            share = _share(output)
            if share is not None:
                shares[node.id, slot] = share
    return shares


def _share(output: Output) -> float | None:
    """An output's noise relative to the root mean square of its values."""
    if output.values is None or output.noise is None or output.values.nonfinite:
        return None
    if not output.noise:
        return 0.0
    size = output.values.norm / sqrt(prod(output.shape))
    return output.noise / size if size else inf


def _by_line(places: Iterable[_Place]) -> list[list[_Place]]:
    """Places line by line, the worst of a line first, and of the lines."""
    by_line: dict[tuple[str, ...], list[_Place]] = {}
    for place in sorted(places, key=lambda place: -place.factor):
        node = place.node
        by_line.setdefault(node.source[:1] or (node.op, node.scope), []).append(place)
    return list(by_line.values())


def _remark(engine: str, places: list[_Place]) -> ReportFinding:
    """A line of code, by the worst of its places."""
    node, entering, leaving = places[0]
    others = {place.node.id for place in places} - {node.id}
    fact = IllConditioned(
        place=Place(label=node.op, scope=node.scope, source=next(iter(node.source), "")),
        engine=engine,
        factor=places[0].factor,
        entering=entering,
        leaving=leaving,
        others=len(others),
    )
    return ReportFinding(fact=fact, names=(node.scope or node.op,))
