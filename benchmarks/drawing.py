"""Times the drawing of large gradient graphs; run it as ``python -m benchmarks.drawing``."""

import time
from collections.abc import Callable
from typing import Final

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
"""Each case: the graph, the depth that it is collapsed to, and the limit in seconds."""


def main() -> None:
    """Print the seconds of every case beside its limit."""
    for name, (build, depth, limit) in CASES.items():
        graph = build()
        start = time.perf_counter()
        collapsed = show(graph, depth).graph
        middle = time.perf_counter()
        picture = draw(graph, format="svg", depth=depth, timeout=60)
        end = time.perf_counter()
        print(
            f"{name:32} {len(graph.nodes):6} nodes, drawn {len(collapsed.nodes):6}: "
            f"collapse {middle - start:.2f} s, svg {end - middle:.2f} s of {limit:g} s, "
            f"{len(picture) // 1024} KiB"
        )


if __name__ == "__main__":
    main()
