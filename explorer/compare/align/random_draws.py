"""What depends on random numbers in both graphs, so that no value of it can be compared."""

import re

from explorer.compare.align.dropout_rates import unlike_rates
from explorer.compare.align.matching import Matching, Mismatch
from explorer.compare.align.readings import Finding
from explorer.compare.align.sides import Side, Vertex

DRAWING = re.compile(
    r"bernoulli|dropout|rand|multinomial|uniform|standardnormal|normalfloat|normalext"
    r"|aten\.normal|exponential_|geometric_|poisson",
    re.IGNORECASE,
)
"""Names of operators that draw random numbers (PyTorch 2.13, MindSpore 2.10.0)."""

DERIVATIVE = re.compile(r"grad|backward|domask", re.IGNORECASE)
"""Of these the names of operators that only apply what was drawn."""


class RandomDraws:
    """The nodes of two graphs that depend on a random draw.

    Each framework draws numbers of its own: beyond a draw on both sides other values say nothing.
    A draw on one side alone is a difference like any other. ``unlike_rates`` are the places where
    the rates of two dropouts differ.
    """

    def __init__(self, matching: Matching) -> None:
        self._dependent: set[Vertex] = set()
        drawing = {side: _drawing(side) for side in matching.sides}
        if all(drawing.values()):
            for nodes in drawing.values():
                self._dependent |= _onwards(nodes)
        self.unlike_rates = unlike_rates(matching.sides, drawing, self.explain)

    def explain(self, node: Vertex) -> bool:
        """Whether a node's value depends on a draw."""
        return node in self._dependent

    def explain_result(self, mismatch: Mismatch) -> bool:
        """Whether a result depends on a draw on both sides."""
        return self.explain(mismatch.first) and self.explain(mismatch.second)

    def explain_finding(self, finding: Finding) -> bool:
        """Whether all that takes part in a divergence depends on a draw."""
        return bool(finding.parts) and all(map(self.explain, finding.parts))


def _drawing(side: Side) -> list[Vertex]:
    """The operators of a side that draw random numbers."""
    operators = [node for node in side.nodes if node.kind == "op"]
    named = [node for node in operators if DRAWING.search(node.op)]
    return [node for node in named if not DERIVATIVE.search(node.op)]


def _onwards(nodes: list[Vertex]) -> set[Vertex]:
    """Some nodes and all that is computed from them."""
    reached: set[Vertex] = set()
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if node not in reached:
            reached.add(node)
            waiting += node.consumers
    return reached
