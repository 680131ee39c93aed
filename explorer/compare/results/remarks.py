"""What is remarkable about the graphs and values of a case, beside the divergences of its graphs."""

import re
from collections.abc import Iterable, Iterator, Mapping
from math import inf, isfinite, prod

import msgspec
import numpy as np

from explorer.compare.graphs.levels import usual_size
from explorer.compare.graphs.view import GraphView, Shape
from explorer.model.alignment import Alignment
from explorer.model.arrays import AnyArray, unpack
from explorer.model.divergence import Place
from explorer.model.engines import Framework, engine_named
from explorer.model.findings import (
    EqualElements,
    IllConditioned,
    MadeOf,
    NonFinite,
    OwnConvention,
    RandomDraw,
    ReportFinding,
    SilentBroadcast,
)
from explorer.model.graph import GradGraph, Node, Output
from explorer.model.known import Reference
from explorer.model.report import CaseReport
from explorer.numeric.differences import real_parts
from explorer.numeric.summaries import UNIT
from explorer.operators.families import family, squashed

Fact = SilentBroadcast | OwnConvention | IllConditioned


def _of_each_line(facts: Iterable[tuple[Node, Fact]]) -> tuple[ReportFinding, ...]:
    """A remark on each line of an engine: the first fact of it, and how many more ops of it have one."""
    by_line: dict[tuple[str, ...], dict[str, Fact]] = {}
    for node, fact in facts:
        line = node.source[:1] or (node.op, node.scope)
        by_line.setdefault((fact.engine, *line), {}).setdefault(node.id, fact)
    findings = []
    for fact, *others in (of_line.values() for of_line in by_line.values()):
        if isinstance(fact, IllConditioned):
            fact = msgspec.structs.replace(fact, others=len(others))
        findings.append(ReportFinding(fact=fact, names=(fact.place.scope or fact.place.label,)))
    return tuple(findings)


def _views(graphs: Iterable[GradGraph]) -> Iterator[tuple[GraphView, list[Node]]]:
    """A graph of each framework with its ops in forward: the tape's where there is one.

    The nodes of a tape are measured themselves, and a compiled graph has the same places.
    """
    by_framework: dict[Framework, GradGraph] = {}
    for graph in graphs:
        engine = engine_named(graph.engine)
        if engine.style == "tape" or engine.framework not in by_framework:
            by_framework[engine.framework] = graph
    for graph in by_framework.values():
        yield GraphView(graph), _forward_ops(graph)


def _forward_ops(graph: GradGraph) -> list[Node]:
    return [node for node in graph.nodes if (node.kind, node.phase) == ("op", "forward")]


def place_of(node: Node) -> Place:
    """What a remark says of a node: its name or op, its module, and its line."""
    label = node.name if node.name and node.kind in ("input", "parameter") else node.op
    return Place(label=label, scope=node.scope, source=next(iter(node.source), ""))


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


def silent_broadcasts(graphs: Iterable[GradGraph]) -> tuple[ReportFinding, ...]:
    """A remark on each line that broadcasts (n, 1) against (n,) to (n, n) and makes a loss of it."""
    facts = []
    for view, nodes in _views(graphs):
        for node in nodes:
            shapes = None if family(node.op) in SPREADING else _shapes_read(view, node)
            if shapes is not None and _becomes_a_loss(view, node, shapes):
                facts.append((node, SilentBroadcast(place_of(node), view.graph.engine, shapes)))
    return _of_each_line(facts)


def _shapes_read(view: GraphView, node: Node) -> tuple[Shape, Shape] | None:
    """The shapes of two operands like (n, 1) and (n,), neither of them a parameter."""
    operands = []
    for operand in view.origins(node):
        # What a tensor was before it was expanded.
        while family(operand.op) in SPREADING and len(view.origins(operand)) == 1:
            (operand,) = view.origins(operand)
        operands.append(operand)
    is_measured = all(node.outputs for node in operands)
    if len(operands) != 2 or not is_measured or any(node.kind == "parameter" for node in operands):
        return None
    first, second = (node.outputs[0].shape for node in operands)
    shorter, longer = sorted((first, second), key=len)
    n = prod(shorter)
    return (first, second) if len(shorter) == 1 and longer == (n, 1) and n > 1 else None


def _becomes_a_loss(view: GraphView, node: Node, shapes: tuple[Shape, Shape]) -> bool:
    """Whether an op is a loss, or what it yields goes element by element into a mean or a sum."""
    if family(node.op) in LOSSES:
        return True
    size = prod(shapes[0]) ** 2
    for _step in range(FAR):
        following = [it for it in view.readers(node) if it.phase == "forward"]
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

CONVENTIONS = dict.fromkeys(("ctcloss", "ctclossv2"), Reference("surprise", "ctc_gradient"))
"""Ops by their bare names whose gradient is that of a larger function, and what is known of it."""


def conventions(graphs: Iterable[GradGraph], case: CaseReport) -> tuple[ReportFinding, ...]:
    """A remark on each such line of a framework whose gradients of the case are refuted."""
    groups = [group for group in case.groups if group.oracle_agrees is False]
    refuted = {engine_named(name).framework for group in groups for name in group.engines}
    return _of_each_line(
        (node, OwnConvention(place_of(node), view.graph.engine, CONVENTIONS[squashed(node.op)]))
        for view, nodes in _views(graphs)
        if engine_named(view.graph.engine).framework in refuted
        for node in nodes
        if squashed(node.op) in CONVENTIONS
    )


# Random numbers

DRAWING = re.compile(
    r"(?!.*(grad|backward|domask))"  # these only apply what was drawn
    r".*(bernoulli|dropout|rand|multinomial|uniform|standardnormal|normalfloat|normalext"
    r"|aten\.normal|exponential_|geometric_|poisson)",
    re.IGNORECASE,
)
"""Names of operators that draw random numbers (PyTorch 2.13, MindSpore 2.10.0)."""


def draws_random_numbers(op: str) -> bool:
    """Whether an operator of that name draws random numbers."""
    return DRAWING.match(op) is not None


def random_draws(
    graphs: Iterable[GradGraph], results: tuple[str, ...]
) -> tuple[ReportFinding, ...]:
    """A remark for each framework on the first op that draws the numbers on which ``results`` depend."""
    findings: dict[Framework, ReportFinding] = {}
    for graph in graphs if results else ():
        drawing = [it for it in _forward_ops(graph) if draws_random_numbers(it.op)]
        framework = engine_named(graph.engine).framework
        if drawing and framework not in findings:
            first = min(drawing, key=lambda node: node.order)
            fact = RandomDraw(place_of(first), graph.engine, results, len(drawing) - 1)
            findings[framework] = ReportFinding(fact=fact, names=results)
    return tuple(findings.values())


# The first values that are not finite


def non_finite(graphs: Iterable[GradGraph]) -> tuple[ReportFinding, ...]:
    """A remark on each place that makes the first values that are not finite of some result.

    Engines in which it is the same line are named together.
    """
    found: dict[tuple[object, ...], NonFinite] = {}
    for graph in graphs:
        for fact in _facts(graph):
            line = fact.maker.source or fact.maker.label
            # Engines name their gradients in an order of their own.
            key = line, fact.value, fact.outputs, frozenset(fact.gradients)
            known = found.get(key, fact)
            engines = tuple(dict.fromkeys((*known.engines, *fact.engines)))
            found[key] = msgspec.structs.replace(known, engines=engines)
    facts = sorted(found.values(), key=lambda fact: not fact.outputs)
    return tuple(ReportFinding(fact=fact, names=(fact.maker.label,)) for fact in facts)


def _facts(graph: GradGraph) -> Iterator[NonFinite]:
    """One fact for each first place, with the results that it leads to."""
    view = GraphView(graph)
    outputs = (node for node in view.nodes.values() if node.kind == "output")
    forward_first = sorted(outputs, key=lambda node: node.phase == "backward")
    led_to: dict[str, tuple[list[tuple[Node, Output]], list[Node]]] = {}
    are_finite = True
    for result in forward_first:
        known = next(iter(result.outputs), None)
        if known is None or known.values is None:
            known = next((output for _, output in _read(view, result)), None)
        if not _is_not_finite(known):
            continue
        are_finite &= result.phase == "backward"
        chain = _chain(view, result)
        if chain:
            led_to.setdefault(chain[0][0].id, (chain, []))[1].append(result)
    for chain, reached in led_to.values():
        node, first = chain[0]
        value = _kind(first)
        nans = (place_of(it) for it, output in chain if _kind(output) == "nan")
        turned = next(nans, None) if value != "nan" else None
        yield NonFinite(
            engines=(graph.engine,),
            value=value,
            maker=place_of(node),
            is_input=node.kind in ("input", "parameter", "constant"),
            inputs=tuple(_made_of(view, node, first)),
            turned=turned,
            outputs=tuple(it.name for it in reached if it.phase != "backward"),
            gradients=tuple(it.name for it in reached if it.phase == "backward"),
            are_outputs_finite=are_finite,
        )


def _read(view: GraphView, node: Node) -> Iterator[tuple[Node, Output | None]]:
    """The nodes that one reads, in slot order, each with the output that it reads."""
    for edge in sorted(view.into(node), key=lambda it: (it.input, it.origin, it.output)):
        maker = view.nodes[edge.origin]
        yield maker, maker.outputs[edge.output] if edge.output < len(maker.outputs) else None


def _chain(view: GraphView, result: Node) -> list[tuple[Node, Output]]:
    """The chain of values that are not finite which leads to a result, its first one first."""
    chain: list[tuple[Node, Output]] = []
    seen = {result.id}
    node = result
    while True:
        # What the node reads that is not finite, also through values that were not recorded.
        behind, passed, waiting = [], {node.id}, [node]
        while waiting:
            for maker, known in _read(view, waiting.pop()):
                if known is not None and known.values is not None:
                    if _is_not_finite(known) and maker.id not in seen:
                        behind.append((maker, known))
                elif maker.id not in passed:
                    passed.add(maker.id)
                    waiting.append(maker)
        if not behind:
            return chain[::-1]
        # Of several the one that was made first: the others may well come from it.
        node, known = min(behind, key=lambda pair: (pair[0].phase == "backward", pair[0].order))
        seen.add(node.id)
        chain.append((node, known))


def _made_of(view: GraphView, node: Node, known: Output) -> Iterator[MadeOf]:
    """What an op reads at the first element that is not finite, where its inputs are as large."""
    places = np.flatnonzero(~np.isfinite(_elements(known))).tolist()
    for maker, output in _read(view, node):
        elements, place = _elements(output), None
        if places and elements.size == 1:
            place = 0
        elif places and output and output.shape == known.shape and places[0] < elements.size:
            place = places[0]
        yield MadeOf(place_of(maker), None if place is None else float(elements[place]))


def _is_not_finite(output: Output | None) -> bool:
    return output is not None and output.values is not None and output.values.nonfinite > 0


def _elements(output: Output | None) -> AnyArray:
    """The elements of a value in a row; none where they are not known."""
    whole = output.whole if output else None
    return np.zeros(0) if whole is None else real_parts(unpack(whole)).ravel()


def _kind(output: Output) -> str:
    """The first of "nan", "inf" and "-inf" that a value has; "unknown" where its elements are."""
    elements = _elements(output)
    if np.isfinite(elements).all():
        return "unknown" if _is_not_finite(output) else ""
    if np.isnan(elements).any():
        return "nan"
    return "inf" if elements[np.isinf(elements)][0] > 0 else "-inf"


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


def ill_conditioned(graphs: Iterable[GradGraph]) -> tuple[ReportFinding, ...]:
    """A remark on each line of code at which rounding is multiplied, the worst of a framework first."""
    return _of_each_line(
        noted
        for view, _nodes in _views(graphs)
        for noted in sorted(_multiplied(view), key=lambda it: -it[1].factor)
    )


def _multiplied(view: GraphView) -> Iterator[tuple[Node, IllConditioned]]:
    """The ops of a graph that multiply noise, from what enters to what leaves, relative to the values."""
    for node in view.graph.nodes:
        operands = [output for _maker, output in _read(view, node) if output is not None]
        shares = [share for share in map(_share, operands) if share is not None]
        # An input of which nothing is known may be as noisy as what comes out.
        if node.kind != "op" or len(shares) < len(view.into(node)):
            continue
        for output in node.outputs:
            leaving = _share(output)
            if leaving is None or output.dtype not in UNIT or not isfinite(leaving):
                continue
            entering = max(*shares, 0.0, UNIT[output.dtype])
            factor = leaving / entering
            is_great = factor >= MULTIPLIES and leaving >= SERIOUS
            if is_great and not (leaving >= ZERO and _cancels(node, output, operands)):
                engine = view.graph.engine
                yield node, IllConditioned(place_of(node), engine, factor, entering, leaving)


def _cancels(node: Node, output: Output, operands: list[Output]) -> bool:
    """Whether a value that is nothing but noise is so because its terms cancel.

    A sum has no more noise than its terms, in their own units: such is the mean that a norm saves
    of what another norm has centred. What divides by nothing but noise has far more.
    """
    if node.phase == "backward" or family(node.op) in SUMS:
        return True
    # Of each operand in its own units, at least one rounding of its size.
    noises = [max(it.noise or 0.0, UNIT.get(it.dtype, 0.0) * usual_size(it)) for it in operands]
    return output.noise is not None and output.noise <= FEW_TIMES * max(noises, default=0.0)


def _share(output: Output) -> float | None:
    """An output's noise relative to the root mean square of its values."""
    if output.values is None or output.noise is None or output.values.nonfinite:
        return None
    if not output.noise:
        return 0.0
    size = usual_size(output)
    return output.noise / size if size else inf


# Inputs of equal elements


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
    unexpected = [it for it in alignments if not it.expected] if equal else []
    if all(one.cause or one.known for alignment in unexpected for one in alignment.seen):
        return ()
    return (ReportFinding(fact=EqualElements(equal), names=tuple(equal)),)
