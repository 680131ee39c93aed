"""Where the first values that are not finite come from: the op that makes them, or an input."""

from collections.abc import Iterable, Iterator

import msgspec
import numpy as np

from explorer.compare.graphs.view import GraphView
from explorer.model.arrays import AnyArray, unpack
from explorer.model.divergence import Place
from explorer.model.findings import MadeOf, NonFinite, ReportFinding
from explorer.model.graph import GradGraph, Node, Output
from explorer.numeric.differences import real_parts


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
    flow = GraphView(graph)
    chains: dict[str, list[tuple[Node, Output]]] = {}
    outputs: dict[str, list[str]] = {}
    gradients: dict[str, list[str]] = {}
    results = _results(flow)
    are_finite = all(result.phase == "backward" for result in results)
    for result in results:
        chain = _chain(flow, result)
        if not chain:
            continue
        first = chain[0][0].id
        chains.setdefault(first, chain)
        names = gradients if result.phase == "backward" else outputs
        names.setdefault(first, []).append(result.name)
    for first, chain in chains.items():
        node, known = chain[0]
        value = _kind(known)
        turned = None
        if value != "nan":
            turned = next((place_of(it) for it, output in chain if _kind(output) == "nan"), None)
        yield NonFinite(
            engines=(graph.engine,),
            value=value,
            maker=place_of(node),
            is_input=node.kind in ("input", "parameter", "constant"),
            inputs=tuple(_made_of(flow, node, known)),
            turned=turned,
            outputs=tuple(outputs.get(first, ())),
            gradients=tuple(gradients.get(first, ())),
            are_outputs_finite=are_finite,
        )


def place_of(node: Node) -> Place:
    """What a remark says of a node: its name or op, its module, and its line."""
    label = node.name if node.name and node.kind in ("input", "parameter") else node.op
    return Place(label=label, scope=node.scope, source=next(iter(node.source), ""))


def _read(flow: GraphView, node: Node) -> Iterator[tuple[Node, Output | None]]:
    """The nodes that one reads, in slot order, each with the output that it reads."""
    for edge in sorted(flow.into(node), key=lambda it: (it.input, it.origin, it.output)):
        maker = flow.nodes[edge.origin]
        yield maker, maker.outputs[edge.output] if edge.output < len(maker.outputs) else None


def _results(flow: GraphView) -> list[Node]:
    """The results that are not finite, those of forward first."""
    results = []
    for node in flow.nodes.values():
        if node.kind != "output":
            continue
        known = next(iter(node.outputs), None)
        if known is None or known.values is None:
            known = next((output for _, output in _read(flow, node)), None)
        if known is not None and _is_not_finite(known):
            results.append(node)
    return sorted(results, key=lambda node: node.phase == "backward")


def _chain(flow: GraphView, result: Node) -> list[tuple[Node, Output]]:
    """The chain of values that are not finite which leads to a result, its first one first."""
    chain: list[tuple[Node, Output]] = []
    seen = {result.id}
    node = result
    while True:
        behind = [pair for pair in _not_finite_behind(flow, node) if pair[0].id not in seen]
        if not behind:
            return chain[::-1]
        # Of several the one that was made first: the others may well come from it.
        node, known = min(behind, key=lambda pair: (pair[0].phase == "backward", pair[0].order))
        seen.add(node.id)
        chain.append((node, known))


def _not_finite_behind(flow: GraphView, node: Node) -> Iterator[tuple[Node, Output]]:
    """What a node reads that is not finite, also through values that were not recorded."""
    passed = {node.id}
    waiting = [node]
    while waiting:
        for maker, known in _read(flow, waiting.pop()):
            if known is not None and known.values is not None:
                if _is_not_finite(known):
                    yield maker, known
            elif maker.id not in passed:
                passed.add(maker.id)
                waiting.append(maker)


def _made_of(flow: GraphView, node: Node, known: Output) -> Iterator[MadeOf]:
    """What an op reads at the first element that is not finite, where its inputs are as large."""
    made = _elements(known)
    places = [] if made is None else np.flatnonzero(~np.isfinite(made)).tolist()
    for maker, output in _read(flow, node):
        number = None
        elements = None if output is None else _elements(output)
        if places and output is not None and elements is not None:
            if elements.size == 1:
                number = float(elements[0])
            elif output.shape == known.shape and places[0] < elements.size:
                number = float(elements[places[0]])
        yield MadeOf(place_of(maker), number)


def _is_not_finite(output: Output) -> bool:
    return output.values is not None and output.values.nonfinite > 0


def _elements(output: Output) -> AnyArray | None:
    if output.values is None or output.values.whole is None:
        return None
    return real_parts(unpack(output.values.whole)).ravel()


def _kind(output: Output) -> str:
    """The first of "nan", "inf" and "-inf" that a value has; "unknown" where its elements are."""
    elements = _elements(output)
    if elements is None or np.isfinite(elements).all():
        return "unknown" if _is_not_finite(output) else ""
    if np.isnan(elements).any():
        return "nan"
    return "inf" if elements[np.isinf(elements)][0] > 0 else "-inf"
