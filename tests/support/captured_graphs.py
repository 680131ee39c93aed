"""Gradient graphs that the four engines captured of some nets, recorded: they need no framework.

``python -m tests.support.captured_graphs`` records them anew.
"""

import lzma
from functools import cache
from pathlib import Path

import msgspec

from explorer.model.graph import GradGraph

FILE = Path(__file__).parents[1] / "compare" / "captured_graphs.json.xz"

SHIPPED = (
    "aliased_input",
    "batch_norm_train",
    "checkpointing",
    "conv_transpose",
    "custom_gradient",
    "dense_mse",
    "embedding_repeats",
    "in_place_update",
    "kinks",
    "physics_informed",
    "polynomial",
    "stop_gradient",
    "tied_weights",
    "view_and_slice",
)
"""Shipped scenarios."""

WITH_MISTAKES = ("dead_metric", "own_mask", "shape_target", "three_kinks")
"""Nets of the tests that differ between the frameworks."""

Graphs = list[GradGraph]


@cache
def captured_graphs() -> dict[str, Graphs]:
    """The last stage of each engine's graph of the main case, by the name of the net."""
    return msgspec.json.decode(lzma.decompress(FILE.read_bytes()), type=dict[str, Graphs])


def record(graphs: dict[str, Graphs]) -> None:
    """Write the file anew."""
    FILE.write_bytes(lzma.compress(msgspec.json.encode(graphs), preset=9))


def main() -> None:
    """Capture all graphs with the installed frameworks."""
    from explorer.exploration.explore import explore
    from explorer.scenario.find import find
    from explorer.scenario.load import load
    from explorer.workers.workers import Workers
    from tests.support.nets import NETS

    graphs: dict[str, Graphs] = {}
    with Workers() as workers:
        scenarios = [load(find(name)) for name in SHIPPED]
        scenarios += [load(NETS / "divergences" / f"{name}.py") for name in WITH_MISTAKES]
        for scenario in scenarios:
            report = explore(scenario, workers, selection="main")
            last = {graph.engine: graph for graph in report.graphs}
            graphs[scenario.name] = list(last.values())
    record(graphs)


if __name__ == "__main__":
    main()
