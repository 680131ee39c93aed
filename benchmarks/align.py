"""How long it takes to align two gradient graphs, by size, and to which power of it that grows."""

import sys
import time
from collections.abc import Iterator

import numpy as np

from benchmarks._figures import Figure
from benchmarks._presenting import parser, present
from explorer.compare.align import align
from explorer.engines.capture.builder import GraphBuilder
from explorer.model.arrays import AnyArray
from explorer.model.graph import GradGraph, NodeKind, Output
from explorer.numeric.summaries import summarise

SIZES = (100, 200, 500, 1000, 2000, 4000)
"""Nodes a side."""

LIMITS = {2000: 1.0}
"""Seconds that two graphs of a size may take, where there is a limit."""

ROUNDS = 3


class NoisyGraph:
    """A forward graph under construction, whose values carry a relative ``noise`` as rounding does."""

    def __init__(self, noise: float) -> None:
        self.builder = GraphBuilder()
        self._noise = noise
        self._jitter = np.random.default_rng(1)

    def add(self, op: str, value: AnyArray, *inputs: int) -> int:
        """Add a node that holds ``value``, an input of the net where it has none; its number."""
        noisy = value * (1 + self._noise * self._jitter.standard_normal(value.shape))
        outputs = (Output(value.shape, "float32", summarise(noisy.astype(np.float32))),)
        slots = tuple((origin, 0) for origin in inputs)
        kind: NodeKind = "op" if inputs else "input"
        return self.builder.add(op, kind, "forward", slots, outputs=outputs)

    def add_result(self, node: int) -> None:
        """Add the output of the net, which is that of ``node``."""
        outputs = self.builder.nodes[node].outputs
        self.builder.add("output", "output", "forward", ((node, 0),), outputs=outputs, name="out")


def residual(engine: str, size: int, fused: bool, noise: float) -> GradGraph:
    """A residual net of about ``size`` nodes.

    Unfused, each bias is added by an operator of its own, as one framework does and the other does
    not.
    """
    rng = np.random.default_rng(0)
    graph = NoisyGraph(noise)
    x = rng.standard_normal((8, 16))
    block = graph.add("input", x)
    while len(graph.builder.nodes) < size:
        w, b = rng.standard_normal((16, 16)) / 4, rng.standard_normal(16)
        weight = graph.add("weight", w)
        bias = graph.add("bias", b)
        if fused:
            dense = graph.add("addmm", x @ w + b, block, bias, weight)
        else:
            product = graph.add("MatMul", x @ w, block, weight)
            dense = graph.add("BiasAdd", x @ w + b, product, bias)
        activation = np.maximum(x @ w + b, 0)
        relu = graph.add("relu", activation, dense)
        x = (x + activation) / 1.5
        block = graph.add("add", x, block, relu)
    graph.add_result(block)
    return graph.builder.record(engine, "grad", "tape")


def alignments(size: int) -> tuple[tuple[float, ...], int]:
    """The seconds of an alignment in each round, and how many pairs it found."""
    left, right = residual("left", size, False, 0), residual("right", size, True, 1e-6)
    seconds, pairs = [], 0
    for _ in range(ROUNDS):
        start = time.perf_counter()
        pairs = len(align(left, right).pairs)
        seconds.append(time.perf_counter() - start)
    return tuple(seconds), pairs


def measure() -> Iterator[Figure]:
    """A figure for each size, then the slope of log time over log size."""
    by_size = []
    for size in SIZES:
        seconds, pairs = alignments(size)
        by_size.append(seconds)
        yield Figure(
            name=f"{size} nodes a side",
            unit="s",
            basis="wall",
            rounds=seconds,
            bar=LIMITS.get(size),
            note=f"{pairs} pairs",
        )
    slopes = [_slope(seconds) for seconds in zip(*by_size, strict=True)]
    yield Figure(
        name="growth with the nodes", unit="", basis="power of the size", rounds=tuple(slopes)
    )


def _slope(seconds: tuple[float, ...]) -> float:
    return float(np.polyfit(np.log(SIZES), np.log(seconds), 1)[0])


if __name__ == "__main__":
    sys.exit(present(measure(), parser(__doc__).parse_args().figures))
