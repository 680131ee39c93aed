"""How long it takes to align two gradient graphs, by size: prints milliseconds and the slope over a
range of sizes.
"""

import math
import time

import numpy as np

from explorer.compare.align import align
from explorer.model.arrays import AnyArray
from explorer.model.graph import Edge, GradGraph, Node, Output, Phase
from explorer.numeric.summaries import summarise

SIZES = (100, 200, 500, 1000, 2000, 4000)
LIMIT = 1.0
"""Seconds that two graphs of 2000 nodes may take."""


def residual(engine: str, size: int, fused: bool, noise: float) -> GradGraph:
    """A residual net of about ``size`` nodes; unfused, each bias is added apart, as one framework
    does and the other does not.
    """
    rng, jitter = np.random.default_rng(0), np.random.default_rng(1)
    nodes: list[Node] = []
    edges: list[Edge] = []

    def add(op: str, value: AnyArray, *origins: str, phase: Phase = "forward") -> str:
        node = f"n{len(nodes)}"
        seen = value * (1 + noise * jitter.standard_normal(value.shape))
        outputs = (Output(value.shape, "float32", summarise(seen.astype(np.float32))),)
        nodes.append(
            Node(
                id=node,
                op=op,
                kind="op" if origins else "input",
                phase=phase,
                order=len(nodes),
                outputs=outputs,
            )
        )
        edges.extend(Edge(origin, node, input=slot) for slot, origin in enumerate(origins))
        return node

    x = rng.standard_normal((8, 16))
    here = add("input", x)
    while len(nodes) < size:
        w, b = rng.standard_normal((16, 16)) / 4, rng.standard_normal(16)
        weight = add("weight", w)
        bias = add("bias", b)
        product = here if fused else add("MatMul", x @ w, here, weight)
        dense = add(
            "addmm" if fused else "BiasAdd", x @ w + b, product, bias, *([weight] if fused else [])
        )
        active = add("relu", np.maximum(x @ w + b, 0), dense)
        x = (x + np.maximum(x @ w + b, 0)) / 1.5
        here = add("add", x, here, active)
    nodes.append(
        Node(
            id=f"n{len(nodes)}",
            op="output",
            kind="output",
            phase="forward",
            name="out",
            outputs=nodes[-1].outputs,
        )
    )
    edges.append(Edge(here, nodes[-1].id))
    return GradGraph(
        engine=engine, case="grad", stage="tape", nodes=tuple(nodes), edges=tuple(edges)
    )


def measure(size: int) -> tuple[float, int]:
    """The best of three alignments, in seconds, and how many pairs it found."""
    left, right = residual("left", size, False, 0), residual("right", size, True, 1e-6)
    best, pairs = math.inf, 0
    for _ in range(3):
        start = time.perf_counter()
        pairs = len(align(left, right).pairs)
        best = min(best, time.perf_counter() - start)
    return best, pairs


def main() -> None:
    """Prints one line a size, then the slope of log time over log size."""
    taken = {}
    for size in SIZES:
        taken[size], pairs = measure(size)
        print(f"{size:5d} nodes a side: {1e3 * taken[size]:7.1f} ms, {pairs} pairs")
    slope = np.polyfit(np.log(SIZES), np.log([taken[size] for size in SIZES]), 1)[0]
    print(f"slope of log time over log size: {slope:.2f}")
    print(f"2000 nodes a side: {taken[2000]:.2f} s of {LIMIT:.0f} s allowed")


if __name__ == "__main__":
    main()
