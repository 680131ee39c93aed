"""What is remarkable about the graphs and values of a case, beside the divergences of its graphs."""

import re
from collections.abc import Iterable, Iterator, Mapping
from math import inf, isfinite, prod
from typing import NamedTuple

from explorer.compare.graphs.levels import usual_size
from explorer.compare.graphs.view import GraphView
from explorer.compare.results.non_finite import place_of
from explorer.model.alignment import Alignment
from explorer.model.arrays import AnyArray
from explorer.model.engines import Framework, engine_named
from explorer.model.findings import (
    EqualElements,
    IllConditioned,
    OwnConvention,
    RandomDraw,
    ReportFinding,
    SilentBroadcast,
)
from explorer.model.graph import GradGraph, Node, Output
from explorer.model.known import Reference
from explorer.model.report import CaseReport
from explorer.numeric.summaries import UNIT
from explorer.operators.families import family, squashed


def _graphs_of_frameworks(graphs: Iterable[GradGraph]) -> list[GradGraph]:
    """A graph of each framework, in the order of the first of each: the tape's where there is one.

    The nodes of a tape are measured themselves, and a compiled graph has the same places.
    """
    by_framework: dict[Framework, GradGraph] = {}
    for graph in graphs:
        engine = engine_named(graph.engine)
        if engine.style == "tape" or engine.framework not in by_framework:
            by_framework[engine.framework] = graph
    return list(by_framework.values())


def _is_forward(node: Node) -> bool:
    return node.kind == "op" and node.phase == "forward"


# Broadcasts

REDUCTIONS = frozenset({"mean", "sum"})
"""Families that make one number of a tensor."""

LOSSES = frozenset(
    {"mseloss", "l1loss", "smoothl1loss", "huberloss", "binarycrossentropy", "bcewithlogits"}
)
"""Families of element-wise losses that reduce to a number themselves."""

SPREADING = frozenset({"expand"})
"""Families in which a broadcast is an op of its own."""

FAR = 6
"""Ops between a broadcast and the reduction to a loss that are looked at."""

Shape = tuple[int, ...]


def silent_broadcasts(graphs: Iterable[GradGraph]) -> tuple[ReportFinding, ...]:
    """A remark on each line that broadcasts (n, 1) against (n,) to (n, n) and makes a loss of it."""
    found: dict[tuple[str, str], SilentBroadcast] = {}
    for graph in _graphs_of_frameworks(graphs):
        flow = GraphView(graph)
        for node in graph.nodes:
            if not _is_forward(node) or family(node.op) in SPREADING:
                continue
            shapes = _paired([_before_spreading(flow, it) for it in flow.origins(node)])
            if shapes is not None and _becomes_a_loss(flow, node, shapes):
                fact = SilentBroadcast(place_of(node), graph.engine, shapes)
                found.setdefault((graph.engine, fact.place.source), fact)
    return tuple(map(_remark, found.values()))


def _remark(fact: SilentBroadcast | OwnConvention | IllConditioned) -> ReportFinding:
    return ReportFinding(fact=fact, names=(fact.place.scope or fact.place.label,))


def _before_spreading(flow: GraphView, node: Node) -> Node:
    """What a tensor was before it was expanded."""
    while family(node.op) in SPREADING and len(flow.origins(node)) == 1:
        (node,) = flow.origins(node)
    return node


def _paired(operands: list[Node]) -> tuple[Shape, Shape] | None:
    """The shapes of two operands like (n, 1) and (n,), neither of them a parameter."""
    if len(operands) != 2 or any(node.kind == "parameter" for node in operands):
        return None
    if not all(node.outputs for node in operands):
        return None
    first, second = (node.outputs[0].shape for node in operands)
    longer, shorter = (first, second) if len(first) > len(second) else (second, first)
    n = prod(shorter)
    is_column = len(shorter) == 1 and len(longer) == 2 and longer == (n, 1)
    return (first, second) if is_column and n > 1 else None


def _becomes_a_loss(flow: GraphView, node: Node, shapes: tuple[Shape, Shape]) -> bool:
    """Whether an op is a loss, or what it yields goes element by element into a mean or a sum."""
    if family(node.op) in LOSSES:
        return True
    size = prod(shapes[0]) ** 2
    for _step in range(FAR):
        users = {edge.target for edge in flow.out_of(node)}
        following = [it for it in map(flow.nodes.__getitem__, users) if it.phase == "forward"]
        if len(following) != 1 or not following[0].outputs:
            return False
        (node,) = following
        left = prod(node.outputs[0].shape)
        if left == 1:
            return family(node.op) in REDUCTIONS
        if left != size:
            return False
    return False


# Gradients by convention

CTC = Reference("surprise", "ctc_gradient")

CONVENTIONS = {"ctcloss": CTC, "ctclossv2": CTC}
"""Ops by their bare names whose gradient is that of a larger function, and what is known of it."""


def conventions(graphs: Iterable[GradGraph], case: CaseReport) -> tuple[ReportFinding, ...]:
    """A remark on each such line of a framework whose gradients of the case are refuted."""
    groups = [group for group in case.groups if group.oracle_agrees is False]
    refuted = {engine_named(name).framework for group in groups for name in group.engines}
    found: dict[tuple[str, str], OwnConvention] = {}
    for graph in _graphs_of_frameworks(graphs):
        if engine_named(graph.engine).framework in refuted:
            for node in filter(_is_forward, graph.nodes):
                known = CONVENTIONS.get(squashed(node.op))
                if known is not None:
                    fact = OwnConvention(place_of(node), graph.engine, known)
                    found.setdefault((graph.engine, fact.place.source), fact)
    return tuple(map(_remark, found.values()))


# Random numbers

DRAWING = re.compile(
    r"bernoulli|dropout|rand|multinomial|uniform|standardnormal|normalfloat|normalext"
    r"|aten\.normal|exponential_|geometric_|poisson",
    re.IGNORECASE,
)
"""Names of operators that draw random numbers (PyTorch 2.13, MindSpore 2.10.0)."""

DERIVATIVE = re.compile(r"grad|backward|domask", re.IGNORECASE)
"""Of these the names of operators that only apply what was drawn."""


def draws_random_numbers(op: str) -> bool:
    """Whether an operator of that name draws random numbers."""
    return bool(DRAWING.search(op)) and not DERIVATIVE.search(op)


def random_draws(
    graphs: Iterable[GradGraph], results: tuple[str, ...]
) -> tuple[ReportFinding, ...]:
    """A remark for each framework on the first op that draws the numbers on which ``results`` depend."""
    findings: dict[Framework, ReportFinding] = {}
    for graph in graphs if results else ():
        drawing = [it for it in graph.nodes if _is_forward(it) and draws_random_numbers(it.op)]
        framework = engine_named(graph.engine).framework
        if drawing and framework not in findings:
            first = min(drawing, key=lambda node: node.order)
            fact = RandomDraw(place_of(first), graph.engine, results, len(drawing) - 1)
            findings[framework] = ReportFinding(fact=fact, names=results)
    return tuple(findings.values())


# Equal elements


def equal_elements(
    inputs: Mapping[str, AnyArray], alignments: Iterable[Alignment]
) -> tuple[ReportFinding, ...]:
    """A remark on inputs of equal floats, where an unexpected divergence has no known cause.

    What reads them in another layout gives the same.
    """
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


# Ill-conditioned ops

MULTIPLIES = 1e3
"""An op that multiplies the noise by this much, relative to the size of its values, is reported.

Three of the seven digits of float32 are lost there. The 12,500 op values of the shipped scenarios
are multiplied by less than 5 in 99 of 100 ops, and by less than 250 in all of them.
"""

SERIOUS = 1e-5
"""Values with less noise than this, relative to their size, are good enough: float64 has digits to lose."""

ZERO = 1 / 8
"""Noise of this share of a value that cancels makes it a zero.

Such is the gradient of a bias before a batch norm: nothing is lost, it is 0 by its formula.
"""

FEW_TIMES = 8
"""The noise of a sum is at most so many times that of its terms: its own rounding comes on top."""

SUMS = frozenset({"add", "sub", "sum", "mean", "matmul", "conv"})
"""Families of ops whose terms may cancel in forward; in backward the terms of any op may."""


class _Multiplied(NamedTuple):
    """An op that multiplies noise: from ``entering`` to ``leaving``, relative to the values."""

    node: Node
    entering: float
    leaving: float

    @property
    def factor(self) -> float:
        return self.leaving / self.entering


def ill_conditioned(graphs: Iterable[GradGraph]) -> tuple[ReportFinding, ...]:
    """A remark on each line of code at which rounding is multiplied, the worst of a framework first."""
    findings: list[ReportFinding] = []
    for graph in _graphs_of_frameworks(graphs):
        by_line: dict[tuple[str, ...], list[_Multiplied]] = {}
        for it in sorted(_multiplied(GraphView(graph)), key=lambda it: -it.factor):
            by_line.setdefault(it.node.source[:1] or (it.node.op, it.node.scope), []).append(it)
        for worst, *further in by_line.values():
            fact = IllConditioned(
                place=place_of(worst.node),
                engine=graph.engine,
                factor=worst.factor,
                entering=worst.entering,
                leaving=worst.leaving,
                others=len({it.node.id for it in further} - {worst.node.id}),
            )
            findings.append(_remark(fact))
    return tuple(findings)


def _multiplied(flow: GraphView) -> Iterator[_Multiplied]:
    """The ops of a graph that multiply noise."""
    for node in flow.graph.nodes:
        read = [(flow.nodes[edge.origin].outputs, edge.output) for edge in flow.into(node)]
        operands = [outputs[place] for outputs, place in read if place < len(outputs)]
        shares = [share for share in map(_share, operands) if share is not None]
        # An input of which nothing is known may be as noisy as what comes out.
        if node.kind != "op" or len(shares) < len(read):
            continue
        for output in node.outputs:
            leaving = _share(output)
            if leaving is None or output.dtype not in UNIT or not isfinite(leaving):
                continue
            found = _Multiplied(node, max(*shares, 0.0, UNIT[output.dtype]), leaving)
            is_great = found.factor >= MULTIPLIES and leaving >= SERIOUS
            if is_great and not (leaving >= ZERO and _cancels(node, output, operands)):
                yield found


def _cancels(node: Node, output: Output, operands: list[Output]) -> bool:
    """Whether a value that is nothing but noise is so because its terms cancel.

    A sum has no more noise than its terms, in their own units: such is the mean that a norm saves
    of what another norm has centred. What divides by nothing but noise has far more.
    """
    if node.phase == "backward" or family(node.op) in SUMS:
        return True
    # Of each operand in its own units, at least one rounding of its size.
    roundings = [UNIT.get(operand.dtype, 0.0) * usual_size(operand) for operand in operands]
    noise = max((operand.noise or 0.0 for operand in operands), default=0.0)
    noise = max(noise, *roundings, 0.0)
    return output.noise is not None and output.noise <= FEW_TIMES * noise


def _share(output: Output) -> float | None:
    """An output's noise relative to the root mean square of its values."""
    if output.values is None or output.noise is None or output.values.nonfinite:
        return None
    if not output.noise:
        return 0.0
    size = usual_size(output)
    return output.noise / size if size else inf
