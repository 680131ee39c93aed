"""How long it takes to collapse large gradient graphs by module, and to draw them as SVG."""

import sys
import time
from collections.abc import Callable, Iterator
from typing import Final

from benchmarks._figures import Figure
from benchmarks._presenting import parser, present
from explorer.drawing import Depth, draw, show
from explorer.model.graph import GradGraph
from tests.support.drawing_graphs import chain, convolution, residual, shared

CASES: Final[dict[str, tuple[Callable[[], GradGraph], Depth, float]]] = {
    "convolution net": (convolution, "all", 1.0),
    "100 shared subgraphs": (lambda: shared(100), "all", 2.0),
    "1000 nodes, residual": (lambda: residual(37), "all", 2.0),
    "1000 nodes, chain": (lambda: chain(1000), "all", 2.0),
    "5000 nodes, residual, depth 2": (lambda: residual(185), 2, 3.0),
    "10,000 nodes, chain, depth 0": (lambda: chain(10_000, "block{index}"), 0, 3.0),
    "10,000 nodes, chain, whole": (lambda: chain(10_000), "all", 10.0),
}
"""Each case: the graph, the depth that it is collapsed to, and the limit of the SVG in seconds."""

ROUNDS = 3


def measure() -> Iterator[Figure]:
    """Two figures a case: collapsing alone, and the whole way to the SVG."""
    for name, (build, depth, limit) in CASES.items():
        graph = build()
        collapsing, drawing = [], []
        for _ in range(ROUNDS):
            start = time.perf_counter()
            collapsed = show(graph, depth).graph
            middle = time.perf_counter()
            picture = draw(graph, format="svg", depth=depth, timeout=60)
            collapsing.append(middle - start)
            drawing.append(time.perf_counter() - middle)
        yield Figure(
            name=f"{name}: collapsed",
            unit="s",
            basis="wall",
            rounds=tuple(collapsing),
            note=f"{len(graph.nodes)} nodes, of which {len(collapsed.nodes)} are drawn",
        )
        yield Figure(
            name=f"{name}: svg",
            unit="s",
            basis="wall",
            rounds=tuple(drawing),
            bar=limit,
            note=f"{len(picture) // 1024} KiB",
        )


if __name__ == "__main__":
    sys.exit(present(measure(), parser(__doc__).parse_args().figures))
