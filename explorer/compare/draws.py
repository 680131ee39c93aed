"""Ops that draw random numbers, in the graphs of a case of which some results depend on them."""

import re
from collections.abc import Iterable

from explorer.model.divergence import Place
from explorer.model.engines import Framework, engine_named
from explorer.model.findings import RandomDraw, ReportFinding
from explorer.model.graph import GradGraph, Node

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
    if not results:
        return ()
    findings: dict[Framework, ReportFinding] = {}
    for graph in graphs:
        drawing = sorted(filter(_draws, graph.nodes), key=lambda node: node.order)
        framework = engine_named(graph.engine).framework
        if drawing and framework not in findings:
            first = drawing[0]
            place = Place(label=first.op, scope=first.scope, source=next(iter(first.source), ""))
            fact = RandomDraw(place, graph.engine, results, len(drawing) - 1)
            findings[framework] = ReportFinding(fact=fact, names=results)
    return tuple(findings.values())


def _draws(node: Node) -> bool:
    return node.kind == "op" and node.phase == "forward" and draws_random_numbers(node.op)
